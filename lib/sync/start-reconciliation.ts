import { waitUntil } from '@vercel/functions';
import { pgErrorCode } from '@/db/database';
import { performRun } from './reconcile';
import { acquireRun, type RunRequest } from './run';
import type { SyncDeps } from './sync-deps';
import { syncDeps } from './sync-deps';

/** Starts a run and lets it go on by itself; whoever started it follows it by its id. */
export async function startReconciliation(
  runtime: Parameters<typeof syncDeps>[0],
  request: RunRequest,
): Promise<{ runId: number; alreadyRunning: boolean }> {
  const deps: SyncDeps = syncDeps(runtime);
  const run = await acquireRun(deps.db, deps.now(), request, deps.stripe !== null);
  if ('runningId' in run) return { runId: run.runningId, alreadyRunning: true };
  waitUntil(
    performRun(deps, run).catch((error: unknown) => {
      deps.log.error({ run: run.id, code: pgErrorCode(error) }, 'reconciliation ended early');
    }),
  );
  return { runId: run.id, alreadyRunning: false };
}
