import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { isMigrated, migrate } from '@/db/migrate';
import * as schema from '@/db/schema';
import { createTestDatabase, useDatabase } from '../support/database';

const DB = join(import.meta.dirname, '../../db');
const read = (...path: string[]) => readFileSync(join(DB, ...path), 'utf8');
const readMeta = (file: string) => JSON.parse(read('migrations/meta', file));
const readAll = (folder: string) =>
  readdirSync(join(DB, folder))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => read(folder, file))
    .join('');
const LACK_TABLES = sql`delete from drizzle.__drizzle_migrations
  where created_at > (select min(created_at) from drizzle.__drizzle_migrations)`;
const LACK_LAST = sql`delete from drizzle.__drizzle_migrations
  where created_at = (select max(created_at) from drizzle.__drizzle_migrations)`;

describe('migrations', () => {
  const base = useDatabase();

  test('hold all of the schema: else run npm run db:generate', async () => {
    const journal: { entries: { idx: number }[] } = readMeta('_journal.json');
    const last = readMeta(`${String(journal.entries.at(-1)?.idx).padStart(4, '0')}_snapshot.json`);
    expect(await generateMigration(last, generateDrizzleJson(schema, last.id))).toEqual([]);
  });

  test('mark every change of db/functions: else npm run db:generate -- --custom, with this line in it', () => {
    const hash = createHash('sha256').update(readAll('functions')).digest('hex');
    expect(
      readAll('migrations')
        .match(/^-- Functions: .*$/gm)
        ?.at(-1),
    ).toBe(`-- Functions: ${hash}`);
  });

  test('make the tables that the schema names', async () => {
    const found = await rows<{ name: string }>(
      base.db,
      sql`select table_name::text as name from information_schema.tables where table_schema = 'public'`,
    );
    const names = found.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['customers', 'payments', 'stripe_events', 'access_tokens']),
    );
  });

  test('can be run again, and change nothing', async () => {
    expect(await isMigrated(base.db)).toBe(true);
    await migrate({ db: base.db });
    expect(await isMigrated(base.db)).toBe(true);
  });

  test('bring the functions, and leave those of a later version alone', async () => {
    const other = await createTestDatabase();
    const replace = sql`create or replace function remove_if_empty(customer int) returns void language plpgsql
      as 'begin end'`;
    const source = async () =>
      (await rows(other.db, sql`select prosrc from pg_proc where proname = 'remove_if_empty'`))[0]?.prosrc;
    const ours = await source();
    expect(read('functions/remove_if_empty.sql')).toContain(ours);
    await other.db.execute(replace);
    await migrate(other);
    expect(await source()).toBe('begin end');

    await other.db.execute(sql`drop schema public cascade`);
    await other.db.execute(sql`create schema public`);
    await other.db.execute(sql`create extension pg_trgm`);
    await other.db.execute(replace);
    await other.db.execute(LACK_TABLES);
    await migrate(other);
    expect(await source()).toBe(ours);
    await other.close();
  });

  test('a database that lacks the last one is told apart', async () => {
    const other = await createTestDatabase();
    await other.db.execute(LACK_LAST);
    expect(await isMigrated(other.db)).toBe(false);
    await other.db.execute(sql`drop schema drizzle cascade`);
    expect(await isMigrated(other.db)).toBe(false);
    await other.close();
  });
});
