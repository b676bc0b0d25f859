import { asc, count, desc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { reconciliationChanges, reconciliationFailures, reconciliationRuns } from '@/db/schema';
import { AppError } from '../../errors';
import { MAX_ID, type Page, type PageRequest } from '../../page';
import { literal, readPage } from '../../page-query';

const runs = reconciliationRuns;
const changes = reconciliationChanges;
const failures = reconciliationFailures;

const runColumns = {
  id: runs.id,
  trigger: runs.trigger,
  started_by: runs.started_by,
  status: runs.status,
  phase: runs.phase,
  started_at: runs.started_at,
  heartbeat_at: runs.heartbeat_at,
  finished_at: runs.finished_at,
  window_from: runs.window_from,
  lists_completed: runs.lists_completed,
  stripe_skipped: runs.stripe_skipped,
  objects_checked: runs.objects_checked,
  changes_count: runs.changes_count,
  failures_count: runs.failures_count,
  error_code: runs.error_code,
};

export type RunRow = Pick<typeof runs.$inferSelect, keyof typeof runColumns>;
export type RunChange = Omit<typeof changes.$inferSelect, 'updated_at'>;
export type RunFailure = Omit<typeof failures.$inferSelect, 'updated_at'>;

export async function listRuns(db: Database, request: PageRequest): Promise<Page<RunRow>> {
  return readPage(
    request,
    ({ limit, offset }) =>
      db
        .select(runColumns)
        .from(runs)
        .orderBy(desc(runs.started_at), desc(runs.id))
        .limit(limit)
        .offset(offset),
    async () => (await db.select({ total: count() }).from(runs))[0]?.total ?? 0,
  );
}

/** @throws AppError not_found */
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
    async () => (await db.select({ total: count() }).from(changes).where(ofRun))[0]?.total ?? 0,
  );
}

export const MAX_FAILURES = 100;

export async function listRunFailures(db: Database, runId: number): Promise<RunFailure[]> {
  return db
    .select()
    .from(failures)
    .where(eq(failures.run_id, runId))
    .orderBy(asc(failures.id))
    .limit(literal(MAX_FAILURES));
}
