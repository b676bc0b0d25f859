import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, pgErrorCode } from './database';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const TRIES = 6;

/** True where another transaction came in between: trying again may help. */
export function isConflict(error: unknown): boolean {
  const code = pgErrorCode(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** What a transaction read is no longer so: it begins again. */
export class ChangedMeanwhileError extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

/**
 * One transaction, begun again when another one comes in between. Inside, use `tx` only: the embedded
 * database has a single connection, and `db` would wait for it for ever.
 */
export async function transact<T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (attempt === TRIES || !isConflict(error)) throw error;
      await sleep(5 * 2 ** attempt);
    }
  }
}
