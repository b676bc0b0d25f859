import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, pgErrorCode } from './database';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const TRIES = 6;

/** What a transaction read is no longer so: it begins again. */
export class ChangedMeanwhileError extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

/** Takes a write that was begun and that the work does not wait for: what comes after it sees it all the same. */
export type Send = (write: PromiseLike<unknown>) => void;

/**
 * One transaction, begun again when another one comes in between. Inside, use `tx` only: the embedded
 * database has a single connection, and `db` would wait for it for ever.
 *
 * What the work sends is waited for before COMMIT, and its failure undoes all.
 */
export async function transact<T>(db: Database, work: (tx: Database, send: Send) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction((tx) => withSent((send) => work(tx, send)));
    } catch (error) {
      const code = pgErrorCode(error);
      if (attempt === TRIES || (code !== SERIALIZATION_FAILURE && code !== DEADLOCK_DETECTED)) throw error;
      await sleep(5 * 2 ** attempt);
    }
  }
}

async function withSent<T>(work: (send: Send) => Promise<T>): Promise<T> {
  const sent: Promise<void>[] = [];
  const send: Send = (write) => {
    const begun = Promise.resolve(write.then(() => {})); // a drizzle query begins anew at every `then`
    begun.catch(() => {}); // heard of below
    sent.push(begun);
  };
  try {
    return await work(send);
  } finally {
    // What failed here is the cause of whatever failed after it.
    await Promise.all(sent);
  }
}
