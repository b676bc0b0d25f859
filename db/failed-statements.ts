import { PgPreparedQuery } from 'drizzle-orm/pg-core';
import { DISK_FULL, READ_ONLY } from './database';
import { perProcess } from './per-process';

/**
 * A failed statement with the first 500 characters of its SQL text, and its error code. Drizzle's error contains the
 * parameters, and the driver's error contains conflicting values. These may be personal data, which must not be logged.
 */
class QueryError extends Error {
  override readonly name = 'QueryError';
  /**
   * Error code that is set if the disk is full or the database is read-only, for the error boundary of a staff page.
   * Next sends no other property to the browser.
   */
  readonly digest: string | undefined;

  constructor(
    statement: string,
    readonly code: string,
    readonly constraint: string | undefined,
  ) {
    super(`${code}${constraint ? ` (${constraint})` : ''} in: ${statement.slice(0, 500)}`);
    if (code === DISK_FULL || code === READ_ONLY) this.digest = code;
  }
}

type Run = (statement: string, parameters: unknown, query: () => Promise<unknown>) => Promise<unknown>;
const prepared = PgPreparedQuery.prototype as unknown as { queryWithCache: Run };
const run = prepared.queryWithCache;

type Watcher = (statement: string, query: () => Promise<unknown>) => Promise<unknown>;
const watched = perProcess('watched-statements', () => ({ by: undefined as Watcher | undefined }));

/**
 * Passes every statement that Drizzle runs in this process to the watcher, which runs it. The SQL text contains no
 * parameters.
 */
export function watchStatements(by: Watcher | undefined): void {
  watched.by = by;
}

// Drizzle runs the statements of both drivers through this method. An error without a code is not from the
// database, and is thrown without Drizzle's wrapper.
prepared.queryWithCache = async function (statement, parameters, query) {
  const { by } = watched;
  try {
    const answer = await run.call(this, statement, parameters, by ? () => by(statement, query) : query);
    noteRoom(statement);
    return answer;
  } catch (error) {
    const own = (error as Error).cause ?? error;
    const { code, constraint, constraint_name } = own as Record<string, unknown>;
    if (typeof code !== 'string') throw own;
    // The error may mean that the database lacks the latest migrations.
    if (LACKING.test(code)) schema.isDoubted = true;
    if (code === DISK_FULL) disk.lackedBy ??= insertedInto(statement)[0] ?? '';
    throw new QueryError(statement, code, (constraint ?? constraint_name) as string | undefined);
  }
};

/**
 * `lackedBy` is the table of the insert that failed on a full disk, or '' if that statement was not an insert. It is
 * undefined if no write failed, or if there is space again.
 */
const disk = perProcess<{ lackedBy?: string | undefined }>('disk-full', () => ({}));

// A call of the SQL function `commit_plan` counts as an insert, because the call does not name the written tables.
const INSERTED = /\b(?:insert\s+into\s+"?(\w+)|(commit_plan)\()/gi;

/** Forgets that a write failed because the disk was full. */
export function forgetNoRoom(): void {
  disk.lackedBy = undefined;
}

/**
 * Forgets the full disk after an insert into the table that lacked space, or into any table if the failed statement was
 * not an insert. A successful update does not prove that there is free space.
 */
function noteRoom(statement: string): void {
  const table = disk.lackedBy;
  if (table === undefined) return;
  const tables = insertedInto(statement);
  if (table === '' ? tables.length > 0 : tables.includes(table)) forgetNoRoom();
}

/** Returns true after a write failed on a full disk, until an insert (see `noteRoom`) or a health check succeeds. */
export function isDiskFull(): boolean {
  return disk.lackedBy !== undefined;
}

function insertedInto(statement: string): string[] {
  return [...statement.matchAll(INSERTED)].map(([, table, committed]) => table ?? committed ?? '');
}

const schema = perProcess('schema-doubt', () => ({ isDoubted: false }));

// SQLSTATEs of a missing schema, table, column, function, type or enum value.
const LACKING = /^(3F000|42P01|42703|42883|42704|22P02)$/;

/** Returns true if a statement failed with an error that a database without the latest migrations would give. */
export function isSchemaDoubted(): boolean {
  return schema.isDoubted;
}

/** Makes `isSchemaDoubted` false again. Call it after checking the schema of the database. */
export function trustSchema(): void {
  schema.isDoubted = false;
}
