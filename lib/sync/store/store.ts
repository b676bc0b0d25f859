import { type Database, lockKey } from '@/db/database';
import { transact, writeInTurn } from '@/db/transaction';
import { type Commit, commit } from './commit';
import type { Keys } from './keys';
import { read } from './read';
import type { Snapshot } from './snapshot';

/** Where sync reads and commits. */
export interface Store {
  /** Whose steps on one Stripe customer wait for each other: one process at one database. */
  scope: object;
  /** All that keys lead to, as of one moment. */
  read(keys: Keys): Promise<Snapshot>;
  /**
   * All of it or nothing.
   *
   * @param about the Stripe customer, where that is known
   * @throws an error of a conflict where a row is not the one that was read, see `isVersionConflict`
   */
  commit(commit: Commit, about: string | undefined): Promise<void>;
  /** Does work under the lock of a key; null: there is none to take. All that it commits is undone if it fails. */
  locked<T>(key: string | null, work: (store: Store) => Promise<T>): Promise<T>;
}

export function databaseStore(db: Database): Store {
  return {
    scope: db,
    read: (keys) => read(db, keys),
    commit: (given, about) => writeInTurn(db, about, () => commit(db, given)),
    locked: (key, work) =>
      transact(
        db,
        async (tx) => {
          if (key !== null) await lockKey(tx, key);
          return work(databaseStore(tx));
        },
        key ?? undefined,
      ),
  };
}
