import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { isServer, writersOf } from '@/db/transaction';

/** The values of the gauges that come from the database, read at each scrape. */
export interface Measured {
  sizeBytes: number;
  /** Connections of all our processes by state, such as `active` and `idle`. Empty for the embedded database. */
  connections: [state: string, count: number][];
  /** Writes of this process that run or wait for their turn. Null for the embedded database. */
  writers: { running: number; waiting: number } | null;
  failedEvents: number;
  unmatchedEvents: number;
  /** Seconds since the latest run started. Null before the first run. */
  runAge: number | null;
  isRunning: boolean;
  /** The latest run that has ended. Null before the first one. */
  ended: { seconds: number; changes: number; failures: number; ok: boolean } | null;
}

type Found = {
  size: number;
  failed: number;
  unmatched: number;
  age: number | null;
  running: boolean;
  seconds: number | null;
  changes: number | null;
  failures: number | null;
  ok: boolean | null;
};

/** Reads the values of all gauges with one query, and the connections of a server with a second one. */
export async function measureDatabase(db: Database, now: Date): Promise<Measured> {
  const [found] = await rows<Found>(
    db,
    sql`
      select pg_database_size(current_database())::float8 as size,
        (select count(*) from stripe_events where outcome = 'failed')::int as failed,
        (select count(*) from stripe_events where outcome = 'unmatched')::int as unmatched,
        (select extract(epoch from ${now.toISOString()}::timestamptz - started_at)::float8
          from reconciliation_runs order by started_at desc, id desc limit 1) as age,
        exists (select from reconciliation_runs where status = 'running') as running,
        ended.seconds, ended.changes, ended.failures, ended.ok
      from (select) as one
      left join lateral (
        select extract(epoch from finished_at - started_at)::float8 as seconds, changes_count as changes,
          failures_count as failures, status = 'completed' as ok
        from reconciliation_runs where status <> 'running' order by started_at desc, id desc limit 1
      ) as ended on true`,
  );
  if (!found) throw new Error('a query without from answers one row');
  const { seconds, changes, failures, ok } = found;
  return {
    sizeBytes: found.size,
    connections: isServer(db) ? await countConnections(db) : [],
    writers: writersOf(db),
    failedEvents: found.failed,
    unmatchedEvents: found.unmatched,
    runAge: found.age,
    isRunning: found.running,
    ended: ok === null ? null : { seconds: seconds ?? 0, changes: changes ?? 0, failures: failures ?? 0, ok },
  };
}

async function countConnections(db: Database): Promise<[string, number][]> {
  const found = await rows<{ state: string; count: number }>(
    db,
    sql`select coalesce(state, 'unknown') as state, count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'w5t' group by 1 order by 1`,
  );
  return found.map(({ state, count }) => [state, count]);
}
