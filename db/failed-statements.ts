import { PgPreparedQuery } from 'drizzle-orm/pg-core';
import { DISK_FULL } from './database';
import { NoRoomError } from './embedded-files';
import { perProcess } from './per-process';

/**
 * A failed statement: its text and the server's code. Drizzle's own error holds the parameters, and the driver's error
 * holds the values that collided. Both are personal data, and would be logged with the error.
 */
class QueryError extends Error {
  override readonly name = 'QueryError';
  /** By it a staff page's error boundary knows the error: Next.js sends nothing else of it to the browser. */
  readonly digest: string | undefined;

  constructor(
    statement: string,
    readonly code: string,
    readonly constraint: string | undefined,
  ) {
    super(`${code}${constraint ? ` (${constraint})` : ''} in: ${statement.slice(0, 500)}`);
    if (code === DISK_FULL) this.digest = DISK_FULL;
  }
}

type Run = (statement: string, parameters: unknown, query: () => Promise<unknown>) => Promise<unknown>;
const prepared = PgPreparedQuery.prototype as unknown as { queryWithCache: Run };
const run = prepared.queryWithCache;

// Both drivers end here. An error without a code is not the database's: it is thrown without Drizzle's message around it.
prepared.queryWithCache = async function (statement, parameters, query) {
  try {
    const answer = await run.call(this, statement, parameters, query);
    noteRoom(statement);
    return answer;
  } catch (error) {
    const own = (error as Error).cause ?? error;
    const { code, constraint, constraint_name } = own as Record<string, unknown>;
    if (typeof code !== 'string') throw own;
    // The database may be older than the code.
    if (LACKING.test(code)) schema.isDoubted = true;
    if (code === DISK_FULL && !(error instanceof NoRoomError))
      disk.lackedBy ??= insertedInto(statement)[0] ?? '';
    throw new QueryError(statement, code, (constraint ?? constraint_name) as string | undefined);
  }
};

/** The table whose row found no room; undefined: there is room. */
const disk = perProcess<{ lackedBy?: string | undefined }>('disk-full', () => ({}));

const INSERTED = /\binsert\s+into\s+"?(\w+)/gi;

/** Notes that there is room again. */
export function forgetNoRoom(): void {
  disk.lackedBy = undefined;
}

/** Notes that there was room again. A row changed in its place proves nothing: it takes a new one of that table. */
function noteRoom(statement: string): void {
  const table = disk.lackedBy;
  if (table === undefined) return;
  const tables = insertedInto(statement);
  if (table === '' ? tables.length > 0 : tables.includes(table)) forgetNoRoom();
}

/** True from a write that found no room until one finds some. */
export function isDiskFull(): boolean {
  return disk.lackedBy !== undefined;
}

function insertedInto(statement: string): string[] {
  return [...statement.matchAll(INSERTED)].map(([, table = '']) => table);
}

const schema = perProcess('schema-doubt', () => ({ isDoubted: false }));

// A schema, table, column, function, type or enum value that a statement names and the database lacks.
const LACKING = /^(3F000|42P01|42703|42883|42704|22P02)$/;

/** True where a statement failed as it would in a database that is not migrated. */
export function isSchemaDoubted(): boolean {
  return schema.isDoubted;
}

/** Ends the doubt: the database was looked at. */
export function trustSchema(): void {
  schema.isDoubted = false;
}
