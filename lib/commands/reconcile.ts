import { DATABASE_VARIABLES } from '../env-variables';
import type { Runtime } from '../runtime';
import { beginDryRun } from '../sync/reconcile/dry-run';
import {
  type Progress,
  type ReconcileResult,
  reconcile as runReconciliation,
} from '../sync/reconcile/reconcile';
import { listRunChanges, listRunFailures, type RunChange } from '../sync/reconcile/run-queries';
import { syncDeps } from '../sync/sync-deps';
import { command, type Terminal } from './command';
import { ProgressBar } from './progress-bar';
import { readArguments } from './read-arguments';
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
  variables: [
    ...DATABASE_VARIABLES,
    'APP_TIMEZONE',
    'LINK_BY_EMAIL',
    'EVENT_RETENTION_DAYS',
    'STRIPE_SECRET_KEY',
    'STRIPE_API_BASE',
    'LOG_LEVEL',
  ],
  read(args) {
    const { values } = readArguments(args, { usage: USAGE, options: { 'dry-run': { type: 'boolean' } } });
    return { dryRun: values['dry-run'] ?? false };
  },
  isDryRun: ({ dryRun }) => dryRun,
  async run({ dryRun }, runtime, terminal) {
    if (dryRun) await beginDryRun(runtime);
    const run = await runToTheEnd(runtime, terminal);
    if (run.alreadyRunning) {
      terminal.print(`Run ${run.runId} is under way already.`);
      return 0;
    }
    await report(runtime, run, dryRun, terminal);
    return run.status === 'completed' ? 0 : 1;
  },
});

async function runToTheEnd(runtime: Runtime, { user, progress }: Terminal): Promise<ReconcileResult> {
  const bar = new ProgressBar(progress);
  const onProgress = ({ number, steps, step, checked, changes }: Progress) =>
    bar.show(number, steps, step, `${checked} checked, ${changes} changed`);
  try {
    return await runReconciliation(syncDeps(runtime), { trigger: 'cli', startedBy: user, onProgress });
  } finally {
    bar.end();
  }
}

async function report(
  { db, stripe }: Runtime,
  run: ReconcileResult,
  dryRun: boolean,
  { print }: Terminal,
): Promise<void> {
  const changes: RunChange[] = [];
  for (let page = 1; changes.length < Math.min(run.changes, MAX_LISTED); page += 1) {
    const { data } = await listRunChanges(db, run.runId, { page, per_page: 100 });
    if (data.length === 0) break;
    changes.push(...data);
  }
  if (changes.length > 0) print(`${textTable(HEADINGS, changes.map(toCells))}\n`);
  if (run.changes > changes.length) print(`… and ${run.changes - changes.length} more.`);
  for (const { object, stripe_id, error_code } of await listRunFailures(db, run.runId)) {
    print(`Not compared: ${object} ${stripe_id} (${error_code})`);
  }
  if (!stripe) print('STRIPE_SECRET_KEY is not set: only our own data was checked.');
  const what = dryRun ? 'Dry run, nothing was written' : `Run ${run.runId}`;
  print(
    `${what}, ${run.status.replaceAll('_', ' ')}: ${run.checked} checked, ${run.changes} changed, ${run.failures} failed.`,
  );
}

const HEADINGS = ['Entity', 'ID', 'Stripe ID', 'Field', 'Before', 'After', 'Outcome'];

function toCells({ entity, entity_id, stripe_id, field, before, after, outcome }: RunChange): string[] {
  return [entity, String(entity_id ?? ''), stripe_id ?? '', field, before ?? '–', after ?? '–', outcome];
}
