import { Cron } from 'croner';
import { sql } from 'drizzle-orm';
import { type Database, pgErrorCode, rows } from '@/db/database';
import type { Logger } from '../../log';
import { deadBefore } from './lease';

/** 03:40 every day; Vercel has the same line in vercel.json, and means UTC. */
const DAILY = '40 3 * * *';
/** Every two minutes: a run whose process died is not left lying until the night. */
const POLL = '*/2 * * * *';
/** A day, and time for a run to have begun late. */
const OVERDUE_HOURS = 25;

interface ScheduleDeps {
  db: Database;
  log: Logger;
  now(): Date;
  /** In which the hour is meant; null: in the machine's own. */
  timeZone: string | null;
}

/** Also runs at once if the last run is too long ago. A run that fails does not end the schedule. */
export async function startSchedule(
  deps: ScheduleDeps,
  reconcile: () => Promise<unknown>,
): Promise<{ stop(): void }> {
  const run = async () => {
    await reconcile().catch((error: unknown) => logFailure(deps, error));
  };
  const daily = new Cron(DAILY, { unref: true, ...(deps.timeZone && { timezone: deps.timeZone }) }, run);
  // The server does not wait for the run that it missed.
  const found = await poll(deps);
  if (found?.recent === false || found?.dead) void run();
  const polling = new Cron(POLL, { unref: true, protect: true }, async () => {
    if ((await poll(deps))?.dead) void run();
  });
  return {
    stop: () => {
      daily.stop();
      polling.stop();
    },
  };
}

/** @returns whether a run began lately and whether one is dead; undefined if the database does not tell */
async function poll(deps: ScheduleDeps): Promise<{ recent: boolean; dead: boolean } | undefined> {
  const now = deps.now();
  try {
    const [found] = await rows<{ recent: boolean; dead: boolean }>(
      deps.db,
      sql`select
        exists (select from reconciliation_runs
          where started_at > ${now.toISOString()}::timestamptz - ${OVERDUE_HOURS} * interval '1 hour') as recent,
        exists (select from reconciliation_runs
          where status = 'running' and heartbeat_at < ${deadBefore(now).toISOString()}::timestamptz) as dead`,
    );
    return found;
  } catch (error) {
    logFailure(deps, error);
    return undefined;
  }
}

function logFailure({ log }: ScheduleDeps, error: unknown): void {
  // Never the driver's message: it holds the parameters.
  const name = error instanceof Error ? error.name : typeof error;
  log.error({ error: name, code: pgErrorCode(error) }, 'scheduled reconciliation failed');
}
