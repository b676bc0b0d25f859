import type { Database } from '@/db/database';
import { ForeignMigrationsError, isMigrated, NotUnicodeError } from '@/db/migrate';
import { NotMigratedError } from './errors';

const FOREIGN =
  'This database was made by a version before the first release, whose migrations are gone: start with an empty one (another DATABASE_URL or DATA_DIR).';

const NOT_UNICODE =
  "This database cannot hold every name: make one with encoding 'UTF8' (create database w5t encoding 'UTF8' template template0) on a PostgreSQL built with ICU, as packages and hosts have it.";

/** @throws NotMigratedError where the database is older than the code */
export async function requireMigrated(db: Database): Promise<void> {
  if (!(await isMigrated(db).catch(explainRefusal))) throw new NotMigratedError();
}

/** For whoever migrates: says what to do with a database that cannot be brought to this version. */
export function explainRefusal(error: unknown): never {
  if (error instanceof ForeignMigrationsError) throw new NotMigratedError(FOREIGN);
  throw error instanceof NotUnicodeError ? new NotMigratedError(NOT_UNICODE) : error;
}
