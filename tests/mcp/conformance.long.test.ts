import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import * as mcpRoute from '@/app/mcp/route';
import { useApi } from '../support/api';

/** Scenarios of the conformance suite that apply to this server. */
const APPLICABLE = ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'];

/** The other scenarios, grouped by the reason why they do not apply here. */
const NOT_APPLICABLE = {
  'calls a tool that only a server made for the suite has': `
    tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content
    tools-call-error tools-call-with-progress json-schema-2020-12`,
  'needs a tool that asks the client something, and ours ask nothing': `
    tools-call-sampling tools-call-elicitation elicitation-sep1034-defaults elicitation-sep1330-enums`,
  'this server declares no logging': 'logging-set-level tools-call-with-logging',
  'this server declares no completions': 'completion-complete',
  'needs event streams, and each answer here is one JSON body':
    'server-sse-polling server-sse-multiple-streams',
  'reads a resource that only a server made for the suite has':
    'resources-read-text resources-read-binary resources-templates-read',
  'this server declares no subscriptions to resources': 'resources-subscribe resources-unsubscribe',
  'this server declares no prompts': `
    prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image`,
};

const require = createRequire(import.meta.url);
const suite = dirname(require.resolve('@modelcontextprotocol/conformance/package.json'));
let token = '';

/** The MCP endpoint on another path, where requests get a token, because the suite cannot send one. */
const server = useApi({
  '/conformance': Object.fromEntries(
    Object.entries(mcpRoute).map(([method, handle]) => [
      method,
      (request: Request) => {
        const headers = new Headers(request.headers);
        headers.set('authorization', `Bearer ${token}`);
        return handle(new Request(request, { headers }));
      },
    ]),
  ),
});
beforeAll(async () => {
  token = await server.token('mcp:read');
});

async function conformance(...args: string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' };
  const run = promisify(execFile)(process.execPath, [join(suite, 'dist/index.js'), ...args], { env });
  return (await run).stdout;
}

test('each MCP conformance scenario is either run or excluded with a reason', async () => {
  const listed = (await conformance('list', '--server')).matchAll(/^\s+- (\S+)/gm);
  const excluded = Object.values(NOT_APPLICABLE).flatMap((names) => names.trim().split(/\s+/));
  expect([...listed].map(([, name]) => name).sort()).toEqual([...APPLICABLE, ...excluded].sort());
});

test.each(APPLICABLE)('the MCP server passes the MCP conformance scenario %s', async (scenario) => {
  // The suite exits with code 1 if a check fails.
  const report = await conformance('server', '--url', `${server.url}/conformance`, '--scenario', scenario);
  expect(report).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/);
});
