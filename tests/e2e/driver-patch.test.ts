import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runToEnd } from './support/commands';
import { UNPATCHED, unpatchedDriver } from './support/unpatched-driver';

let folder: string;
let unpatched: { NODE_OPTIONS: string };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'w5t-unpatched-'));
  unpatched = unpatchedDriver(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([['db:migrate'], ['token', '--', 'list']])(
  'npm run %s refuses to use PostgreSQL with a driver that lacks its patch',
  async (...command) => {
    const { code, output } = await runToEnd(['npm', 'run', '-s', ...command], {
      DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c',
      BETTER_AUTH_SECRET: 'x'.repeat(32),
      DATA_DIR: join(folder, 'data'),
      ...unpatched,
    });
    expect({ code, output: output.trim() }).toEqual({ code: 1, output: UNPATCHED });
  },
);
