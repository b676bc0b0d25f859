import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { eq, like } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { customers, numberSeries } from '@/db/schema';
import { importState, listImports } from '@/lib/imports/import-log';
import { previewFile } from '@/lib/imports/preview-file';
import { type ChosenOptions, firstChoice, toFileOptions } from '@/lib/uploads/chosen-options';
import {
  clearUploads,
  isTried,
  openRejected,
  readRun,
  removeUpload,
  startImport,
  stopImport,
  writeRun,
} from '@/lib/uploads/import-run';
import { addUpload, fileOf, findUpload, listUploads, type Upload } from '@/lib/uploads/upload-store';
import { onPostgres, readRow, useDatabase } from '../support/database';
import { createInvoice } from '../support/factories';
import { temporaryFolder } from '../support/run-command';
import { type TestRuntime, testRuntime } from '../support/runtime';

const base = useDatabase();
const dataDir = temporaryFolder();
const actor = { type: 'staff', id: 'u1', name: 'root@example.com' } as const;
const SEPARATORS = { delimiter: '', decimal_separator: '' } as const;
const NONE: ChosenOptions = { ...SEPARATORS, columns: {}, constants: '', format: '', encoding: '' };
let runtime: TestRuntime;
beforeAll(() => {
  runtime = testRuntime(base.db, { env: { DATA_DIR: dataDir } });
});

const add = (text: string | Uint8Array, kind: Upload['kind'] = 'customers', name = 'c.csv') =>
  addUpload(runtime, { kind, name, uploaded_by: actor.name }, Readable.from([Buffer.from(text)]));

function start(upload: Upload, chosen: Partial<ChosenOptions>, dryRun = false) {
  const read = toFileOptions(upload.kind, { ...NONE, ...chosen });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  const { options } = read;
  return startImport(runtime, { upload, chosen: { ...NONE, ...chosen }, options, dryRun, actor });
}

/** Stores that the latest run of a file still runs, as another process would. */
async function storeRunning(upload: Upload, started_at: Date): Promise<void> {
  const run = await readRun(dataDir, upload.id);
  if (!run) throw new Error('there was a run');
  await writeRun(dataDir, {
    upload,
    run: { ...run, started_at, status: 'running' },
    stop: new AbortController(),
  });
}

const KEY = 'customer_number';
const COLUMNS = { columns: { Kunde: 'customer_number', Firma: 'company', Extra: '' } };

test('the preview of an uploaded file shows its encoding, delimiter and first cells', async () => {
  const lines = ['Kunde;company;Firma', 'K1;M\xfcller;"a;b"', 'K2', 'K3;;', 'K4;;', ''];
  const upload = await add(Buffer.from(lines.join('\r\n'), 'latin1'));
  expect(await previewFile(fileOf(dataDir, upload), 'customers', {})).toEqual({
    ...{ encoding: 'Windows-1252', delimiter: ';', format: '' },
    columns: [
      { theirs: 'Kunde', ours: 'customer_number', cells: ['K1', 'K2', 'K3'] },
      { theirs: 'company', ours: 'company', cells: ['Müller'] },
      { theirs: 'Firma', ours: '', cells: ['a;b'] },
    ],
  });
});

test('the preview of an uploaded file recognizes the WHMCS format, unless another format is chosen', async () => {
  const path = 'docs/examples/whmcs-clients.csv';
  const found = await previewFile(path, 'customers', {});
  expect(found.format).toBe('whmcs');
  expect(found.columns.find(({ theirs }) => theirs === 'ID')?.ours).toBe('customer_number');
  expect(await previewFile(path, 'customers', { format: '' })).toMatchObject({ format: '' });
});

test.each([
  [{ columns: { a: 'company' } }, '', /choose the column that is customer_number/],
  [{ columns: { a: 'customer_number', b: 'nothing' } }, 'columns.b', /^is not a known column$/],
  [{ columns: { a: KEY, b: KEY } }, 'columns.b', /^another column is already customer_number$/],
  [{ ...COLUMNS, constants: 'currency' }, 'constants', /^currency has no equals sign and value$/],
  [{ ...COLUMNS, constants: 'x=1' }, 'constants', /^x is not a known column$/],
  [{ ...COLUMNS, constants: 'company=x' }, 'constants', /a column of the file already/],
])('the import options %j are refused', (chosen, field, problem) => {
  const problems = { [field]: expect.stringMatching(problem) };
  expect(toFileOptions('customers', { ...NONE, ...chosen })).toEqual({ problems });
});

