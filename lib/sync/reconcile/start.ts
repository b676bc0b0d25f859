import { waitUntil } from '@vercel/functions';
import { Cron } from 'croner';
import { sql } from 'drizzle-orm';
import { type Database, pgErrorCode, rows } from '@/db/database';
import type { Env } from '../../env';
import { type Logger, stackOf } from '../../log';
import { syncDeps } from '../sync-deps';
import { performRun } from './reconcile';
import { acquireRun, deadBefore, type Run, type RunRequest } from './run';

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

type Runtime = Parameters<typeof syncDeps>[0] &
  Parameters<typeof runDeadline>[0] &
  Parameters<typeof continueRun>[0];

export async function startReconciliation(
  runtime: Runtime,
  request: RunRequest,
): Promise<{ runId: number; alreadyRunning: boolean }> {
  const { db, now, stripe } = runtime;
  const run = await acquireRun(db, now(), request, stripe !== null);
  if ('runningId' in run) return { runId: run.runningId, alreadyRunning: true };
  waitUntil(goOn(runtime, run));
  return { runId: run.id, alreadyRunning: false };
}

async function goOn(runtime: Runtime, run: Run): Promise<void> {
  try {
    const { status } = await performRun(syncDeps(runtime), run, runDeadline(runtime));
    if (status === 'stopped') continueRun(runtime);
  } catch (error) {
    runtime.log.error(
      { run: run.id, code: pgErrorCode(error), stack: stackOf(error) },
      'reconciliation ended early',
    );
  }
}

/** The part of Vercel's 300 s that remains after a page that has begun is done. */
const BUDGET_MS = 240_000;
/** Long enough for the request to arrive. The run goes on without its caller. */
const HANDOVER_MS = 10_000;

export function runDeadline({ env, now }: { env: Pick<Env, 'vercel'>; now(): Date }): { deadline?: Date } {
  return env.vercel ? { deadline: new Date(now().getTime() + BUDGET_MS) } : {};
}

/** If the request does not get through, the next run resumes this one. */
export function continueRun({ env, log }: { env: Pick<Env, 'publicUrl' | 'cronSecret'>; log: Logger }): void {
  const asked = fetch(`${env.publicUrl}/api/cron/reconcile`, {
    headers: { Authorization: `Bearer ${env.cronSecret}` },
    signal: AbortSignal.timeout(HANDOVER_MS),
  });
  waitUntil(
    asked.then(
      ({ status, ok }) => ok || log.error({ status }, 'reconciliation was refused its continuation'),
      (error: unknown) => {
        const isUnderWay = error instanceof Error && error.name === 'TimeoutError';
        if (!isUnderWay) log.error('reconciliation could not go on: the next run takes it up');
      },
    ),
  );
}
