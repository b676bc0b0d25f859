import { setTimeout as sleep } from 'node:timers/promises';
import { and, asc, desc, eq, getTableColumns, isNull, lte, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  reconciliationChanges as changes,
  reconciliationFailures as failures,
  reconciliationSeen,
  reconciliationRuns as runs,
} from '@/db/schema';
import { AppError } from '../../errors';
import { MAX_ID, type Page, type PageRequest } from '../../page';
import { literal, readPage } from '../../page-query';
import type { SyncDeps } from '../sync-deps';

type StoredRun = typeof runs.$inferSelect;

/**
 * Time without a heartbeat after which a run counts as dead. It must be longer than the work between two heartbeats, for
 * example the five pages of a list, in which each request can take three tries of 10 s.
 */
export const LEASE_MS = 180_000;
export const deadBefore = (now: Date): Date => new Date(now.getTime() - LEASE_MS);
/** A heartbeat so far in the future is from a clock that has been set back, so it proves nothing. */
const AHEAD_MS = 3_600_000;
/** Heartbeats of a live run are between these times. */
export const aliveBetween = (now: Date): [Date, Date] => [
  deadBefore(now),
  new Date(now.getTime() + AHEAD_MS),
];
/** Heartbeats of a live run, or of one that another process should take over soon, are between these times. */
export const heardBetween = (now: Date): [Date, Date] => [deadBefore(deadBefore(now)), aliveBetween(now)[1]];

/** Returns true if the lease of a running run has expired, so that the next request takes the run over. */
export function isDead({ heartbeat_at }: Pick<StoredRun, 'heartbeat_at'>, now: Date): boolean {
  const [first, last] = aliveBetween(now);
  return heartbeat_at < first || heartbeat_at > last;
}
const HEARTBEAT_MS = 15_000;

/**
 * Returns the number of fields that a run repaired. It stops at `most`, so that frequent checks stay fast. The first
 * run does not count, because it reads all of Stripe's history. Our own invoices that became overdue do not count
 * either, because no webhook reports them.
 *
 * @param run alias of the run's row
 */
export const repairedFields = (
  run: SQL,
  most: number,
) => sql`case when ${run}.window_from is null then 0 else (
  select count(*) from (
    select from reconciliation_changes
    where run_id = ${run}.id and not (entity = 'invoice' and field = 'status' and stripe_id is null)
    limit ${most}::int
  ) as repaired)::int end`;

/** A run in progress, whose lease this process holds. */
export type Run = ReturnType<typeof toRun>;

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** Age from which a dead run is ended instead of resumed, because the objects that it has read may have changed. */
const STALE_MS = 6 * 3_600_000;
/**
 * A run's window starts this long before the start of the last run that read all lists, because Stripe's lists may lag
 * and clocks differ.
 */
const WINDOW_MARGIN_MS = 3 * 86_400_000;

export interface RunRequest {
  trigger: StoredRun['trigger'];
  startedBy: string | null;
}

/**
 * Starts a run, or resumes a dead run. The database allows one run at a time.
 *
 * @returns the run, or the id of a live run that another caller is performing
 */
export async function acquireRun(
  db: Database,
  now: Date,
  { trigger, startedBy }: RunRequest,
  deps: Pick<SyncDeps, 'stripe' | 'timeZone'>,
): Promise<Run | { runningId: number }> {
  const [started] = await db
    .insert(runs)
    .values({
      trigger,
      started_by: startedBy,
      started_at: now,
      heartbeat_at: now,
      time_zone: deps.timeZone,
      stripe_skipped: deps.stripe === null,
      window_from: await windowStart(db, now),
    })
    .onConflictDoNothing()
    .returning();
  if (started) return toRun(started);
  const [running] = await db.select().from(runs).where(eq(runs.status, 'running'));
  if (!running) return acquireRun(db, now, { trigger, startedBy }, deps); // The other run has just ended.
  const isFree = isDead(running, now);
  if (isFree && running.started_at.getTime() < now.getTime() - STALE_MS) {
    await moveHeartbeat(db, running.id, running.heartbeat_at, {
      status: 'failed',
      finished_at: now,
      error_code: 'abandoned',
    });
    return acquireRun(db, now, { trigger, startedBy }, deps);
  }
  const taken = isFree
    ? await moveHeartbeat(db, running.id, running.heartbeat_at, {
        heartbeat_at: now,
        // A run has not read everything if any of its processes had no API key.
        stripe_skipped: running.stripe_skipped || deps.stripe === null,
      })
    : undefined;
  return taken ? resumeRun(db, taken) : { runningId: running.id };
}

/**
 * Resumes a run. Counts its changes again, because changes after the last checkpoint are logged but not yet counted.
 */
async function resumeRun(db: Database, row: StoredRun): Promise<Run> {
  const run = toRun(row);
  const ofRun = eq(changes.run_id, run.id);
  run.counts.changes_count = await db.$count(changes, ofRun);
  return run;
}

/**
 * Returns the time from which a new run lists Stripe's objects. Until one run has read all lists, returns null, which
 * means all of history.
 */
async function windowStart(db: Database, now: Date): Promise<Date | null> {
  const [last] = await db
    .select({ started_at: runs.started_at })
    .from(runs)
    .where(and(eq(runs.lists_completed, true), lte(runs.started_at, now)))
    .orderBy(desc(runs.started_at))
    .limit(1);
  return last ? new Date(last.started_at.getTime() - WINDOW_MARGIN_MS) : null;
}