test('a WHMCS file can be imported without choosing a key column', () => {
  const chosen = { ...NONE, format: 'whmcs', columns: { ID: '', Subtotal: 'subtotal' } };
  expect(toFileOptions('invoices', chosen)).toHaveProperty('options');
});

/** Number of rows, enough for several batches. */
const ROWS = onPostgres() ? 3000 : 500;

test('a dry run of an uploaded file writes nothing, and its import is logged and keeps the rejected rows', async () => {
  const upload = await add('Kunde,Firma,Extra\nU1,One,x\nU2,,x\nU3,Three\n');
  await start(upload, COLUMNS, true).ended;
  expect(await base.db.$count(customers)).toBe(0);
  expect(await readRun(dataDir, upload.id)).toMatchObject({ status: 'done', dry_run: true });
  expect(await openRejected(dataDir, upload.id)).toBeNull();
  await start(upload, { ...COLUMNS, constants: 'country=DE\n\ncurrency = usd' }).ended;
  const run = await readRun(dataDir, upload.id);
  expect(run).toMatchObject({
    ...{ status: 'done', dry_run: false, started_by: actor.name },
    counts: { created: 1, changed: 0, unchanged: 0, rejected: 2 },
    problems: [
      { line: 3, column: 'Firma' },
      { line: 4, column: null, message: 'has 2 cells, but the first line has 3' },
    ],
  });
  const made = { customer_number: 'U1', country: 'DE', currency: 'usd' };
  expect(await base.db.select().from(customers)).toMatchObject([made]);
  const rejected = await openRejected(dataDir, upload.id);
  expect(rejected?.name).toBe('c.rejected.csv');
  const kept = await text(rejected?.text() ?? Readable.from([]));
  expect(kept).toBe('\ufeffKunde,Firma,Extra\r\nU2,,x\r\nU3,Three\r\n');
  const log = await listImports(base.db, { page: 1, per_page: 10 });
  expect(log.data).toMatchObject([{ file_name: 'c.csv', actor_name: actor.name, counts: { created: 1 } }]);
  expect(log.data.map((row) => importState(row, new Date()))).toEqual(['completed']);
});

test('while an import is running, starting another and deleting the imported file are refused', async () => {
  const [first, second] = [await add(rowsFrom(0, 50)), await add(rowsFrom(0, 1), 'customers', 'other.csv')];
  const { ended } = start(first, COLUMNS);
  const refusal = 'root@example.com is importing c.csv: only one file at a time.';
  expect(() => start(second, COLUMNS)).toThrow(refusal);
  await expect(removeUpload(dataDir, first.id)).rejects.toThrow(refusal);
  expect(await readRun(dataDir, first.id)).toMatchObject({ status: 'running' });
  await ended;
  await removeUpload(dataDir, first.id);
  expect(await findUpload(dataDir, first.id)).toBeNull();
});

test('a stopped import of an uploaded file adds the remaining rows when started again', async () => {
  const upload = await add(rowsFrom(100, ROWS));
  const { ended } = start(upload, COLUMNS);
  stopImport('another');
  stopImport(upload.id);
  await ended;
  expect(await readRun(dataDir, upload.id)).toMatchObject({ status: 'stopped' });
  const { data } = await listImports(base.db, { page: 1, per_page: 1 });
  expect(data).toMatchObject([{ finished_at: null }]);
  await start(upload, COLUMNS).ended;
  expect(await readRun(dataDir, upload.id)).toMatchObject({ status: 'done', counts: { rejected: 0 } });
  expect(await base.db.$count(customers, like(customers.customer_number, 'N%'))).toBe(50 + ROWS);
});

test('an import whose process ended is listed as interrupted', async () => {
  const upload = await add(rowsFrom(0, 1));
  await start(upload, COLUMNS, true).ended;
  await storeRunning(upload, runtime.now());
  expect(await readRun(dataDir, upload.id)).toMatchObject({ status: 'interrupted' });
  const silent = { finished_at: null, updated_at: new Date('2026-01-01T12:00:00Z') };
  expect(importState(silent, new Date('2026-01-01T12:00:30Z'))).toBe('running');
  expect(importState(silent, new Date('2026-01-01T12:02:00Z'))).toBe('interrupted');
});

