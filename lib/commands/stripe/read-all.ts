import { StartError } from '../../errors';
import type { Runtime } from '../../runtime';
import type { ReconcileResult } from '../../sync/reconcile/reconcile';
import { untilOver } from '../../sync/reconcile/until-over';
import type { Terminal } from '../command';
import { runReconciliation } from '../run-reconciliation';

/**
 * Runs a new run, or continues one whose process died, to its end.
 *
 * @returns null if it was stopped
 * @throws StartError while another process has a run
 */
export async function readAll(runtime: Runtime, terminal: Terminal): Promise<ReconcileResult | null> {
  const { signal, progress } = terminal;
  const tellStop = () => progress.write('\nStopping, once this page is done …\n');
  signal.addEventListener('abort', tellStop);
  try {
    for (;;) {
      const run = await runReconciliation(runtime, terminal, signal);
      if (!run.alreadyRunning) return run.status === 'stopped' ? null : run;
      const isOver = await untilOver(runtime, run.runId, signal, (seconds) =>
        progress.write(
          `Run ${run.runId} is under way. Unless it goes on, it is taken up in ${seconds} s …\n`,
        ),
      );
      if (signal.aborted) return null;
      if (!isOver) {
        throw new StartError([`Run ${run.runId} is under way already: try again when it has ended.`]);
      }
    }
  } finally {
    signal.removeEventListener('abort', tellStop);
  }
}
