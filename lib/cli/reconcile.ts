import { parseArgs } from 'node:util';
import { inheritedEnv, readEnv } from '../env';
import { StartError } from '../errors';
import { createRuntime, type Runtime } from '../runtime';
import { beginDryRun } from '../sync/dry-run';
import { type Progress, type ReconcileResult, reconcile } from '../sync/reconcile';
import { listRunChanges, listRunFailures, type RunChange } from '../sync/run-queries';
import { syncDeps } from '../sync/sync-deps';
import { ProgressBar } from './progress-bar';
import { runCommand } from './run-command';
import { textTable } from './text-table';

const MAX_LISTED = 1000;

runCommand(async () => {
  const dryRun = readArguments();
  const runtime = await createRuntime(readEnv(), { scratch: dryRun });
  try {
    if (dryRun) await beginDryRun(runtime);
    const run = await runToTheEnd(runtime);
    if (run.alreadyRunning) return console.log(`Run ${run.runId} is under way already.`);
    await report(runtime, run, dryRun);
    if (run.status !== 'completed') process.exitCode = 1;
  } finally {
    await runtime.close();
  }
});

function readArguments(): boolean {
  try {
    return parseArgs({ options: { 'dry-run': { type: 'boolean' } } }).values['dry-run'] ?? false;
  } catch (error) {
    if (error instanceof TypeError) throw new StartError(['Usage: npm run -s reconcile [-- --dry-run]']);
    throw error;
  }
}

async function runToTheEnd(runtime: Runtime): Promise<ReconcileResult> {
  const bar = new ProgressBar();
  const onProgress = ({ number, steps, step, checked, changes }: Progress) =>
    bar.show(number, steps, step, `${checked} checked, ${changes} changed`);
  try {
    return await reconcile(syncDeps(runtime), {
      trigger: 'cli',
      startedBy: inheritedEnv().USER ?? null,
      onProgress,
    });
  } finally {
    bar.end();
  }
}

async function report({ db, stripe }: Runtime, run: ReconcileResult, dryRun: boolean): Promise<void> {
  const changes: RunChange[] = [];
  for (let page = 1; changes.length < Math.min(run.changes, MAX_LISTED); page += 1) {
    const { data } = await listRunChanges(db, run.runId, { page, per_page: 100 });
    if (data.length === 0) break;
    changes.push(...data);
  }
  if (changes.length > 0) console.log(`${textTable(HEADINGS, changes.map(toCells))}\n`);
  if (run.changes > changes.length) console.log(`… and ${run.changes - changes.length} more.`);
  for (const { object, stripe_id, error_code } of await listRunFailures(db, run.runId)) {
    console.log(`Not compared: ${object} ${stripe_id} (${error_code})`);
  }
  if (!stripe) console.log('STRIPE_SECRET_KEY is not set: only our own data was checked.');
  const what = dryRun ? 'Dry run, nothing was written' : `Run ${run.runId}`;
  console.log(
    `${what}, ${run.status.replaceAll('_', ' ')}: ${run.checked} checked, ${run.changes} changed, ${run.failures} failed.`,
  );
}

const HEADINGS = ['Entity', 'ID', 'Stripe ID', 'Field', 'Before', 'After', 'Outcome'];

function toCells({ entity, entity_id, stripe_id, field, before, after, outcome }: RunChange): string[] {
  return [entity, String(entity_id ?? ''), stripe_id ?? '', field, before ?? '–', after ?? '–', outcome];
}
