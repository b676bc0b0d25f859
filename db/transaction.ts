import { type Database, pgErrorCode } from './database';

/** Thrown as an error's `code`, it begins a transaction again. */
export const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const TRIES = 5;

/**
 * One transaction, begun again when PostgreSQL ends it because of another one. Inside, use `tx` only:
 * the embedded database has a single connection, and `db` would wait for it for ever.
 */
export async function transact<T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction(work);
    } catch (error) {
      const code = pgErrorCode(error);
      if (attempt === TRIES || (code !== SERIALIZATION_FAILURE && code !== DEADLOCK_DETECTED)) throw error;
    }
  }
}
