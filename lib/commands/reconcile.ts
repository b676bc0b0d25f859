import { RECONCILIATION_VARIABLES } from '../env-variables';
import type { Runtime } from '../runtime';
import { beginDryRun } from '../sync/reconcile/dry-run';
import type { ReconcileResult } from '../sync/reconcile/reconcile';
import { listRunChanges, type RunChange } from '../sync/reconcile/run-queries';
import { command, type Terminal } from './command';
import { readArguments } from './read-arguments';
import { printResult, runReconciliation } from './run-reconciliation';
import { textTable } from './text-table';

const MAX_LISTED = 1000;
const USAGE = [
  'Usage: npm run -s reconcile [-- --dry-run]',
  'Compares everything with Stripe and repairs it. --dry-run shows what it would change, and writes nothing.',
];

interface Wanted {
  dryRun: boolean;
}

/** The comparison with Stripe, now. */
export const reconcile = command<Wanted>({
  usage: USAGE,
  variables: RECONCILIATION_VARIABLES,
  read(args) {
    const { values } = readArguments(args, { usage: USAGE, options: { 'dry-run': { type: 'boolean' } } });
    return { dryRun: values['dry-run'] ?? false };
  },
  isDryRun: ({ dryRun }) => dryRun,
  async run({ dryRun }, runtime, terminal) {
    if (dryRun) await beginDryRun(runtime);
    const run = await runReconciliation(runtime, terminal);
    if (run.alreadyRunning) {
      terminal.print(`Run ${run.runId} is under way already.`);
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
