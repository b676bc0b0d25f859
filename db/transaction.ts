import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import { type Database, lockKey, pgErrorCode, statement, takeLock } from './database';
import { perProcess } from './per-process';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const TRIES = 6;

/** Returns true if the transaction conflicted with another one, so that a retry may help. */
export function isConflict(error: unknown): boolean {
  const code = pgErrorCode(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Thrown in a transaction if the data it read is out of date. The transaction is retried. */
export class ChangedMeanwhileError extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

// The write queue of each connection pool. The embedded database has none, because its single connection runs one
// transaction at a time.
const servers = perProcess('writers', () => new WeakMap<Database, Bulkhead>());

/** Limits writes to two thirds of the pool's connections, rounded up. The rest stays free for reads. */
export function limitWriters(db: Database, connections: number): void {
  const atOnce = Math.ceil((connections * 2) / 3);
  servers.set(db, new Bulkhead({ atOnce, perKey: 2, waiting: 500, patience: 20_000 }));
}

/** Returns true for a connection pool of a server, false for the embedded database and for transactions. */
export const isServer = (db: Database): boolean => servers.has(db);

/** Returns the number of running and of waiting writes of this process. Returns null for the embedded database. */
export const writersOf = (db: Database): Bulkhead['counts'] | null => servers.get(db)?.counts ?? null;

/**
 * Runs work that may wait for locks. On a server, limits how many such calls run concurrently, so that they leave
 * connections for reads.
 *
 * @param about the key that the work locks, if known
 * @throws BusyError (55P03, as for an unavailable lock) if the queue is full, or this call waited too long
 */
export function writeInTurn<T>(db: Database, about: string | undefined, work: () => Promise<T>): Promise<T> {
  return servers.get(db)?.run(about, work) ?? work();
}

/**
 * Runs work in one transaction and retries it after a conflict with another transaction. On a server, time limits
 * apply. The work must use `tx` only. The embedded database has a single connection, so a statement on `db` would wait
 * forever.
 *
 * @param about the key that the work locks, see writeInTurn
 * @param key the key that the transaction locks first, see lockKey
 */
export async function transact<T>(
  db: Database,
  work: (tx: Database) => Promise<T>,
  about?: string,
  key?: string,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writeInTurn(db, about, () => db.transaction((tx) => limited(db, tx, work, key)));
    } catch (error) {
      if (attempt === TRIES || !isConflict(error)) throw error;
      await sleep(5 * 2 ** attempt);
    }
  }
}

/**
 * Reads in one transaction, with time limits on a server. Unlike `transact` with a key, it does not force generic query
 * plans, because the number of matching rows can differ a millionfold between search texts.
 */
export function readLimited<T>(db: Database, read: (tx: Database) => Promise<T>): Promise<T> {
  return db.transaction((tx) => limited(db, tx, read));
}

async function limited<T>(
  db: Database,
  tx: Database,
  work: (tx: Database) => Promise<T>,
  key?: string,
): Promise<T> {
  const limiting = limit(db, tx, key);
  limiting.catch(() => {}); // The error is thrown below, where `limiting` is awaited.
  try {
    // Do not await `limiting` yet. The server runs statements in order, so the limits apply to the work anyway.
    return await work(tx);
  } finally {
    await limiting; // If `limiting` failed, throw its error, which also caused the error of the work.
  }
}

/**
 * Sets the time limits if the database is a server, and locks the key if there is one. This costs no round trip,
 * because the statement is sent together with the next one.
 */
async function limit(db: Database, tx: Database, key: string | undefined): Promise<void> {
  if (!isServer(db)) {
    if (key !== undefined) await lockKey(tx, key);
  } else if (key === undefined) await setLimits(tx, {});
  else await setAndLock(tx, { key });
}

/**
 * Time limits in milliseconds for one statement, for one wait for a lock, and for the idle time within a transaction.
 */
const LIMITS = {
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
};
type Limit = keyof typeof LIMITS;

/** Returns the SQL that sets a limit for one transaction. A session's limit would affect a pooler's other clients. */
export const localLimit = (name: Limit): SQL =>
  sql`set_config('${sql.raw(name)}', '${sql.raw(String(LIMITS[name]))}', true)`;

