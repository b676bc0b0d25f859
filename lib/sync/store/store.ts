import type { Database } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { isServer, transact, writeInTurn } from '@/db/transaction';
import { type Keys, type Snapshot, uniteKeys } from '../snapshot';
import { type Commit, commit, commitTogether } from './commit';
import { read } from './read';

export interface Store {
  /** Whose steps on one Stripe customer wait for each other: one process at one database. */
  scope: object;
  /** As of one moment. @param keys a function is asked for them when the read begins */
  read(keys: Keys | (() => Keys)): Promise<Snapshot>;
  /** All of it or nothing. @throws a conflict if a row has changed since it was read: `isVersionConflict` */
  commit(commit: Commit, about: string | undefined): Promise<void>;
  /** Runs the work under the lock of a key, or without a lock if the key is null. If it fails, its commits are undone. */
  locked<T>(key: string | null, work: (store: Store) => Promise<T>): Promise<T>;
}

export function databaseStore(db: Database): Store {
  const together = isServer(db) ? togetherAt(db) : null;
  const commitAlone: Store['commit'] = (given, about) => writeInTurn(db, about, () => commit(db, given));
  return {
    scope: db,
    read: (keys) => (together ? together.reads.run(keys) : read(db, toKeys(keys))),
    commit: async (given, about) => {
      const isWritten = await together?.commits.run(given);
      if (!isWritten) await commitAlone(given, about);
    },
    locked: (key, work) => transact(db, (tx) => work(databaseStore(tx)), key ?? undefined, key ?? undefined),
  };
}

interface Together {
  reads: Batches<Keys | (() => Keys), Snapshot>;
  commits: Batches<Commit, boolean>;
}

const batches = perProcess('batches', () => new WeakMap<Database, Together>());

function togetherAt(db: Database): Together {
  const known = batches.get(db);
  if (known) return known;
  const made: Together = {
    reads: new Batches(async (all) => {
      const snapshot = await read(db, uniteKeys(all.map(toKeys)));
      return all.map(() => snapshot);
    }),
    commits: new Batches((all) => writeInTurn(db, undefined, () => commitTogether(db, all))),
  };
  batches.set(db, made);
  return made;
}

const toKeys = (keys: Keys | (() => Keys)) => (typeof keys === 'function' ? keys() : keys);

interface Waiting<Given, Done> {
  given: Given;
  resolve(done: Done): void;
  reject(error: unknown): void;
}

const AT_ONCE = 2;
/** Limits how long one call waits for others. Larger batches cost less, but leave other cores without work. */
const MOST = 8;

export class Batches<Given, Done> {
  private waiting: Waiting<Given, Done>[] = [];
  private underWay = 0;

  /** @param perform what is given, and answers in the same order; if it fails, all of it has failed */
  constructor(private readonly perform: (given: Given[]) => Promise<Done[]>) {}

  run(given: Given): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ given, resolve, reject });
      if (this.underWay < AT_ONCE) this.start();
    });
  }

  private start(): void {
    this.underWay += 1;
    // A caller that one batch answered asks for the next one at once.
    process.nextTick(async () => {
      while (this.waiting.length > 0) await this.next(this.waiting.splice(0, MOST));
      this.underWay -= 1;
    });
  }

  private async next(batch: Waiting<Given, Done>[]): Promise<void> {
    try {
      const done = await this.perform(batch.map(({ given }) => given));
      for (const [i, { resolve }] of batch.entries()) resolve(done[i] as Done);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
