import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbedded } from '@/db/client';
import { staffSecret } from '@/lib/auth/session/staff-secret';
import { parseEnv } from '@/lib/env';
import { openDatabase } from '@/lib/open-database';

let folder: string;
let dataDir: string;
const umask = process.umask();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'w5t-private-'));
  dataDir = join(folder, 'some/data');
  process.umask(0); // the worst that an operator may have
});

afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

const everything = () => [
  dataDir,
  ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((name) => join(dataDir, name)),
];

/** What somebody else than the owner may do something with. */
const open = () =>
  everything()
    .filter((path) => (statSync(path).mode & 0o077) !== 0)
    .map((path) => `${(statSync(path).mode & 0o777).toString(8)} ${path}`);

test('whatever the embedded database makes is for its owner alone, also later', async () => {
  const handle = await openDatabase(parseEnv({ DATA_DIR: dataDir }));
  staffSecret({ betterAuthSecret: null, dataDir }, (size) => Buffer.alloc(size, 1));
  expect(everything().length).toBeGreaterThan(1000);
  expect(open()).toEqual([]);
  await handle.db.execute(sql`create table more (t text)`);
  await handle.db.execute(
    sql`insert into more select repeat(md5(g::text), 20) from generate_series(1, 60000) g`,
  );
  await handle.db.execute(sql`create index more_t on more (t)`);
  await handle.db.execute(sql`vacuum more`);
  await handle.db.execute(sql`checkpoint`);
  expect(open()).toEqual([]);
  await handle.close();
  const again = await openEmbedded(dataDir);
  expect(open()).toEqual([]);
  await again.close();
});

test('what is there already is taken from others, and what is not ours is left', async () => {
  await (await openEmbedded(dataDir)).close();
  const demo = join(dataDir, 'demo.json');
  writeFileSync(demo, '{}');
  writeFileSync(join(dataDir, 'stripe-local-1.json'), '{}');
  for (const path of everything()) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o666);
  const theirs = join(dataDir, 'theirs');
  mkdirSync(theirs, { mode: 0o755 });
  writeFileSync(join(theirs, 'run.sh'), '', { mode: 0o755 });
  await (await openEmbedded(dataDir)).close();
  expect(open()).toEqual([`755 ${theirs}`, `755 ${join(theirs, 'run.sh')}`]);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(statSync(demo).mode & 0o777).toBe(0o600);
});
