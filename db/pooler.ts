import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import postgres from 'postgres';
import type { Database } from './database';

/** How a pooler treats its clients. */
export interface Pooler {
  /** The next transaction of a connection may run in a session that another one had before. */
  sharesSessions: boolean;
  /** A statement that was prepared under a name is there in that other session, too. */
  keepsStatements: boolean;
}

/** What is safe behind any. */
export const TRANSACTION_POOLER: Pooler = { sharesSessions: true, keepsStatements: false };

const PATIENCE_MS = 3000;

/** False where something stands between us and the server: it names another process than the server does. */
export async function isDirect(db: Database): Promise<boolean> {
  const answer = await db.execute(sql`select pg_backend_pid()`);
  const [row, { state }] = [
    ...(answer as [Answer]),
    answer as unknown as { state: { pid: number } },
  ] as const;
  return row.pg_backend_pid === state.pid;
}

/**
 * Finds out by trying: one connection prepares a statement, another takes the session that it had, and the
 * first runs the statement again. Where that cannot be done, what is safe is assumed.
 */
export async function probePooler(url: string): Promise<Pooler> {
  const open = () =>
    postgres(serverUrl(url), { max: 1, fetch_types: false, connect_timeout: 10, onnotice() {} });
  const [first, second] = [open(), open()];
  try {
    // In a transaction, since the driver prepares again by itself what is gone outside of one.
    const run = () => first.begin((tx) => pidOf(tx));
    const before = await run();
    const tried = second.begin(async (tx) => {
      const [{ pg_backend_pid: taken } = { pg_backend_pid: before }] = await tx<
        Answer[]
      >`select pg_backend_pid()`;
      const after = await Promise.race([run(), sleep(PATIENCE_MS, undefined, { ref: false })]);
      return (
        after !== undefined && { sharesSessions: taken === before || after !== before, keepsStatements: true }
      );
    });
    return (await tried) || TRANSACTION_POOLER;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError)) throw error;
    return TRANSACTION_POOLER;
  } finally {
    await Promise.all([first, second].map((one) => one.end({ timeout: 1 })));
  }
}

interface Answer {
  pg_backend_pid: number;
}

async function pidOf(tx: postgres.TransactionSql): Promise<number | undefined> {
  const [row] = await tx<Answer[]>`select pg_backend_pid() where ${1}::int = 1`;
  return row?.pg_backend_pid;
}

/** Of the client alone: the addresses that providers give name these, and the server would refuse them. */
const OF_CLIENT = /^(channel_binding|pgbouncer)=/;

/** The address of a server as the driver may have it, which hands on to the server what it does not know. */
export function serverUrl(url: string): string {
  const [before = '', after] = url.split(/\?(.*)/s);
  if (after === undefined) return url;
  const kept = after.split('&').filter((parameter) => !OF_CLIENT.test(parameter));
  return kept.length > 0 ? `${before}?${kept.join('&')}` : before;
}