/** Sets `LIMITS` as defaults of the current role in this database. They apply from the role's next connection on. */
export async function limitRole(db: Database): Promise<void> {
  const settings = Object.entries(LIMITS).map(([name, limit]) =>
    sql.raw(
      `execute format('alter role %I in database %I set ${name} = ${limit}', current_user, current_database());`,
    ),
  );
  await db.execute(sql`do $$ begin ${sql.join(settings, sql` `)} end $$`);
}

/** Reuses query plans. Writes find rows by key, so a new plan would cost more time than it could save. */
const planOnce = sql`set_config('plan_cache_mode', 'force_generic_plan', true)`;

const all = () => sql.join((Object.keys(LIMITS) as Limit[]).map(localLimit), sql`, `);
const setLimits = statement([], () => sql`select ${all()}`);
/** Sets all limits, forces generic query plans, and takes the lock of `lockKey`. */
const setAndLock = statement(['key'], (_, { key }) => sql`select ${planOnce}, ${all()}, ${takeLock(key)}`);

/**
 * Thrown when a queue is full, or a call waited too long or was aborted. The error has the code of an unavailable lock.
 */
export class BusyError extends Error {
  readonly code = '55P03';
}

interface Limits {
  atOnce: number;
  /** Maximum number of running calls with the same key, so that calls waiting for one lock do not block others. */
  perKey: number;
  waiting: number;
  /** Maximum number of calls with the same key in the queue. If absent, only `waiting` limits them. */
  waitingPerKey?: number;
  /** Maximum wait in milliseconds. */
  patience: number;
}

interface Waiting {
  key: string | undefined;
  start(): void;
}

/** A concurrency limit with a bounded queue. Calls start in order, except while a key is at its limit. */
export class Bulkhead {
  private running = 0;
  private readonly keys = new Map<string, number>();
  private waiting: Waiting[] = [];

  constructor(private readonly limits: Limits) {}

  /** Number of running calls, and number of waiting calls. */
  get counts(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting.length };
  }

  /**
   * Runs the work when the limits allow it. Until then, the call waits in the queue.
   *
   * @param key calls with the same key share the limits per key; a call without a key has only the overall limits
   * @param signal signal that ends the wait when it aborts; work that has started continues
   * @throws BusyError if the queue is full, the work has waited too long, or the signal aborts
   */
  async run<T>(key: string | undefined, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.hasRoom(key)) this.count(key, 1);
    else await this.turn(key, signal);
    try {
      return await work();
    } finally {
      this.count(key, -1);
      this.waiting.find((next) => this.hasRoom(next.key))?.start();
    }
  }

  private hasRoom(key: string | undefined): boolean {
    const { atOnce, perKey } = this.limits;
    return this.running < atOnce && (key === undefined || (this.keys.get(key) ?? 0) < perKey);
  }

  private count(key: string | undefined, change: 1 | -1): void {
    this.running += change;
    if (key === undefined) return;
    const ofKey = (this.keys.get(key) ?? 0) + change;
    if (ofKey === 0) this.keys.delete(key);
    else this.keys.set(key, ofKey);
  }

  private isFull(key: string | undefined): boolean {
    const { waiting, waitingPerKey = waiting } = this.limits;
    if (this.waiting.length >= waiting) return true;
    return key !== undefined && this.waiting.filter((one) => one.key === key).length >= waitingPerKey;
  }

  private turn(key: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new BusyError('left before it had to wait');
    if (this.isFull(key)) throw new BusyError('too many wait');
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.waiting = this.waiting.filter((one) => one !== entry);
      };
      const entry: Waiting = {
        key,
        start: () => {
          leave();
          this.count(key, 1);
          resolve();
        },
      };
      const giveUp = () => {
        leave();
        reject(new BusyError('left, or waited too long'));
      };
      const timer = setTimeout(giveUp, this.limits.patience);
      signal?.addEventListener('abort', giveUp);
      this.waiting.push(entry);
    });
  }
}
