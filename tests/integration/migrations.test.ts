import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { openEmbedded } from '@/db/client';
import { rows } from '@/db/database';
import { ForeignMigrationsError, isMigrated, migrate } from '@/db/migrate';
import * as schema from '@/db/schema';
import { openDatabase, requireMigrated } from '@/lib/open-database';
import {
  createTestDatabase,
  databaseState,
  disownMigrations,
  FOREIGN,
  useDatabase,
} from '../support/database';
import { createCustomer } from '../support/factories';

const DB = join(import.meta.dirname, '../../db');
const read = (...path: string[]) => readFileSync(join(DB, ...path), 'utf8');
const readMeta = (file: string) => JSON.parse(read('migrations/meta', file));
const readAll = (folder: string) =>
  readdirSync(join(DB, folder))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => read(folder, file))
    .join('');
const journal: { entries: { idx: number; when: number }[] } = readMeta('_journal.json');

const base = useDatabase();

test('the newest migration contains the whole schema; if not, run npm run db:generate', async () => {
  const last = readMeta(`${String(journal.entries.at(-1)?.idx).padStart(4, '0')}_snapshot.json`);
  expect(await generateMigration(last, generateDrizzleJson(schema, last.id))).toEqual([]);
});

test('the newest migration has the hash of db/functions; if not, run npm run db:generate -- --custom', () => {
  const hash = createHash('sha256').update(readAll('functions')).digest('hex');
  const marks = readAll('migrations').match(/^-- Functions: .*$/gm);
  expect(marks?.at(-1)).toBe(`-- Functions: ${hash}`);
});

test('migrating an up-to-date database changes nothing', async () => {
  expect(await isMigrated(base.db)).toBe(true);
  const before = await databaseState(base.db);
  await migrate({ db: base.db });
  expect(await databaseState(base.db)).toEqual(before);
});

test('migrating refuses a database from before the first release without changing it', async () => {
  const other = await createTestDatabase();
  await createCustomer(other.db);
  await disownMigrations(other.db);
  const before = await databaseState(other.db);
  await expect(migrate(other)).rejects.toThrow(ForeignMigrationsError);
  expect(await databaseState(other.db)).toEqual(before);
  await other.close();
});

test('migrating refuses a database of a newer version without changing it', async () => {
  const other = await createTestDatabase();
  await other.db.execute(
    sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', ${(journal.entries.at(-1)?.when ?? 0) + 1})`,
  );
  const before = await databaseState(other.db);
  const known = journal.entries.length;
  await expect(migrate(other)).rejects.toMatchObject({ found: known + 1, known });
  await expect(requireMigrated(other.db)).rejects.toThrow(
    `This database belongs to a newer version: it has ${known + 1} migrations, and this version knows ${known}. `,
  );
  expect(await databaseState(other.db)).toEqual(before);
  await other.close();
});

test('migrating does not replace the SQL functions of a newer version', async () => {
  const other = await createTestDatabase();
  const { db } = other;
  const source = async () =>
    (await rows(db, sql`select prosrc from pg_proc where proname = 'remove_if_empty'`))[0]?.prosrc;
  const replace = sql`create or replace function remove_if_empty(customer int, heir int) returns void language plpgsql
    as 'begin end'`;
  const ours = await source();
  expect(read('functions/commit_customers.sql')).toContain(ours);
  await db.execute(replace);
  await migrate(other);
  expect(await source()).toBe('begin end');

  await db.execute(sql`delete from drizzle.__drizzle_migrations
    where created_at = (select max(created_at) from drizzle.__drizzle_migrations)`);
  expect(await isMigrated(db)).toBe(false);

  await db.execute(sql`drop schema public cascade`);
  await db.execute(sql`create schema public`);
  await db.execute(sql`create extension pg_trgm`);
  await db.execute(replace);
  await db.execute(sql`delete from drizzle.__drizzle_migrations`);
  await migrate(other);
  expect(await source()).toBe(ours);
  await db.execute(sql`drop schema drizzle cascade`);
  expect(await isMigrated(db)).toBe(false);
  await other.close();
});

test('an embedded database from before the first release is refused', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'w5t-foreign-'));
  const { db, close } = await openEmbedded(dataDir);
  await db.execute(sql`create schema drizzle`);
  await db.execute(
    sql`create table drizzle.__drizzle_migrations as select 1 as id, ${journal.entries[0]?.when}::bigint + 1 as created_at`,
  );
  await close();
  const env = { dataDir, databaseUrl: null, databaseUrlDirect: null, databasePooler: null, timeZone: 'UTC' };
  await expect(openDatabase(env)).rejects.toThrow(FOREIGN);
  rmSync(dataDir, { recursive: true });
});
