import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Database } from '@/db/database';
import { writeExport } from '../../exports/write-export';
import { withFile } from '../../file-problem';
import { countChangedRecords } from '../../sync/reconcile/count-changed';
import { proposalsCsv } from '../../sync/staff/proposals-csv';
import { countLinks } from '../../sync/staff/stripe-customer-queries';
import {
  countUnconfirmedLinks,
  readUnconfirmedLinks,
  reasonOf,
  type UnconfirmedLink,
} from '../../sync/staff/unconfirmed-links';
import type { Terminal } from '../command';
import { textTable } from '../text-table';

/** Of those without a customer so many are shown; all of them stand in the file. */
const SHOWN = 20;

/** What a run made and changed, how Stripe's customers are linked, and who of them is not. */
export async function printSummary(
  db: Database,
  runId: number,
  { print }: Pick<Terminal, 'print'>,
): Promise<void> {
  const records = (await countChangedRecords(db, runId)).map(({ entity, created, changed, reported }) => [
    entity.replaceAll('_', ' '),
    ...[created, changed, reported].map(String),
  ]);
  if (records.length > 0) print(`\n${textTable(['Records', 'New', 'Changed', 'To look at'], records)}\n`);
  const { staff, number, email, created } = await countLinks(db);
  print(
    `Stripe customers: ${number} linked by customer number, ${staff} by staff; ${email} by e-mail address, not confirmed; for ${created} a customer was created.`,
  );
  const { all, clear } = await countUnconfirmedLinks(db);
  if (all === 0) return;
  const { value: first } = await readUnconfirmedLinks(db).next();
  const shown: UnconfirmedLink[] = (first ?? []).slice(0, SHOWN);
  print(`\n${textTable(['Not linked', 'E-mail', 'Name', 'Proposed', 'Why'], shown.map(toCells))}\n`);
  if (all > shown.length) print(`… and ${all - shown.length} more: --proposals FILE.csv writes all of them.`);
  if (clear === 0) return;
  print(
    `${clear} have the e-mail address of exactly one customer: staff confirm them on the page Links to confirm, or --link-by-email does.`,
  );
}

const toCells = (link: UnconfirmedLink) => [
  link.stripe_customer_id,
  link.email ?? '–',
  link.name || '–',
  link.to_number ?? '–',
  reasonOf(link),
];

/** @throws StartError where no file could be written in the folder: better told before a long run than after it */
export async function requireFolder(file: string, { cwd }: Pick<Terminal, 'cwd'>): Promise<void> {
  const folder = dirname(resolve(cwd, file));
  await withFile(folder, () => access(folder, constants.W_OK));
}

/** Writes who is not linked for sure, to be completed and given back. */
export async function writeProposals(db: Database, file: string, { print, cwd }: Terminal): Promise<void> {
  const toItsEnd = new AbortController().signal;
  await writeExport(resolve(cwd, file), proposalsCsv(db), toItsEnd);
  print(`${file} has all of them: check customer_number, and give it back with --link ${file}.`);
}
