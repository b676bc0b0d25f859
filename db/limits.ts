import { type SQL, sql } from 'drizzle-orm';
import { type Database, takeLock } from './database';
import { statement } from './statement';

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
export async function limitTransaction(tx: Database): Promise<void> {
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
export async function limitAndLock(tx: Database, key: string): Promise<void> {
  await setAndLock(tx, { key });
}

/** The statements of a write find rows by their keys: planning them anew takes longer than it could save. */
const planOnce = sql`set_config('plan_cache_mode', 'force_generic_plan', true)`;

const all = () => sql.join((Object.keys(LIMITS) as Limit[]).map(localLimit), sql`, `);
const setLimits = statement([], () => sql`select ${all()}`);
const setAndLock = statement(['key'], (_, { key }) => sql`select ${planOnce}, ${all()}, ${takeLock(key)}`);
