import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Database } from '@/db/database';
import { commandActor } from '../audit/audit-log';
import { RECONCILIATION_VARIABLES } from '../env';
import { StartError, withFile } from '../errors';
import { writeExport } from '../exports/export-csv';
import { readLinks } from '../imports/read-links';
import type { Runtime } from '../runtime';
import { countChangedRecords } from '../sync/reconcile/changes';
import type { ReconcileResult } from '../sync/reconcile/reconcile';
import { getRun, untilOver } from '../sync/reconcile/run';
import { beginDryRun, requireAccount } from '../sync/reconcile/start';
import { linkByEmail, linkByNumber } from '../sync/staff/link-stripe-customer';
import {
  countLinks,
  countUnconfirmedLinks,
  proposalsCsv,
  readUnconfirmedLinks,
  reasonOf,
  type UnconfirmedLink,
} from '../sync/staff/stripe-customers';
import { type SyncDeps, syncDeps } from '../sync/sync-deps';
import { command, FLAG, ProgressBar, STOPPED, TEXT, type Terminal, textTable } from './command';
import { printResult, runReconciliation } from './reconcile';

/** Task of the command: read everything from Stripe, or link Stripe customers as listed in a file. */
type StripeTask =
  | { task: 'read'; dryRun: boolean; proposals: string | undefined; linkByEmail: boolean }
  | { task: 'link'; file: string };

/** Imports records from Stripe, and links Stripe customers to customers. */
export const importStripe = command({
  usage: [
    'Usage: npm run -s import -- stripe [--dry-run | [--link-by-email] [--proposals FILE.csv]]',
    '       npm run -s import -- stripe --link FILE.csv',
    'Imports from Stripe, or continues a stopped import, and prints the Stripe customers that could not be linked.',
    '--dry-run        shows what would change and writes nothing',
    '--link-by-email  links each Stripe customer whose e-mail address exactly one customer has',
    '--proposals      writes a file of the Stripe customers that are not linked, each with a proposed customer',
    '--link           links the Stripe customer of each row of that file to its customer_number; check the file first',
  ],
  variables: RECONCILIATION_VARIABLES,
  options: { 'dry-run': FLAG, 'link-by-email': FLAG, proposals: TEXT, link: TEXT },
  positionals: 1,
  read({ proposals, link: file, ...flags }): StripeTask {
    const { 'dry-run': dryRun = false, 'link-by-email': linkByEmail = false } = flags;
    const links = linkByEmail || proposals !== undefined;
    if (file === undefined) {
      if (!dryRun || !links) return { task: 'read', dryRun, proposals, linkByEmail };
      throw new StartError([
        '--dry-run cannot be combined with other options: it links no customers and writes no file.',
      ]);
    }
    if (!dryRun && !links) return { task: 'link', file };
    throw new StartError([
      '--link cannot be combined with other options: it only links the rows of its file.',
    ]);
  },
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
        : 'Stopped: the changes so far are kept. Run the same command again to do the rest, unless a running server does it first.',
    );
    return STOPPED;
  },
});

async function readAndLink(
  { dryRun, linkByEmail, proposals }: Extract<StripeTask, { task: 'read' }>,
  runtime: Runtime,
  terminal: Terminal,
): Promise<ImportOutcome> {
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
    const unlinked = linkByEmail ? ' No customers were linked by e-mail address.' : '';
    terminal.print(
      `Not everything at Stripe could be read (${error_code}). Run the same command again later to do the rest.${unlinked}`,
    );
  }
  // Do not link by e-mail address after a failed run. It left lists unread, and they may contain customer numbers, which
  // take precedence over e-mail addresses.
  const linked = linkByEmail && !hasFailed ? await confirmByEmail(deps, terminal) : 'all';
  if (linked === 'stopped') return linked;
  await printSummary(db, run.runId, terminal);
  if (proposals !== undefined) await writeProposals(db, proposals, terminal);
  return run.status === 'completed' ? linked : 'in part';
}

/**
 * Runs a reconciliation to its end. If another process holds a run, waits until the lease has expired, and continues
 * the run.
 *
 * @returns null if the run was stopped
 * @throws StartError if the other process is alive
 */
async function readAll(runtime: Runtime, terminal: Terminal): Promise<ReconcileResult | null> {
  const { signal, progress } = terminal;
  const printStop = () => progress.write('\nStopping after this object …\n');
  signal.addEventListener('abort', printStop);
  try {
    for (;;) {
      const run = await runReconciliation(runtime, terminal, { signal, isAccountKnown: true });
      if (!run.alreadyRunning) return run.status === 'stopped' ? null : run;
      const isOver = await untilOver(runtime, run.runId, signal, (seconds) =>
        progress.write(
          `Run ${run.runId} is under way. If it makes no progress, this command continues it in ${seconds} s …\n`,
        ),
      );
      if (signal.aborted) return null;
      if (!isOver) {
        throw new StartError([`Run ${run.runId} is already under way: try again when it has ended.`]);
      }
    }
  } finally {
    signal.removeEventListener('abort', printStop);
  }
}

