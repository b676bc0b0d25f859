import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBearerProxy } from './bearer-proxy';
import { APPLICABLE, NOT_APPLICABLE } from './conformance-scenarios';
import { useMcpServer } from './serve-mcp';

const require = createRequire(import.meta.url);
const SUITE = dirname(require.resolve('@modelcontextprotocol/conformance/package.json'));

const mcp = useMcpServer();
let proxy: Awaited<ReturnType<typeof startBearerProxy>>;
beforeAll(async () => {
  proxy = await startBearerProxy(mcp.url, mcp.token);
});
afterAll(() => proxy?.close());

async function conformance(...args: string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [join(SUITE, 'dist/index.js'), ...args], {
    timeout: 25_000,
    env: { ...process.env, NO_COLOR: '1' },
  });
  return (await run).stdout;
}

test('every scenario of the suite is either run or left out for a reason', async () => {
  const listed = [...(await conformance('list', '--server')).matchAll(/^\s+- (\S+)/gm)].map(
    ([, name]) => name,
  );
  expect(listed.length).toBeGreaterThan(APPLICABLE.length);
  expect(listed.toSorted()).toEqual([...APPLICABLE, ...Object.keys(NOT_APPLICABLE)].toSorted());
});

test.each(APPLICABLE)('%s', async (scenario) => {
  // The suite exits with 1 where a check fails.
  const report = await conformance('server', '--url', `${proxy.url}/mcp`, '--scenario', scenario);
  expect(report).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/);
});
