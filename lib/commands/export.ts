import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startOfDay } from '../dates';
import { documentsOf, type Moment } from '../documents/invoice-document';
import { DATABASE_VARIABLES } from '../env';
import { StartError, withFile } from '../errors';
import { accountingCsv, type CsvForm, calendarMonth } from '../exports/accounting-csv';
import { datevFile, MAX_NAMED } from '../exports/datev';
import { EXPORT_KINDS, EXPORT_NAMES, exportCsv, writeExport } from '../exports/export-csv';
import { calendarDate } from '../fields';
import type { Runtime } from '../runtime';
import { command, FLAG, TEXT, type Terminal } from './command';

/**
 * Exports records and accounting data as CSV to stdout or into files, a posting batch for DATEV into a file, and the
 * documents of invoices and credit notes into a folder.
 */
export const exportCommand = command({
  usage: [
    `Usage: npm run -s export -- ${EXPORT_NAMES.join('|')} [--since DATE] [--out FILE]`,
    '       npm run -s export -- all DIR [--since DATE]',
    '       npm run -s export -- accounting --month 2026-10 [--semicolons] [--out FILE]',
    '       npm run -s export -- datev --month 2026-10 --out FILE',
    '       npm run -s export -- documents DIR --month 2026-10',
    'Writes records as CSV for npm run import. --since: only records that were changed on that day or later.',
    'accounting: the invoices, payments and refunds of a month. --semicolons: with decimal commas.',
    'datev: a DATEV posting batch with the postings of a month in euros. Prints the entries that it leaves out.',
    'documents: the PDF and the XRechnung of each invoice and credit note of a month.',
  ],
  variables: [...DATABASE_VARIABLES, 'APP_TIMEZONE'],
  options: { since: TEXT, out: TEXT, month: TEXT, semicolons: FLAG },
  positionals: 2,
  read,
  stopsInOrder: () => true,
  async run(wanted, { db, env: { timeZone }, now }, terminal) {
    try {
      if (wanted.kind === 'documents') await exportDocuments(db, wanted, { now: now(), timeZone }, terminal);
      else if (wanted.kind === 'datev') await exportDatev(db, wanted, now(), terminal);
      else if (wanted.kind === 'accounting')
        await writeCsv(accountingCsv(db, wanted.month, wanted.form), wanted.out, terminal);
      else await exportRecords(db, wanted, timeZone, terminal);
    } catch (error) {
      if (!terminal.signal.aborted) throw error;
      throw new StartError(['Stopped: no incomplete file was kept.']);
    }
    return 0;
  },
});

type Values = Partial<Record<'since' | 'out' | 'month', string>> & { semicolons?: boolean };

function read({ since, out, month, semicolons = false }: Values, [name, dir]: string[]) {
  if (name === 'accounting' && dir === undefined && since === undefined) {
    const form: CsvForm = semicolons ? 'semicolon' : 'comma';
    return { kind: 'accounting' as const, month: requireMonth(month), out, form };
  }
  if (semicolons) return undefined;
  if (name === 'datev' && dir === undefined && since === undefined && out !== undefined)
    return { kind: 'datev' as const, month: requireMonth(month), out };
  if (name === 'documents' && dir !== undefined && since === undefined && out === undefined)
    return { kind: 'documents' as const, month: requireMonth(month), dir };
  if (month !== undefined) return undefined;
  if (since !== undefined && !calendarDate.safeParse(since).success) {
    throw new StartError(['--since must be a date such as 2026-01-31.']);
  }
  if (name === 'all' && dir !== undefined && out === undefined) return { kind: 'all' as const, dir, since };
  const kind = EXPORT_NAMES.find((known) => known === name);
  if (kind && dir === undefined) return { kind, out, since };
  if (name === undefined || OTHER_EXPORTS.includes(name) || kind) return undefined;
  const known = [...EXPORT_NAMES, ...OTHER_EXPORTS].join(', ');
  throw new StartError([`${name} cannot be exported: choose one of ${known}.`]);
}

