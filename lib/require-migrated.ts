import type { Database } from '@/db/database';
import { ForeignMigrationsError, isMigrated } from '@/db/migrate';
import { NotMigratedError } from './errors';

const FOREIGN =
  'This database was made by a version before the first release, whose migrations are gone: start with an empty one (another DATABASE_URL or DATA_DIR).';

/** @throws NotMigratedError where the database is older than the code */
export async function requireMigrated(db: Database): Promise<void> {
  if (!(await isMigrated(db).catch(explainForeign))) throw new NotMigratedError();
}

/** For whoever migrates: says what to do with a database that cannot be brought to this version. */
export function explainForeign(error: unknown): never {
  throw error instanceof ForeignMigrationsError ? new NotMigratedError(FOREIGN) : error;
}
