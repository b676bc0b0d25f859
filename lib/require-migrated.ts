import type { Database } from '@/db/database';
import { ForeignMigrationsError, isMigrated, NewerDatabaseError, NotUnicodeError } from '@/db/migrate';
import { NotMigratedError } from './errors';

const FOREIGN =
  'This database was made by a version before the first release, whose migrations are gone: start with an empty one (another DATABASE_URL or DATA_DIR).';

const NOT_UNICODE =
  "This database cannot hold every name: make one with encoding 'UTF8' (create database w5t encoding 'UTF8' template template0) on a PostgreSQL built with ICU, as packages and hosts have it.";

const newerSentence = ({ found, known }: NewerDatabaseError) =>
  `This database belongs to a newer version: it has ${found} migrations, and this version knows ${known}. Start the newer version, or restore a backup from before its migration.`;

/** @throws NotMigratedError if the database is older or newer than the code */
export async function requireMigrated(db: Database): Promise<void> {
  if (!(await isMigrated(db).catch(explainRefusal))) throw new NotMigratedError();
}

/** Rethrows a refused migration as an error that says what to do. */
export function explainRefusal(error: unknown): never {
  if (error instanceof ForeignMigrationsError) throw new NotMigratedError(FOREIGN);
  if (error instanceof NewerDatabaseError) throw new NotMigratedError(newerSentence(error));
  throw error instanceof NotUnicodeError ? new NotMigratedError(NOT_UNICODE) : error;
}
