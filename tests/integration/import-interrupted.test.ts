import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommandFile, startCommandServer } from '../support/command-server';
import { createTestDatabase, onPostgres } from '../support/database';

const ROOT = join(import.meta.dirname, '../..');

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'w5t-interrupted-'));
  file = join(folder, 'customers.csv');
  const lines = Array.from({ length: ROWS }, (_, i) => `T${i},Company ${i}`);
  writeFileSync(file, ['customer_number,company', ...lines, 'T1,Twice'].join('\n'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Several batches for a server, which writes two at once; the embedded database writes smaller ones. */
const ROWS = onPostgres() ? 5000 : 1000;

describe.each(['SIGKILL', 'SIGINT'] as const)('an import that gets %s in the middle', (signal) => {
  let database: Awaited<ReturnType<typeof createTestDatabase>> | undefined;
  afterAll(() => database?.close());

  test('is completed by the next', async () => {
    if (onPostgres()) database = await createTestDatabase();
    const env: Record<string, string> = database?.url
      ? { DATABASE_URL: database.url }
      : { DATA_DIR: join(folder, signal) };
    const { PATH, TMPDIR } = process.env;
    const child = spawn(process.execPath, ['--import', 'tsx', 'lib/cli/import.ts', 'customers', file], {
      cwd: ROOT,
      env: { PATH, TMPDIR, NODE_ENV: 'production', ...env },
    });
    const out = text(child.stdout);
    await once(child.stderr, 'data'); // how far it is: some rows are in
    child.kill(signal);
    const [code] = await once(child, 'exit');
    if (signal === 'SIGINT') {
      expect(code).toBe(130);
      expect(await out).toMatch(/ \d+ new, .*\nStopped: these rows are kept\. The same command/);
    }
    const again = await runCommandFile('import', ['customers', file], env);
    const [, created, unchanged] = /(\d+) new, 0 changed, (\d+) unchanged, 1 rejected/.exec(again.out) ?? [];
    expect(Number(created) + Number(unchanged)).toBe(ROWS);
    expect(Number(unchanged)).toBeGreaterThan(0);
    expect((await runCommandFile('export', ['customers'], env)).out.split('\r\n')).toHaveLength(ROWS + 2);
  }, 180_000);
});

describe('while a server has the embedded database', () => {
  let server: Awaited<ReturnType<typeof startCommandServer>>;
  const env = () => ({ DATA_DIR: join(folder, 'served') });
  beforeAll(async () => {
    server = await startCommandServer(env().DATA_DIR);
  }, 120_000);
  afterAll(() => server.stop());

  test('it reads and writes the files itself, where the command was given', async () => {
    const path = relative(ROOT, file);
    const done = await runCommandFile('import', ['customers', path], env());
    expect(done).toMatchObject({ code: 1, out: expect.stringContaining(`${path}: ${ROWS} new,`) });
    expect(readFileSync(join(folder, 'customers.rejected.csv'), 'utf8')).toMatch(/\r\nT1,Twice\r\n$/);
    const printed = await runCommandFile('export', ['customers'], env());
    expect(printed).toMatchObject({ code: 0, err: '' });
    const out = relative(ROOT, join(folder, 'out.csv'));
    expect(await runCommandFile('export', ['customers', '--out', out], env())).toEqual({
      code: 0,
      out: '',
      err: '',
    });
    expect(readFileSync(join(folder, 'out.csv'), 'utf8')).toBe(printed.out);
    const none = await runCommandFile('import', ['customers', 'none.csv'], env());
    expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/none\.csv does not exist\.\n$/) });
  }, 120_000);
});
