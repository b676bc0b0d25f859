import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, pgErrorCode } from './database';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const TRIES = 6;

/** What a transaction read is no longer so: it begins again. */
export class ChangedMeanwhileError extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

/** Takes a write that was begun and that nothing waits for: what comes after it sees it all the same. */
export type Send = (write: Promise<unknown>) => void;

/**
 * One transaction, begun again when another one comes in between. Inside, use `tx` only: the embedded
 * database has a single connection, and `db` would wait for it for ever.
 *
 * What is sent travels with COMMIT. A failure of it undoes all, and is thrown here; the work itself does not
 * hear of it any more.
 */
export async function transact<T>(db: Database, work: (tx: Database, send: Send) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const sent: Promise<unknown>[] = [];
    const send: Send = (write) => {
      write.catch(() => {}); // heard of below
      sent.push(write);
    };
    try {
      const result = await db.transaction((tx) => work(tx, send));
      // After a statement that failed, COMMIT rolls back and does not complain.
      await Promise.all(sent);
      return result;
    } catch (error) {
      const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
      const cause: unknown = failed && 'reason' in failed ? failed.reason : error;
      const code = pgErrorCode(cause);
      if (attempt === TRIES || (code !== SERIALIZATION_FAILURE && code !== DEADLOCK_DETECTED)) throw cause;
      await sleep(5 * 2 ** attempt);
    }
  }
}
