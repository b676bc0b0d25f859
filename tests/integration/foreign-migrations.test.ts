import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { openEmbedded, openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { migrate } from '@/db/migrate';
import { openDatabase } from '@/lib/open-database';
import { runCommandFile } from '../support/command-server';
import { withDatabase } from '../support/database-url';
import { createCustomer } from '../support/factories';
import { disownMigrations, FOREIGN } from '../support/foreign-migrations';

const REFUSED = { code: 1, out: '', err: `${FOREIGN}\n` };

/** What a migration would have changed. */
const contents = async (db: Database) => [
  await rows(db, sql`select customer_number from customers`),
  await rows(db, sql`select id, hash, created_at::text from drizzle.__drizzle_migrations order by id`),
  await rows(
    db,
    sql`select oid::int, xmin::text from pg_class where relnamespace = 'public'::regnamespace order by 1`,
  ),
  await rows(db, sql`select oid::int, xmin::text from pg_proc where proname = 'commit_plan'`),
];

describe('a database from before the first release', () => {
  test('that is embedded is refused and left as it is', async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'w5t-foreign-'));
    const look = async <T>(work: (db: Database) => Promise<T>) => {
      const { db, close } = await openEmbedded(DATA_DIR);
      return work(db).finally(close);
    };
    const before = await look(async (db) => {
      await migrate({ db });
      await createCustomer(db);
      await disownMigrations(db);
      return contents(db);
    });
    expect(await runCommandFile('db-migrate', [], { DATA_DIR })).toEqual(REFUSED);
    const env = { dataDir: DATA_DIR, databaseUrl: null, databaseUrlDirect: null, databasePooler: null };
    await expect(openDatabase(env)).rejects.toThrow(FOREIGN);
    expect(await look(contents)).toEqual(before);
    rmSync(DATA_DIR, { recursive: true });
  }, 120_000);

  const server = inject('postgres');
  describe.runIf(server)('on a server', () => {
    const name = `w5t_foreign_${process.pid}`;
    const url = withDatabase(server?.url ?? 'postgres://none', name);

    beforeEach(async () => {
      const admin = openPostgres(server?.url ?? '', { max: 1 });
      await admin.db.execute(sql.raw(`create database ${name} template ${server?.template}`));
      return async () => {
        await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
        await admin.close();
      };
    });

    test('is refused by whoever migrates or uses it, and left as it is', async () => {
      const { db, close } = openPostgres(url, { max: 1 });
      await createCustomer(db);
      await disownMigrations(db);
      const before = await contents(db);
      const vercel = { VERCEL: '1', VERCEL_ENV: 'production' };
      expect(await runCommandFile('db-migrate', [], { DATABASE_URL: url })).toEqual(REFUSED);
      expect(await runCommandFile('vercel-migrate', [], { DATABASE_URL: url, ...vercel })).toEqual(REFUSED);
      expect(await runCommandFile('token', ['list'], { DATABASE_URL: url })).toEqual(REFUSED);
      expect(await contents(db)).toEqual(before);
      await close();
    });
  });
});
