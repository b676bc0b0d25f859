import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { migrate as migratePglite } from 'drizzle-orm/pglite/migrator';
import { migrate as migratePostgres } from 'drizzle-orm/postgres-js/migrator';
import type { DatabaseHandle } from './client';
import { type Database, pgErrorCode, rows } from './database';
import journal from './migrations/meta/_journal.json';

const migrationsFolder = join(process.cwd(), 'db/migrations');
const UNDEFINED_TABLE = '42P01';

/** Brings a database to the schema of this version; nothing to do is not an error. */
export async function migrate({ db, kind }: Pick<DatabaseHandle, 'db' | 'kind'>): Promise<void> {
  const run = (kind === 'postgres' ? migratePostgres : migratePglite) as (
    db: Database,
    config: { migrationsFolder: string },
  ) => Promise<void>;
  await run(db, { migrationsFolder });
}

/** False where a migration of this version is missing from the database. */
export async function isMigrated(db: Database): Promise<boolean> {
  try {
    const found = await rows<{ newest: string | null }>(
      db,
      sql`select max(created_at)::text as newest from drizzle.__drizzle_migrations`,
    );
    return Number(found[0]?.newest ?? 0) >= (journal.entries.at(-1)?.when ?? 0);
  } catch (error) {
    if (pgErrorCode(error) === UNDEFINED_TABLE) return false;
    throw error;
  }
}
