import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { isMigrated, migrate } from '@/db/migrate';
import * as schema from '@/db/schema';
import { createTestDatabase, useDatabase } from '../support/database';

const META = join(import.meta.dirname, '../../db/migrations/meta');
const readMeta = (file: string) => JSON.parse(readFileSync(join(META, file), 'utf8'));

describe('migrations', () => {
  const base = useDatabase();

  test('hold all of the schema: else run npm run db:generate', async () => {
    const journal: { entries: { idx: number }[] } = readMeta('_journal.json');
    const last = readMeta(`${String(journal.entries.at(-1)?.idx).padStart(4, '0')}_snapshot.json`);
    expect(await generateMigration(last, generateDrizzleJson(schema, last.id))).toEqual([]);
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

  test('a database that lacks the last one is told apart', async () => {
    const other = await createTestDatabase();
    await other.db.execute(
      sql`delete from drizzle.__drizzle_migrations where created_at = (select max(created_at) from drizzle.__drizzle_migrations)`,
    );
    expect(await isMigrated(other.db)).toBe(false);
    await other.db.execute(sql`drop schema drizzle cascade`);
    expect(await isMigrated(other.db)).toBe(false);
    await other.close();
  });
});
