import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandFile } from '../support/command-server';
import { ensureBuild } from '../support/next-build';
import { temporaryFolder } from '../support/run-command';
import { type Command, DEMO_READY, freePort, pressCtrlC, runToEnd, startUntil } from './support/commands';

const folder = temporaryFolder();
let env: { DATA_DIR: string; PORT: string; LOG_LEVEL: string };
let demo: Command | undefined;

beforeAll(async () => {
  await ensureBuild();
  env = { DATA_DIR: join(folder, 'data'), PORT: String(await freePort()), LOG_LEVEL: 'error' };
  demo = await startUntil(DEMO_READY, ['bash', '-c', 'umask 0; exec npm run demo'], env);
}, 400_000);
afterAll(async () => {
  if (demo) pressCtrlC(demo);
  await demo?.exited;
});

const shown = (pattern: RegExp) => pattern.exec(demo?.output() ?? '')?.[0] ?? '';

test('the demo prints a curl command that lists payments', async () => {
  const { output } = await runToEnd(['bash', '-c', shown(/^curl .*$/m)]);
  expect(JSON.parse(output)).toMatchObject({ per_page: 2, data: [{}, {}] });
});

test('the demo prints MCP settings with which every tool answers without masking personal data', async () => {
  const { url, headers } = JSON.parse(shown(/^\{\n.*?^\}$/ms)).mcpServers.w5t;
  const client = new Client({ name: 'test-client', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(6);
  for (const { name } of tools) {
    const args = { 'find-customer-tool': { query: '10001' }, 'get-customer-tool': { id: 1 } }[name] ?? {};
    const { isError, structuredContent } = await client.callTool({ name, arguments: args });
    expect(isError, name).toBeFalsy();
    const text = JSON.stringify(structuredContent);
    expect(text, name).not.toMatch(/mask/);
    if (name !== 'list-servers-tool') expect(text, name).toMatch(/"name":"\p{L}.*"email":"\S+@/u);
  }
  await client.close();
});

test('npm run stripe:event delivers an event to the demo’s webhook', async () => {
  const told = await runCommandFile('stripe-event', ['invoice.payment_failed'], env);
  expect(told).toEqual({ code: 0, out: expect.stringMatching(/200 processed/), err: '' });
});

test('the demo’s secret file is readable only by its owner even with umask 0', () => {
  expect(statSync(join(env.DATA_DIR, 'demo.json')).mode & 0o777).toBe(0o600);
});

test('a second demo with the same port and data directory reports that the port is in use', async () => {
  const second = await runCommandFile('demo', [], env);
  expect(second).toMatchObject({ code: 1, err: expect.stringMatching(/^Port \d+ is in use/) });
});

test('Ctrl-C stops the demo’s server', async () => {
  if (!demo) throw new Error('the demo did not start');
  pressCtrlC(demo);
  await demo.exited;
  await expect(fetch(`http://localhost:${env.PORT}/api/health`)).rejects.toThrow();
});
