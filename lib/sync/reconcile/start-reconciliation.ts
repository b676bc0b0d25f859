import { waitUntil } from '@vercel/functions';
import { pgErrorCode } from '@/db/database';
import { stackOf } from '../../log';
import { syncDeps } from '../sync-deps';
import { continueRun, runDeadline } from './continue-run';
import type { Run } from './lease';
import { performRun } from './reconcile';
import { acquireRun, type RunRequest } from './run';

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
