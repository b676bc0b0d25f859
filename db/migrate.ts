import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { PgDialect, type PgSession } from 'drizzle-orm/pg-core';
import type { DatabaseHandle } from './client';
import { type Database, lockKey, rows } from './database';
import journal from './migrations/meta/_journal.json';

const FOLDER = { migrationsFolder: join(process.cwd(), 'db/migrations') };

/** Thrown if migrations that no longer exist created the database. The current migrations cannot be applied to it. */
export class ForeignMigrationsError extends Error {}

/** Thrown if a newer version of the program has migrated the database. */
export class NewerDatabaseError extends Error {
  /**
   * @param found number of migrations in the database
   * @param known number of migrations in this version
   */
  constructor(
    readonly found: number,
    readonly known: number,
  ) {
    super(`the database is at migration ${found} of ${known}`);
  }
}

/** Thrown if the database lacks UTF-8 or ICU, which the search for names needs. */
export class NotUnicodeError extends Error {}

/**
 * Migrates a database to this version's schema and functions. Does nothing if the database is up to date. If several
 * processes migrate one database concurrently, one does the work and the others wait for it.
 *
 * @throws ForeignMigrationsError, NewerDatabaseError or NotUnicodeError before any change
 */
export async function migrate({ db }: Pick<DatabaseHandle, 'db'>): Promise<void> {
  await db.transaction(async (tx) => {
    // Override the role's time limits, because a migration may take long, and so may waiting for another migration.
    await tx.execute(
      sql`select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'lock_timeout')`,
    );
    await lockKey(tx, 'migrate');
    if (await isMigrated(tx)) return;
    await requireUnicode(tx);
    // Otherwise Drizzle would begin another transaction, which would not hold the lock.
    const inside = { transaction: (work: (tx: Database) => Promise<void>) => work(tx) };
    const session: PgSession = Object.assign(Object.create(tx._.session), inside);
    await new PgDialect().migrate(readMigrationFiles(FOLDER), session, FOLDER);
    await installFunctions(tx);
  });
}

async function requireUnicode(tx: Database): Promise<void> {
  const [found] = await rows<{ fits: boolean }>(
    tx,
    sql`select pg_encoding_to_char(encoding) = 'UTF8' and exists (select from pg_collation where collname = 'und-x-icu')
        as fits from pg_database where datname = current_database()`,
  );
  if (!found?.fits) throw new NotUnicodeError();
}

/**
 * Returns false if the database lacks a migration of this version.
 *
 * @throws ForeignMigrationsError
 * @throws NewerDatabaseError if the database has migrations that this version does not contain
 */
export async function isMigrated(db: Database): Promise<boolean> {
  const [table] = await rows<{ exists: boolean }>(
    db,
    sql`select to_regclass('drizzle.__drizzle_migrations') is not null as exists`,
  );
  if (!table?.exists) return false;
  const [found] = await rows<{ first: string | null; last: string | null; count: number }>(
    db,
    sql`select min(created_at)::text as first, max(created_at)::text as last, count(*)::int as count
      from drizzle.__drizzle_migrations`,
  );
  if (!found?.first) return false;
  if (Number(found.first) !== journal.entries[0]?.when) throw new ForeignMigrationsError();
  const newest = journal.entries.at(-1)?.when ?? 0;
  if (Number(found.last) > newest) throw new NewerDatabaseError(found.count, journal.entries.length);
  return Number(found.last) === newest;
}

const FUNCTIONS = join(process.cwd(), 'db/functions');

/**
 * Installs the SQL functions of this version. Each file of db/functions covers one subject, and installing a function
 * replaces its previous version. Drizzle's breakpoints separate the functions, because a driver runs one statement at a
 * time. The functions are installed only with a new migration, so every change needs a
 * migration that contains the new hash of db/functions.
 */
async function installFunctions(tx: Database): Promise<void> {
  for (const file of readdirSync(FUNCTIONS).sort()) {
    const statements = readFileSync(join(FUNCTIONS, file), 'utf8').split('--> statement-breakpoint');
    for (const statement of statements) await tx.execute(sql.raw(statement));
  }
}
