import { RECONCILIATION_VARIABLES } from '../../env-variables';
import type { Runtime } from '../../runtime';
import { beginDryRun } from '../../sync/reconcile/dry-run';
import { requireAccount } from '../../sync/reconcile/require-account';
import { getRun } from '../../sync/reconcile/run-queries';
import { syncDeps } from '../../sync/sync-deps';
import { command, STOPPED, type Terminal } from '../command';
import { printResult } from '../run-reconciliation';
import { readStripe, STRIPE_USAGE, type StripeWanted } from './arguments';
import { confirmByEmail, linkFile } from './confirm';
import { readAll } from './read-all';
import { printSummary, requireFolder, writeProposals } from './summary';

/** What is at Stripe, and whose it is. */
export const importStripe = command<StripeWanted>({
  usage: STRIPE_USAGE,
  variables: RECONCILIATION_VARIABLES,
  read: readStripe,
  isDryRun: (wanted) => wanted.task === 'read' && wanted.dryRun,
  stopsInOrder: () => true,
  async run(wanted, runtime, terminal) {
    const done =
      wanted.task === 'link'
        ? await linkFile(syncDeps(runtime), wanted.file, terminal)
        : await readAndLink(wanted, runtime, terminal);
    if (done !== 'stopped') return done === 'all' ? 0 : 1;
    terminal.print(
      wanted.task === 'read' && wanted.dryRun
        ? 'Stopped: nothing was written.'
        : 'Stopped: what was done is kept. The same command again does the rest.',
    );
    return STOPPED;
  },
});

async function readAndLink(
  { dryRun, linkByEmail, proposals }: Extract<StripeWanted, { task: 'read' }>,
  runtime: Runtime,
  terminal: Terminal,
): Promise<'all' | 'in part' | 'stopped'> {
  const { db } = runtime;
  if (proposals !== undefined) await requireFolder(proposals, terminal);
  if (dryRun) await beginDryRun(runtime);
  const deps = await requireAccount(syncDeps(runtime));
  const run = await readAll(runtime, terminal);
  if (run === null) return 'stopped';
  await printResult(runtime, run, dryRun, terminal);
  const hasFailed = run.status === 'failed';
  if (hasFailed) {
    const { error_code } = await getRun(db, run.runId);
    const unlinked = linkByEmail ? ' Nobody was linked by e-mail address.' : '';
    terminal.print(
      `Not all of Stripe could be read (${error_code}). Once it can, the same command does the rest.${unlinked}`,
    );
  }
  // What was not read may name a customer number, which says more than an e-mail address.
  const linked = linkByEmail && !hasFailed ? await confirmByEmail(deps, terminal) : 'all';
  if (linked === 'stopped') return linked;
  await printSummary(db, run.runId, terminal);
  if (proposals !== undefined) await writeProposals(db, proposals, terminal);
  return run.status === 'completed' ? linked : 'in part';
}