test('a failed import of an uploaded file stores why it failed, and does not block the next import', async () => {
  const upload = await add('Kunde,Kunde\n1,2\n');
  await start(upload, { columns: { Kunde: 'customer_number' } }).ended;
  const failure = 'The column customer_number appears twice: rename or delete one of them in the file.';
  expect(await readRun(dataDir, upload.id)).toMatchObject({ status: 'failed', failure });
  await removeUpload(dataDir, upload.id);
  await start(upload, COLUMNS).ended; // The upload was removed, as by another window, so nothing starts.
  expect(await readRun(dataDir, upload.id)).toBeNull();
  await start(await add(rowsFrom(0, 1)), COLUMNS, true).ended; // The removed upload does not block the next import.
});

test('an import that needs the next number of a full series says why it failed', async () => {
  const full = { prefix: 'F-', with_year: false, width: 1 };
  await base.db.update(numberSeries).set(full).where(eq(numberSeries.name, 'invoice'));
  const { customer_id } = await createInvoice(base.db, { number: 'F-9' });
  const { customer_number } = await readRow(base.db, customers, customer_id);
  const names = ['import_key', 'customer_number', 'status', 'invoice_date', 'total'];
  const row = `KEY-1,${customer_number},sent,2026-01-05,119`;
  const upload = await add(`${names}\n${row}\n`, 'invoices', 'i.csv');
  await start(upload, { columns: Object.fromEntries(names.map((name) => [name, name])) }).ended;
  const failure = 'The series has no numbers left. Change the format under Settings, Numbers.';
  expect(await readRun(dataDir, upload.id)).toMatchObject({ status: 'failed', failure });
});

test('an uploaded file counts as tried only with the options of its latest run, if that was a completed dry run', async () => {
  const upload = await add('Kunde,Firma,Extra\nTRY1,One,x\n');
  const chosen = { ...NONE, ...COLUMNS };
  expect(isTried(await readRun(dataDir, upload.id), chosen)).toBe(false);
  await start(upload, COLUMNS, true).ended;
  const run = await readRun(dataDir, upload.id);
  expect(isTried(run, chosen)).toBe(true);
  expect(isTried(run, { ...chosen, columns: { ...COLUMNS.columns, Extra: 'city' } })).toBe(false);
  expect(isTried(run, { ...chosen, decimal_separator: ',' })).toBe(false);
  await start(upload, COLUMNS).ended;
  expect(isTried(await readRun(dataDir, upload.id), chosen)).toBe(false);
});

test('an upload preselects the columns and decimal separator, but not the constants, of the last import with the same header', async () => {
  const upload = await add('Extra,Kunde,Firma\nx,FIRST1,One\n');
  const first = () => firstChoice({ db: base.db, dataDir }, upload, {}, undefined);
  const known = { columns: { Kunde: KEY, Firma: 'company', Extra: '' }, decimal_separator: '' };
  expect(await first()).toMatchObject({ isRemembered: false, chosen: known });
  const last = { columns: { ...known.columns, Extra: 'city' }, decimal_separator: ',' as const };
  await start(upload, { ...last, constants: 'currency=usd' }).ended;
  expect(await first()).toMatchObject({ isRemembered: true, chosen: { ...last, constants: '' } });
  await removeUpload(dataDir, upload.id);
});

test('uploaded files are deleted after a day, unless another process may still import them', async () => {
  await clearUploads(runtime);
  expect((await listUploads(dataDir)).length).toBeGreaterThan(1);
  const upload = await add(rowsFrom(0, 1));
  await start(upload, COLUMNS, true).ended;
  const tomorrow = new Date(runtime.now().getTime() + 24 * 3_600_000);
  await storeRunning(upload, tomorrow);
  runtime.setNow(tomorrow);
  await clearUploads(runtime);
  expect(await listUploads(dataDir)).toEqual([upload]);
  runtime.setNow(new Date(tomorrow.getTime() + 24 * 3_600_000));
  await clearUploads(runtime);
  expect(await listUploads(dataDir)).toEqual([]);
});

const rowsFrom = (first: number, count: number) =>
  `Kunde,Firma,Extra\n${Array.from({ length: count }, (_, i) => `N${first + i},Firm,\n`).join('')}`;
