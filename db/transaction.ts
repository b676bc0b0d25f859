import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import { Bulkhead } from './bulkhead';
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

function limit(db: Database, tx: Database, key: string | undefined): Promise<void> {
  if (key === undefined) return isServer(db) ? limitTransaction(tx) : Promise.resolve();
  return isServer(db) ? limitAndLock(tx, key) : lockKey(tx, key);
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

/** Sets them all. Sent along with what comes next, it costs no round trip. */
async function limitTransaction(tx: Database): Promise<void> {
  await setLimits(tx, {});
}

/** Gives the role the same limits in this database, for what it does outside transactions from its next connection on. */
export async function limitRole(db: Database): Promise<void> {
  const settings = Object.entries(LIMITS).map(([name, limit]) =>
    sql.raw(
      `execute format('alter role %I in database %I set ${name} = ${limit}', current_user, current_database());`,
    ),
  );
  await db.execute(sql`do $$ begin ${sql.join(settings, sql` `)} end $$`);
}

/** Sets them all, and takes the lock of a key: what `lockKey` does, in one statement with them. */
async function limitAndLock(tx: Database, key: string): Promise<void> {
  await setAndLock(tx, { key });
}

/** The statements of a write find rows by their keys: planning them anew takes longer than it could save. */
const planOnce = sql`set_config('plan_cache_mode', 'force_generic_plan', true)`;

const all = () => sql.join((Object.keys(LIMITS) as Limit[]).map(localLimit), sql`, `);
const setLimits = statement([], () => sql`select ${all()}`);
const setAndLock = statement(['key'], (_, { key }) => sql`select ${planOnce}, ${all()}, ${takeLock(key)}`);