type ImportOutcome = 'all' | 'in part' | 'stopped';

const ACTOR = commandActor('import');

/** Links the Stripe customers that `linkByEmail` finds, and prints refused links. */
async function confirmByEmail(deps: SyncDeps, terminal: Terminal): Promise<ImportOutcome> {
  const { print, progress, signal } = terminal;
  const counts = { linked: 0, refused: 0 };
  const { clear } = await countUnconfirmedLinks(deps.db);
  const bar = new ProgressBar(progress);
  await linkByEmail(deps, ACTOR, signal, (results) => {
    bar.end();
    for (const { stripeCustomerId, refusal } of results) {
      counts[refusal === null ? 'linked' : 'refused'] += 1;
      if (refusal !== null) print(`${stripeCustomerId}: ${refusal}`);
    }
    bar.show(counts.linked + counts.refused, clear, 'links by e-mail address', '');
  });
  bar.end();
  print(`By e-mail address: ${counts.linked} linked, ${counts.refused} refused.`);
  return signal.aborted ? 'stopped' : counts.refused > 0 ? 'in part' : 'all';
}

/** Links the Stripe customers listed in a file. A refused row does not affect the others. */
async function linkFile(deps: SyncDeps, file: string, terminal: Terminal): Promise<ImportOutcome> {
  const { print, signal, cwd } = terminal;
  const counts = { linked: 0, already: 0, empty: 0, refused: 0 };
  const refuse = (line: number, problem: string) => {
    counts.refused += 1;
    print(`line ${line}: ${problem}`);
  };
  for await (const rows of readLinks(resolve(cwd, file))) {
    if (signal.aborted) break;
    const links = rows.flatMap((row) => {
      if ('problem' in row) refuse(row.line, row.problem);
      else if (row.customer_number === '') counts.empty += 1;
      else return row;
      return [];
    });
    for (const result of await linkByNumber(deps, ACTOR, links)) {
      if (result.outcome === 'refused') refuse(result.link.line, result.refusal);
      else counts[result.outcome] += 1;
    }
  }
  const { linked, already, empty, refused } = counts;
  print(
    `${file}: ${linked} linked, ${already} linked before, ${empty} without a customer_number, ${refused} refused.`,
  );
  return signal.aborted ? 'stopped' : refused > 0 ? 'in part' : 'all';
}

/** Maximum number of unlinked Stripe customers to print. The file of proposals contains all of them. */
const MAX_PRINTED = 20;

/** Prints the changes of a run, the number of linked Stripe customers, and the unlinked Stripe customers. */
async function printSummary(db: Database, runId: number, { print }: Pick<Terminal, 'print'>): Promise<void> {
  const records = (await countChangedRecords(db, runId)).map(({ entity, created, changed, reported }) => [
    entity.replaceAll('_', ' '),
    ...[created, changed, reported].map(String),
  ]);
  if (records.length > 0) print(`\n${textTable(['Records', 'New', 'Changed', 'To look at'], records)}\n`);
  const { staff, number, email, created } = await countLinks(db);
  print(
    `Stripe customers: ${number} linked by customer number, ${staff} by staff; ${email} by e-mail address, not confirmed; ${created} as new customers.`,
  );
  const { all, clear } = await countUnconfirmedLinks(db);
  if (all === 0) return;
  const { value: first } = await readUnconfirmedLinks(db).next();
  const shown: UnconfirmedLink[] = (first ?? []).slice(0, MAX_PRINTED);
  print(`\n${textTable(['Not linked', 'E-mail', 'Name', 'Proposed', 'Why'], shown.map(toCells))}\n`);
  if (all > shown.length) print(`… and ${all - shown.length} more: --proposals FILE.csv writes all of them.`);
  if (clear === 0) return;
  print(
    `Not linked, with the e-mail address of exactly one customer: ${clear}. Confirm them on the page Links to confirm, or with --link-by-email.`,
  );
}

const toCells = (link: UnconfirmedLink) => [
  link.stripe_customer_id,
  link.email ?? '–',
  link.name || '–',
  link.to_number ?? '–',
  reasonOf(link),
];

/** Checks before a long run that the file's folder is writable. @throws StartError if it is not */
async function requireFolder(file: string, { cwd }: Pick<Terminal, 'cwd'>): Promise<void> {
  const folder = dirname(resolve(cwd, file));
  await withFile(folder, () => access(folder, constants.W_OK));
}

/** Writes a file with all unconfirmed links. Staff complete it, and pass it to `--link`. */
async function writeProposals(db: Database, file: string, { print, cwd }: Terminal): Promise<void> {
  const toItsEnd = new AbortController().signal;
  await writeExport(resolve(cwd, file), proposalsCsv(db), toItsEnd);
  print(
    `${file} contains all of them: check the column customer_number, then import the file with --link ${file}.`,
  );
}
