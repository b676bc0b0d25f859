import type { Runtime } from '../runtime';
import type { ReconcileResult } from '../sync/reconcile/reconcile';
import { type Progress, reconcile } from '../sync/reconcile/reconcile';
import { listRunFailures } from '../sync/reconcile/run-queries';
import { syncDeps } from '../sync/sync-deps';
import type { Terminal } from './command';
import { ProgressBar } from './progress-bar';

/** One reconciliation run of a command, with how far it is. @param signal stops it behind a page */
export async function runReconciliation(
  runtime: Runtime,
  { user, progress }: Terminal,
  signal?: AbortSignal,
): Promise<ReconcileResult> {
  const bar = new ProgressBar(progress);
  const onProgress = ({ number, steps, step, checked, changes }: Progress) =>
    bar.show(number, steps, step, `${checked} checked, ${changes} changed`);
  try {
    const options = { trigger: 'cli', startedBy: user, onProgress, ...(signal && { signal }) } as const;
    return await reconcile(syncDeps(runtime), options);
  } finally {
    bar.end();
  }
}

/** The objects that a run could not bring in sync, each with its outcome. */
export async function printResult(
  { db }: Pick<Runtime, 'db'>,
  { runId, status, checked, changes, failures }: ReconcileResult,
  dryRun: boolean,
  { print }: Pick<Terminal, 'print'>,
): Promise<void> {
  for (const { object, stripe_id, error_code } of await listRunFailures(db, runId)) {
    print(`Not compared: ${object} ${stripe_id} (${error_code})`);
  }
  const what = dryRun ? 'Dry run, nothing was written' : `Run ${runId}`;
  print(
    `${what}, ${status.replaceAll('_', ' ')}: ${checked} checked, ${changes} changed, ${failures} failed.`,
  );
}
