import { RECONCILIATION_VARIABLES } from '../env';
import type { Runtime } from '../runtime';
import {
  reconcile as compareWithStripe,
  type Progress,
  type ReconcileResult,
} from '../sync/reconcile/reconcile';
import { listRunChanges, listRunFailures, type RunChange } from '../sync/reconcile/run';
import { beginDryRun } from '../sync/reconcile/start';
import { syncDeps } from '../sync/sync-deps';
import { command, FLAG, ProgressBar, type Terminal, textTable } from './command';

const MAX_LISTED = 1000;
/** Runs a reconciliation with Stripe, and prints the changes. */
export const reconcile = command({
  usage: [
    'Usage: npm run -s reconcile [-- --dry-run]',
    'Compares everything with Stripe and repairs the differences. --dry-run shows what it would change and writes nothing.',
  ],
  variables: RECONCILIATION_VARIABLES,
  options: { 'dry-run': FLAG },
  isDryRun: (wanted) => wanted['dry-run'] ?? false,
  async run({ 'dry-run': dryRun = false }, runtime, terminal) {
    if (dryRun) await beginDryRun(runtime);
    const run = await runReconciliation(runtime, terminal);
    if (run.alreadyRunning) {
      terminal.print(`Run ${run.runId} is already under way.`);
      return 0;
    }
    await report(runtime, run, dryRun, terminal);
    return run.status === 'completed' ? 0 : 1;
  },
});

async function report(
  { db, stripe }: Runtime,
  run: ReconcileResult,
  dryRun: boolean,
  terminal: Terminal,
): Promise<void> {
  const changes: RunChange[] = [];
  for (let page = 1; changes.length < Math.min(run.changes, MAX_LISTED); page += 1) {
    const { data } = await listRunChanges(db, run.runId, { page, per_page: 100 });
    if (data.length === 0) break;
    changes.push(...data);
  }
  if (changes.length > 0) terminal.print(`${textTable(HEADINGS, changes.map(toCells))}\n`);
  if (run.changes > changes.length) terminal.print(`… and ${run.changes - changes.length} more.`);
  if (!stripe) terminal.print('STRIPE_SECRET_KEY is not set: only our own data was checked.');
  await printResult({ db }, run, dryRun, terminal);
}

const HEADINGS = ['Entity', 'ID', 'Stripe ID', 'Field', 'Before', 'After', 'Outcome'];

function toCells({ entity, entity_id, stripe_id, field, before, after, outcome }: RunChange): string[] {
  return [entity, String(entity_id ?? ''), stripe_id ?? '', field, before ?? '–', after ?? '–', outcome];
}

/**
 * Runs a reconciliation for a command, and shows the progress.
 *
 * @param more `signal` stops the run after its current object or page; `isAccountKnown` see `ReconcileOptions`
 */
export async function runReconciliation(
  runtime: Runtime,
  { user, progress }: Terminal,
  more: { signal?: AbortSignal; isAccountKnown?: boolean } = {},
): Promise<ReconcileResult> {
  const bar = new ProgressBar(progress);
  const onProgress = ({ number, steps, step, checked, changes }: Progress) =>
    bar.show(number, steps, step, `${checked} checked, ${changes} changed`);
  try {
    const options = { trigger: 'cli', startedBy: user, onProgress, ...more } as const;
    return await compareWithStripe(syncDeps(runtime), options);
  } finally {
    bar.end();
  }
}

/**
 * Prints the objects that a run could not compare, with their error codes, and the run's totals. Reads at most 100
 * failures, and leaves out those that a later step or run has resolved.
 */
export async function printResult(
  { db }: Pick<Runtime, 'db'>,
  { runId, status, checked, changes, failures }: ReconcileResult,
  dryRun: boolean,
  { print }: Pick<Terminal, 'print'>,
): Promise<void> {
  for (const { object, stripe_id, error_code, resolved_at } of await listRunFailures(db, runId)) {
    if (!resolved_at) print(`Not compared: ${object} ${stripe_id} (${error_code})`);
  }
  const what = dryRun ? 'Dry run, nothing was written' : `Run ${runId}`;
  print(
    `${what}, ${status.replaceAll('_', ' ')}: ${checked} checked, ${changes} changed, ${failures} failed.`,
  );
}
