import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import { type Database, lockKey, pgErrorCode, statement, takeLock } from './database';
import { perProcess } from './per-process';

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

// The embedded database is left out: it has one connection, no other writer, and cannot stop a statement by time.
const servers = perProcess('writers', () => new WeakMap<Database, Bulkhead>());

/** Limits how many connections to a server writing may take at once: a third of them are left to reading. */
export function limitWriters(db: Database, connections: number): void {
  const atOnce = Math.ceil((connections * 2) / 3);
  servers.set(db, new Bulkhead({ atOnce, perKey: 2, waiting: 500, patience: 20_000 }));
}

/** Whether it is a pool of a server's connections, rather than the embedded database or a transaction. */
export const isServer = (db: Database): boolean => servers.has(db);

/**
 * Does work that may wait for locks. Only so much of it runs at once that reading always finds a connection.
 *
 * @param about names what is locked, where that is known
 * @throws an error as of a lock that cannot be had (55P03) where too many wait, or for too long
 */
export function writeInTurn<T>(db: Database, about: string | undefined, work: () => Promise<T>): Promise<T> {
  return servers.get(db)?.run(about, work) ?? work();
}

/**
 * One transaction, limited in time on a server, and begun again when another one comes in between. Inside, use
 * `tx` only: the embedded database has a single connection, and `db` would wait for it for ever.
 *
 * @param about see writeInTurn
 * @param key whose lock it takes first, see lockKey
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
 * Reads in one transaction, limited in time on a server. Its queries are planned for their own values: how many
 * rows match differs a millionfold from one text to the next.
 */
export function readLimited<T>(db: Database, read: (tx: Database) => Promise<T>): Promise<T> {
  return db.transaction((tx) => limited(db, tx, read));
}

/**
 * What statements of one transaction answer that were sent together; the server runs them in that order.
 *
 * @throws what the first that failed threw: the rest only say that the transaction has failed (25P02)
 */
export async function answersOf<T extends readonly Promise<unknown>[]>(
  ...sent: T
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  for (const { status, reason } of (await Promise.allSettled(sent)) as PromiseRejectedResult[]) {
    if (status === 'rejected') throw reason;
  }
  return Promise.all(sent);
}

async function limited<T>(
  db: Database,
  tx: Database,
  work: (tx: Database) => Promise<T>,
  key?: string,
): Promise<T> {
  const limiting = limit(db, tx, key);
  limiting.catch(() => {}); // thrown below
  try {
    // Sent without waiting: the server runs it after the limits and the lock, and it sees what was committed until then.
    return await work(tx);
  } finally {
    await limiting; // its error comes first: the work only failed because of it
  }
}

/** Sets the limits on a server, and takes the lock of a key. Sent along with what comes next, it costs no round trip. */
async function limit(db: Database, tx: Database, key: string | undefined): Promise<void> {
  if (!isServer(db)) {
    if (key !== undefined) await lockKey(tx, key);
  } else if (key === undefined) await setLimits(tx, {});
  else await setAndLock(tx, { key });
}

/** Milliseconds: nothing that a request does may hold a connection or a lock for longer. */
const LIMITS = {
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
};
type Limit = keyof typeof LIMITS;

/** Sets a limit until the transaction ends; a connection is never told, since a pooler lends it to others. */
export const localLimit = (name: Limit): SQL =>
  sql`set_config('${sql.raw(name)}', '${sql.raw(String(LIMITS[name]))}', true)`;

/** Gives the role the same limits in this database, for what it does outside transactions from its next connection on. */
export async function limitRole(db: Database): Promise<void> {
  const settings = Object.entries(LIMITS).map(([name, limit]) =>
    sql.raw(
      `execute format('alter role %I in database %I set ${name} = ${limit}', current_user, current_database());`,
    ),
  );
  await db.execute(sql`do $$ begin ${sql.join(settings, sql` `)} end $$`);
}

/** The statements of a write find rows by their keys: planning them anew takes longer than it could save. */
const planOnce = sql`set_config('plan_cache_mode', 'force_generic_plan', true)`;

const all = () => sql.join((Object.keys(LIMITS) as Limit[]).map(localLimit), sql`, `);
/** Sets them all. */
const setLimits = statement([], () => sql`select ${all()}`);
/** The same, and what `lockKey` does. */
const setAndLock = statement(['key'], (_, { key }) => sql`select ${planOnce}, ${all()}, ${takeLock(key)}`);

/** Work that found no place, with the error code of a lock that cannot be had. */
export class BusyError extends Error {
  readonly code = '55P03';
}

interface Limits {
  atOnce: number;
  /** Of one key, at once: what waits for one lock leaves room for all others. */
  perKey: number;
  waiting: number;
  /** How much work of one key may wait. If absent, only `waiting` limits it. */
  waitingPerKey?: number;
  /** Milliseconds. */
  patience: number;
}

interface Waiting {
  key: string | undefined;
  start(): void;
}

/** Lets so much work run at once, and so much wait for it, in the order in which it came. */
export class Bulkhead {
  private running = 0;
  private readonly keys = new Map<string, number>();
  private waiting: Waiting[] = [];

  constructor(private readonly limits: Limits) {}

  /**
   * @param key of what waits for the same lock
   * @param signal ends the wait when it aborts; work that has begun goes on
   * @throws BusyError where too many wait already, or this one has waited for too long or was aborted
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