function requireMonth(month: string | undefined): string {
  if (month !== undefined && calendarMonth.safeParse(month).success) return month;
  throw new StartError(['--month must be a month such as 2026-10.']);
}

/** Names of exports that contain several kinds of records, or files other than CSV. */
const OTHER_EXPORTS = ['all', 'accounting', 'datev', 'documents'];

type ExportRequest = NonNullable<ReturnType<typeof read>>;

async function exportRecords(
  db: Runtime['db'],
  wanted: Exclude<ExportRequest, { kind: 'accounting' | 'datev' | 'documents' }>,
  timeZone: string,
  terminal: Terminal,
): Promise<void> {
  const since = wanted.since === undefined ? null : startOfDay(wanted.since, timeZone);
  if (wanted.kind === 'all') await exportAll(db, resolve(terminal.cwd, wanted.dir), since, terminal);
  else await writeCsv(exportCsv(db, EXPORT_KINDS[wanted.kind], since), wanted.out, terminal);
}

/** Writes CSV into a file, or prints it. @param out path of the file; undefined to print */
async function writeCsv(csv: AsyncIterable<string>, out: string | undefined, terminal: Terminal) {
  if (out === undefined) await printCsv(csv, terminal);
  else await writeExport(resolve(terminal.cwd, out), csv, terminal.signal);
}

async function exportAll(db: Runtime['db'], dir: string, since: Date | null, { print, signal }: Terminal) {
  await withFile(dir, () => mkdir(dir, { recursive: true, mode: 0o700 }));
  for (const name of EXPORT_NAMES) {
    const path = join(dir, `${name}.csv`);
    await writeExport(path, exportCsv(db, EXPORT_KINDS[name], since), signal);
    print(path);
  }
}

/** Writes a month's posting batch for DATEV, and prints the entries that are not in it. */
async function exportDatev(
  db: Runtime['db'],
  { month, out }: Extract<ExportRequest, { kind: 'datev' }>,
  now: Date,
  { cwd, print, signal }: Terminal,
): Promise<void> {
  const leftOut: string[] = [];
  let more = 0;
  const file = datevFile(db, month, now, (reason) => {
    if (leftOut.length < MAX_NAMED) leftOut.push(reason);
    else more += 1;
  });
  await writeExport(resolve(cwd, out), file, signal);
  for (const text of leftOut) print(text);
  if (more > 0) print(`${more} more entries are not in the file.`);
}

/** Writes the documents of a month into files, and prints their paths. Prints the reason for each missing document. */
async function exportDocuments(
  db: Runtime['db'],
  { month, dir }: Extract<ExportRequest, { kind: 'documents' }>,
  moment: Moment,
  { cwd, print, signal }: Terminal,
): Promise<void> {
  const folder = resolve(cwd, dir);
  await withFile(folder, () => mkdir(folder, { recursive: true, mode: 0o700 }));
  for await (const { number, files, reason } of documentsOf(db, month, moment)) {
    signal.throwIfAborted();
    if (!files) {
      print(`${number}: ${reason}`);
      continue;
    }
    for (const [ending, content] of Object.entries({ pdf: files.pdf, xml: files.xml })) {
      // Next's build must not look for this file, because it would then include the whole project in the output.
      const path = join(/* turbopackIgnore: true */ folder, `${files.name}.${ending}`);
      await writeExport(path, [content], signal);
      print(path);
    }
  }
}

/** Prints CSV line by line, because the socket transmits single lines. `print` adds the line breaks again. */
async function printCsv(csv: AsyncIterable<string>, { print, drained, signal }: Terminal): Promise<void> {
  for await (const piece of csv) {
    for (const line of piece.split('\n').slice(0, -1)) print(line);
    await drained();
    if (signal.aborted) return;
  }
}