function toRun(row: StoredRun) {
  const { objects_checked, changes_count, failures_count } = row;
  return {
    id: row.id,
    windowFrom: row.window_from,
    /** Whether the run was without an API key at any time, so that it skipped steps. */
    stripeSkipped: row.stripe_skipped,
    /** The current step and the page within it, separated by a line break. A resumed run starts there. */
    cursor: row.cursor,
    counts: { objects_checked, changes_count, failures_count },
    /**
     * Error code of the first step that failed. The run then skips the remaining steps that need Stripe. Null if no
     * step has failed, or if Stripe only denied lists.
     */
    errorCode: row.error_code,
    /** Error code of a list that Stripe denied. Null if no list was denied. */
    deniedCode: row.denied_code,
    heartbeatAt: row.heartbeat_at,
  };
}

/** Saves a run's position and counts, and renews its lease. @throws LeaseLostError */
export async function checkpoint(
  db: Database,
  run: Run,
  now: Date,
  position: Partial<Pick<StoredRun, 'phase' | 'cursor' | 'lists_completed'>> = {},
): Promise<void> {
  const moved = await moveHeartbeat(db, run.id, run.heartbeatAt, {
    heartbeat_at: now,
    error_code: run.errorCode,
    denied_code: run.deniedCode,
    ...run.counts,
    ...position,
  });
  if (!moved) throw new LeaseLostError(`run ${run.id} was taken over`);
  run.heartbeatAt = now;
}

export async function beat(db: Database, run: Run, now: Date): Promise<void> {
  if (now.getTime() - run.heartbeatAt.getTime() >= HEARTBEAT_MS) await checkpoint(db, run, now);
}

/** How long a run has been dead when its process releases it. The next process may have a slower clock. */
const RELEASED_MS = 60_000;

/**
 * Releases the lease, so that the next call continues from the checkpoint immediately. The run counts as dead, but it is
 * not silent yet, because the next process usually takes over.
 */
export async function releaseRun(db: Database, run: Run, now: Date): Promise<void> {
  await checkpoint(db, run, new Date(deadBefore(now).getTime() - RELEASED_MS));
}

export async function countFailures(db: Database, run: Run): Promise<number> {
  return db.$count(failures, and(eq(failures.run_id, run.id), isNull(failures.resolved_at)));
}

/** Ends a run. @returns false if another process has taken over the run; that process will then end it */
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
  // Also delete rows of earlier runs, whose processes may have died before this statement.
  await db.delete(reconciliationSeen).where(lte(reconciliationSeen.run_id, run.id));
  return true;
}

/** Updates a run only if its heartbeat is still `lease`, so that only one process at a time holds the run. */
async function moveHeartbeat(db: Database, id: number, lease: Date, values: Partial<StoredRun>) {
  const [row] = await db
    .update(runs)
    .set(values)
    .where(and(eq(runs.id, id), eq(runs.status, 'running'), eq(runs.heartbeat_at, lease)))
    .returning();
  return row;
}

const {
  cursor: _,
  denied_code: __,
  created_at: ___,
  updated_at: ____,
  ...runColumns
} = getTableColumns(runs);

export type RunRow = Pick<typeof runs.$inferSelect, keyof typeof runColumns>;
export type RunChange = Omit<typeof changes.$inferSelect, 'updated_at'>;
export type RunFailure = Omit<typeof failures.$inferSelect, 'updated_at'>;

/** Lists a page of runs, the last one first. The clock may have been wrong when a run began, so the id decides. */
export async function listRuns(db: Database, request: PageRequest): Promise<Page<RunRow>> {
  return readPage(
    request,
    ({ limit, offset }) =>
      db.select(runColumns).from(runs).orderBy(desc(runs.id)).limit(limit).offset(offset),
    () => db.$count(runs),
  );
}

/** Returns a run. @throws AppError not_found */
export async function getRun(db: Database, id: number): Promise<RunRow> {
  const [run] = id > MAX_ID ? [] : await db.select(runColumns).from(runs).where(eq(runs.id, id));
  if (!run) throw new AppError('not_found', `There is no reconciliation run ${id}.`);
  return run;
}

export async function listRunChanges(
  db: Database,
  runId: number,
  request: PageRequest,
): Promise<Page<RunChange>> {
  const ofRun = eq(changes.run_id, runId);
  return readPage(
    request,
    ({ limit, offset }) =>
      db.select().from(changes).where(ofRun).orderBy(asc(changes.id)).limit(limit).offset(offset),
    () => db.$count(changes, ofRun),
  );
}

const MAX_FAILURES = 100;

export async function listRunFailures(db: Database, runId: number): Promise<RunFailure[]> {
  return db
    .select()
    .from(failures)
    .where(eq(failures.run_id, runId))
    .orderBy(asc(failures.id))
    .limit(literal(MAX_FAILURES));
}

const POLL_MS = 1000;

/**
 * Waits until a run has ended or its lease has expired.
 *
 * @param onWait function that is called once with the maximum wait in seconds, if a wait is necessary
 * @returns false if the run is still alive, or if the signal ended the wait
 */
export async function untilOver(
  { db, now }: { db: Database; now(): Date },
  runId: number,
  signal: AbortSignal,
  onWait: (seconds: number) => void,
): Promise<boolean> {
  const first = await getRun(db, runId);
  const isOver = (run: typeof first) => run.status !== 'running' || isDead(run, now());
  if (isOver(first)) return true;
  onWait(Math.ceil((first.heartbeat_at.getTime() + LEASE_MS - now().getTime()) / 1000));
  while (!signal.aborted) {
    await sleep(POLL_MS);
    const run = await getRun(db, runId);
    if (isOver(run)) return true;
    if (run.heartbeat_at.getTime() !== first.heartbeat_at.getTime()) return false;
  }
  return false;
}
