import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ensureBuild, START } from '../support/next-build';
import { type Command, freePort, runToEnd, startCommand } from './support/commands';

describe('npm start with the embedded database', () => {
  let folder: string;
  let start: Command;
  let url: string;
  let token: string;

  beforeAll(async () => {
    await ensureBuild();
    folder = mkdtempSync(join(tmpdir(), 'w5t-embedded-'));
    const port = await freePort();
    const env = { DATA_DIR: join(folder, 'data'), PORT: String(port), LOG_LEVEL: 'error' };
    const scopes = 'payments:read';
    const made = await runToEnd(
      ['npm', 'run', '-s', 'token', '--', 'create', '--name', 'a', '--scopes', scopes],
      env,
    );
    token = /w5t_\S+/.exec(made.output)?.[0] ?? '';
    start = startCommand(['bash', '-c', `umask 0; exec ${process.execPath} ${START}`], env);
    await vi.waitFor(() => expect(start.output()).toContain('Listening'), { timeout: 60_000 });
    url = `http://127.0.0.1:${port}`;
  }, 400_000);

  afterAll(async () => {
    start.child.kill('SIGTERM');
    await start.exited;
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  test.each([
    ['__proto__=1', '__proto__'],
    ['page=1&%5F_proto__', '__proto__'],
    ['constructor=1', 'constructor'],
  ])('?%s is refused by its name', async (query, field) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/api/w5t/payments?${query}`, { headers });
    const { errors } = await response.json();
    expect([response.status, errors]).toEqual([422, [{ field, message: 'is not known' }]]);
  });

  test('everything below DATA_DIR is for its owner alone', () => {
    const paths = readdirSync(join(folder, 'data'), { recursive: true, encoding: 'utf8' });
    expect(paths.length).toBeGreaterThan(1000);
    const modes = paths.map((path) => [path, statSync(join(folder, 'data', path)).mode & 0o077]);
    expect(modes.filter(([, others]) => others !== 0)).toEqual([]);
  });
});
