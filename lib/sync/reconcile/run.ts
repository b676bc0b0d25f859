import { and, desc, eq, isNull, lte } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  reconciliationChanges,
  reconciliationFailures,
  reconciliationRuns,
  reconciliationSeen,
} from '@/db/schema';
import { deadBefore, moveHeartbeat, type Run, type StoredRun } from './lease';

/** What an abandoned run has seen so long ago says nothing of today: it is ended, not resumed. */
const STALE_MS = 6 * 3_600_000;
/** Stripe's own listing may lag, and clocks differ: look back further than the last run began. */
const WINDOW_MARGIN_MS = 3 * 86_400_000;

export interface RunRequest {
  trigger: StoredRun['trigger'];
  startedBy: string | null;
}

/** Starts a run; the database allows one at a time. @returns the id of another process's run while it is alive */
export async function acquireRun(
  db: Database,
  now: Date,
  { trigger, startedBy }: RunRequest,
  hasStripe: boolean,
): Promise<Run | { runningId: number }> {
  const [started] = await db
    .insert(reconciliationRuns)
    .values({
      trigger,
      started_by: startedBy,
      started_at: now,
      heartbeat_at: now,
      stripe_skipped: !hasStripe,
      window_from: await windowStart(db),
    })
    .onConflictDoNothing()
    .returning();
  if (started) return toRun(started);
  const [running] = await db
    .select()
    .from(reconciliationRuns)
    .where(eq(reconciliationRuns.status, 'running'));
  if (!running) return acquireRun(db, now, { trigger, startedBy }, hasStripe); // it ended just now
  const isDead = running.heartbeat_at < deadBefore(now);
  if (isDead && running.started_at.getTime() < now.getTime() - STALE_MS) {
    await moveHeartbeat(db, running.id, running.heartbeat_at, {
      status: 'failed',
      finished_at: now,
      error_code: 'abandoned',
    });
    return acquireRun(db, now, { trigger, startedBy }, hasStripe);
  }
  const taken = isDead
    ? await moveHeartbeat(db, running.id, running.heartbeat_at, { heartbeat_at: now })
    : undefined;
  return taken ? resumeRun(db, taken) : { runningId: running.id };
}

/** What its process changed after the last checkpoint is logged, but was not counted. */
async function resumeRun(db: Database, row: StoredRun): Promise<Run> {
  const run = toRun(row);
  const ofRun = eq(reconciliationChanges.run_id, run.id);
  run.counts.changes_count = await db.$count(reconciliationChanges, ofRun);
  return run;
}

export async function countFailures(db: Database, run: Run): Promise<number> {
  return db.$count(
    reconciliationFailures,
    and(eq(reconciliationFailures.run_id, run.id), isNull(reconciliationFailures.resolved_at)),
  );
}

/** @returns false where another process took the run over, which will finish it */
export async function finishRun(
  db: Database,
  run: Run,
  now: Date,
  status: 'completed' | 'completed_with_errors' | 'failed',
): Promise<boolean> {
  const ended = await moveHeartbeat(db, run.id, run.heartbeatAt, {
    ...run.counts,
    status,
    error_code: run.errorCode,
    phase: 'done',
    cursor: null,
    finished_at: now,
    heartbeat_at: now,
  });
  if (!ended) return false;
  // Of earlier runs, too, whose processes did not come to it.
  await db.delete(reconciliationSeen).where(lte(reconciliationSeen.run_id, run.id));
  return true;
}

/** Null: no run has read all of Stripe's lists yet, so that all of history is looked at. */
async function windowStart(db: Database): Promise<Date | null> {
  const [last] = await db
    .select({ started_at: reconciliationRuns.started_at })
    .from(reconciliationRuns)
    .where(eq(reconciliationRuns.lists_completed, true))
    .orderBy(desc(reconciliationRuns.started_at))
    .limit(1);
  return last ? new Date(last.started_at.getTime() - WINDOW_MARGIN_MS) : null;
}

function toRun(row: StoredRun): Run {
  const { objects_checked, changes_count, failures_count } = row;
  return {
    id: row.id,
    windowFrom: row.window_from,
    cursor: row.cursor,
    counts: { objects_checked, changes_count, failures_count },
    errorCode: row.error_code,
    deniedCode: row.denied_code,
    heartbeatAt: row.heartbeat_at,
  };
}
