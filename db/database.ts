import { type SQL, sql } from 'drizzle-orm';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { statement } from './statement';

/** postgres.js and PGlite alike, and a transaction of either. */
export type Database = PgDatabase<PgQueryResultHKT>;

/**
 * Runs raw SQL. The drivers answer in different forms (an array; `{ rows }`), and int8 comes as text
 * from one and as number from the other: cast in SQL (`::int`, `::text`).
 */
export async function rows<T extends Record<string, unknown>>(db: Database, query: SQL): Promise<T[]> {
  const result: unknown = await db.execute(query);
  return (Array.isArray(result) ? [...result] : (result as { rows: T[] }).rows) as T[];
}

/** The SQLSTATE or driver code beneath drizzle's wrapper, whose message holds the parameters. */
export function pgErrorCode(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ('code' in e && typeof e.code === 'string') return e.code;
  }
  return undefined;
}

export const UNIQUE_VIOLATION = '23505';
export const FOREIGN_KEY_VIOLATION = '23503';
export const DISK_FULL = '53100';

// Class 08 connection, 53 resources, 57P operator intervention; the rest are the drivers' own.
const UNAVAILABLE =
  /^(08...|28...|3D000|53...|55000|57P..|CONNECT(ION)?_\w+|ECONN\w+|ETIMEDOUT|ENOTFOUND|EPIPE|EHOSTUNREACH|EAI_AGAIN)$/;

/** True where the database could not be reached or turned us away, so that trying again may help. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(pgErrorCode(error) ?? '');
}

/** True if the database refused a write because its disk is full. */
export function isDiskFullError(error: unknown): boolean {
  return pgErrorCode(error) === DISK_FULL;
}

/** Whether a statement failed. The message of such an error is SQL: it belongs in the log only. */
export function isQueryError(error: unknown): boolean {
  // By its name: a page may catch it in another bundle than the one that made it.
  return error instanceof Error && error.name === 'QueryError';
}

/**
 * Serialises everything that concerns one thing, until the transaction ends. Taken before row locks.
 *
 * @param key of all callers that mean the same thing, and of no others
 */
export async function lockKey(tx: Database, key: string): Promise<void> {
  await lock(tx, { key });
}

/** What `lockKey` asks for. */
export const takeLock = (key: SQL): SQL => sql`pg_advisory_xact_lock(hashtextextended(${key}, 0))`;

const lock = statement(['key'], (_, { key }) => sql`select ${takeLock(key)}`);
