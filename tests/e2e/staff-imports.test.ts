import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright';
import { expect, test } from 'vitest';
import { ADMIN } from './support/company';
import { confirm, follow, link, rows, see, told } from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

// The file is encoded in Windows-1252. It has an unknown country in one row, and one cell too many in another.
const ROWS = [
  'Kunde;company;country',
  'M1;M\xfcller \x80;DE',
  'M2;Two;Atlantis',
  'M3;Three;AT',
  'M4;Four;DE;x',
  '',
];
const FILE = Buffer.from(ROWS.join('\r\n'), 'latin1');

async function upload(page: Page, name: string, buffer: Buffer) {
  await page.getByLabel('Kind').selectOption('Customers');
  await page.getByLabel('CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Upload' }).press('Enter');
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

const submit = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).press('Enter');
const fact = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();

async function dryRun(page: Page): Promise<void> {
  await submit(page, 'Dry run');
  await see(page, 'Nothing was saved');
}
async function runImport(page: Page): Promise<void> {
  await submit(page, 'Import');
  await page.getByRole('heading', { name: 'Import', level: 2 }).waitFor();
}
async function download(page: Page, pressed: Locator) {
  const [file] = await Promise.all([page.waitForEvent('download'), pressed.press('Enter')]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

test('rejected rows of an imported file can be downloaded, corrected and imported', async () => {
  const page = await site.open('/admin/imports');
  const key = page.getByLabel('Kunde');
  await upload(page, 'Kunden.csv', FILE);
  expect(await link(page, 'Windows-1252').getAttribute('aria-current')).toBe('true');
  await see(page, 'Müller € · Two · Three');
  expect(await violationsOf(page)).toEqual([]);
  // The most likely field of each column is preselected.
  expect(await key.inputValue()).toBe('customer_number');
  expect(await page.getByRole('button', { name: 'Import', exact: true }).count()).toBe(0);
  await key.selectOption('');
  await submit(page, 'Dry run');
  await see(page, 'Choose the column that is customer_number');
  expect(await page.getByLabel('country').inputValue()).toBe('country');

  await key.selectOption('customer_number');
  await dryRun(page);
  await fact(page, '2 new, 0 changed, 0 unchanged, 2 rejected');
  expect(await rows(page.getByRole('table', { name: 'Rejected rows' })).allTextContents()).toEqual([
    '3countrymust be a country by its name or its two letters, such as Germany or DE',
    '5The whole rowhas 4 cells, but the first line has 3',
  ]);
  const rejectedRows = page.getByRole('link', { name: 'Download rejected rows' });
  expect(await rejectedRows.count()).toBe(0);

  expect(await key.inputValue()).toBe('customer_number');
  await runImport(page);
  expect(await violationsOf(page)).toEqual([]);
  const rejected = await download(page, rejectedRows);
  const text = '\ufeffKunde;company;country\r\nM2;Two;Atlantis\r\nM4;Four;DE;x\r\n';
  expect(rejected).toEqual({ name: 'Kunden.rejected.csv', text });

  await page.goto(`${site.url}/admin/imports`);
  await upload(page, 'mended.csv', Buffer.from(text.replace(';Atlantis', ';germany').replace(';x', '')));
  await see(page, 'as in the last import of a file with the same header');
  await dryRun(page);
  await runImport(page);
  await fact(page, '2 new, 0 changed, 0 unchanged, 0 rejected');
  await confirm(page, 'Remove file');
  await page.waitForURL(/\/admin\/imports\?notice=removed$/);
  await told(page, 'The file is removed');
  expect(await rows(page.getByRole('table', { name: 'Imports' })).allTextContents()).toEqual([
    expect.stringMatching(/mended\.csvCustomersCompleted2 new.*root@example\.com/),
    expect.stringMatching(/Kunden\.csvCustomersCompleted2 new, 0 changed, 0 unchanged, 2 rejected/),
  ]);
});

test('an uploaded WHMCS file is recognized by its column names, and a file that is not CSV is refused', async () => {
  const page = await site.open('/admin/imports');
  await upload(page, 'clients.csv', readFileSync('docs/examples/whmcs-clients.csv'));
  expect(await link(page, 'columns of WHMCS').getAttribute('aria-current')).toBe('true');
  const id = page.getByLabel('ID', { exact: true });
  expect(await id.inputValue()).toBe('customer_number');
  await follow(page, 'our column names', /format=ours/);
  await expect.poll(() => id.inputValue()).toBe('');
  await page.goto(`${site.url}/admin/imports`);
  await upload(page, 'scan.csv', Buffer.from('%PDF-1.7\0\n'));
  await page.getByRole('alert').filter({ hasText: 'This is not a CSV file' }).waitFor();
});

test('records and a month of accounting can be downloaded from the export page', async () => {
  const page = await site.open('/admin/export');
  const button = (form: string) => page.getByRole('form', { name: form }).getByRole('button');
  await page.getByLabel('Kind').selectOption('Customers');
  expect(await download(page, button('Records'))).toEqual({
    name: expect.stringMatching(/^customers-\d{4}-\d\d-\d\d\.csv$/),
    text: expect.stringMatching(/^\ufeff"customer_number",/),
  });
  const month = page.getByRole('form', { name: 'Accounting' }).getByLabel('Month');
  const [running = '', last = ''] = await month.locator('option').allTextContents();
  expect(running).toMatch(/^\d{4}-\d\d \(not over yet\)$/);
  expect(await month.inputValue()).toBe(last);
  await month.selectOption(running);
  expect(await download(page, button('Accounting'))).toEqual({
    name: expect.stringMatching(/^accounting-\d{4}-\d\d\.csv$/),
    // The month may begin with the cancellation of an older invoice.
    text: expect.stringMatching(
      /^\ufeff"record","event","date",.*\r\n("invoice","cancelled",.*\r\n)*"invoice","issued",/,
    ),
  });
});

test('the export page says that a future month is not over', async () => {
  const page = await site.open('/admin/export?datev=2099-01');
  await page.getByRole('form', { name: 'DATEV' }).getByText('until the month is over').waitFor();
});
