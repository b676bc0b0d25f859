import { PgPreparedQuery } from 'drizzle-orm/pg-core';
import { DISK_FULL } from './database';
import { noteNoRoom, noteRoom } from './disk-full';
import { NoRoomError } from './disk-room';
import { noteFailure } from './schema-doubt';

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

// Both drivers end here. Errors that carry no code are not the database's and stay as they are.
prepared.queryWithCache = async function (statement, parameters, query) {
  try {
    const answer = await run.call(this, statement, parameters, query);
    noteRoom(statement);
    return answer;
  } catch (error) {
    const { code, constraint, constraint_name } = ((error as Error).cause ?? error) as Record<
      string,
      unknown
    >;
    if (typeof code !== 'string') throw error;
    noteFailure(code);
    if (!(error instanceof NoRoomError)) noteNoRoom(statement, code);
    throw new QueryError(statement, code, (constraint ?? constraint_name) as string | undefined);
  }
};
