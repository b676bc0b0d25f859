import { Cron } from 'croner';
import { sql } from 'drizzle-orm';
import { type Database, pgErrorCode, rows } from '@/db/database';
import type { Logger } from '../log';

/** 03:40 every day; Vercel has the same line in vercel.json, and means UTC. */
const DAILY = '40 3 * * *';
/** A day, and time for a run to have begun late. */
const OVERDUE_HOURS = 25;

interface ScheduleDeps {
  db: Database;
  log: Logger;
  now(): Date;
  /** In which the hour is meant; null: in the machine's own. */
  timeZone: string | null;
}

/**
 * Runs the daily reconciliation of a server of our own: every night, and at once where the last run
 * is more than 25 hours ago. A run that fails is logged and does not end the schedule.
 *
 * @param reconcile keeps to one run at a time by itself
 */
export async function startSchedule(
  deps: ScheduleDeps,
  reconcile: () => Promise<unknown>,
): Promise<{ stop(): void }> {
  const run = async () => {
    await reconcile().catch((error: unknown) => logFailure(deps, error));
  };
  const job = new Cron(DAILY, { unref: true, ...(deps.timeZone && { timezone: deps.timeZone }) }, run);
  // The server does not wait for the run that it missed.
  const overdue = await isOverdue(deps).catch((error: unknown) => logFailure(deps, error));
  if (overdue) void run();
  return { stop: () => job.stop() };
}

async function isOverdue({ db, now }: ScheduleDeps): Promise<boolean> {
  const [found] = await rows<{ recent: boolean }>(
    db,
    sql`select exists (
      select from reconciliation_runs
      where started_at > ${now().toISOString()}::timestamptz - ${OVERDUE_HOURS} * interval '1 hour'
    ) as recent`,
  );
  return found?.recent === false;
}

function logFailure({ log }: ScheduleDeps, error: unknown): void {
  // Never the driver's message: it holds the parameters.
  const name = error instanceof Error ? error.name : typeof error;
  log.error({ error: name, code: pgErrorCode(error) }, 'scheduled reconciliation failed');
}
