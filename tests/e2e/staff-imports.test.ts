import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { ADMIN } from './support/company';
import { confirm, told } from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

// The file is encoded in Windows-1252. It has an unknown country in one row, and one cell too many in another.
const FILE = Buffer.from(
  [
    'Kunde;company;country',
    'M1;M\xfcller \x80;DE',
    'M2;Two;Atlantis',
    'M3;Three;AT',
    'M4;Four;DE;x',
    '',
  ].join('\r\n'),
  'latin1',
);

async function upload(page: Page, name: string, buffer: Buffer) {
  await page.getByLabel('Kind').selectOption('Customers');
  await page.getByLabel('CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Upload' }).press('Enter');
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

const fact = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();

describe('importing a file', () => {
  test('rejected rows of an imported file can be downloaded, corrected and imported', async () => {
    const page = await site.open('/admin/imports');
    await upload(page, 'Kunden.csv', FILE);
    const encoding = page.getByRole('link', { name: 'Windows-1252' });
    expect(await encoding.getAttribute('aria-current')).toBe('true');
    await page.getByText('Müller € · Two · Three').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    // The most likely field of each column is preselected.
    expect(await page.getByLabel('Kunde').inputValue()).toBe('customer_number');
    expect(await page.getByRole('button', { name: 'Import', exact: true }).count()).toBe(0);
    await page.getByLabel('Kunde').selectOption('');
    await page.getByRole('button', { name: 'Dry run' }).press('Enter');
    await page.getByText('Choose the column that is customer_number').waitFor();
    expect(await page.getByLabel('country').inputValue()).toBe('country');

    await page.getByLabel('Kunde').selectOption('customer_number');
    await page.getByRole('button', { name: 'Dry run' }).press('Enter');
    await page.getByText('Nothing was saved').waitFor();
    await fact(page, '2 new, 0 changed, 0 unchanged, 2 rejected');
    const problems = page.getByRole('table', { name: 'Rejected rows' });
    expect(await problems.locator('tbody tr').allTextContents()).toEqual([
      '3countrymust be a country by its name or its two letters, such as Germany or DE',
      '5The whole rowhas 4 cells, but the first line has 3',
    ]);
    expect(await page.getByRole('link', { name: 'Download rejected rows' }).count()).toBe(0);

    expect(await page.getByLabel('Kunde').inputValue()).toBe('customer_number');
    await page.getByRole('button', { name: 'Import', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Import', level: 2 }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download rejected rows' }).press('Enter'),
    ]);
    expect(download.suggestedFilename()).toBe('Kunden.rejected.csv');
    const rejected = readFileSync(await download.path(), 'utf8');
    expect(rejected).toBe('\ufeffKunde;company;country\r\nM2;Two;Atlantis\r\nM4;Four;DE;x\r\n');

    await page.goto(`${site.url}/admin/imports`);
    await upload(
      page,
      'mended.csv',
      Buffer.from(rejected.replace(';Atlantis', ';germany').replace(';x', '')),
    );
    await page.getByText('as in the last import of a file with the same header').waitFor();
    await page.getByRole('button', { name: 'Dry run' }).press('Enter');
    await page.getByText('Nothing was saved').waitFor();
    await page.getByRole('button', { name: 'Import', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Import', level: 2 }).waitFor();
    await fact(page, '2 new, 0 changed, 0 unchanged, 0 rejected');
    await confirm(page, 'Remove file');
    await page.waitForURL(/\/admin\/imports\?notice=removed$/);
    await told(page, 'The file is removed');
    const log = page.getByRole('table', { name: 'Imports' });
    expect(await log.locator('tbody tr').allTextContents()).toEqual([
      expect.stringMatching(/mended\.csvCustomersCompleted2 new.*root@example\.com/),
      expect.stringMatching(/Kunden\.csvCustomersCompleted2 new, 0 changed, 0 unchanged, 2 rejected/),
    ]);
  });

  test('an uploaded WHMCS file is recognized by its column names', async () => {
    const page = await site.open('/admin/imports');
    await upload(page, 'clients.csv', readFileSync('docs/examples/whmcs-clients.csv'));
    expect(await page.getByRole('link', { name: 'columns of WHMCS' }).getAttribute('aria-current')).toBe(
      'true',
    );
    expect(await page.getByLabel('ID', { exact: true }).inputValue()).toBe('customer_number');
    await page.getByRole('link', { name: 'our column names' }).click();
    await page.waitForURL(/format=ours/);
    await expect.poll(() => page.getByLabel('ID', { exact: true }).inputValue()).toBe('');
    await page.goto(`${site.url}/admin/imports`);
    await upload(page, 'scan.csv', Buffer.from('%PDF-1.7\0\n'));
    await page.getByRole('alert').filter({ hasText: 'This is not a CSV file' }).waitFor();
  });
});

describe('exporting records', () => {
  test('records and a month of accounting can be downloaded from the export page', async () => {
    const page = await site.open('/admin/export');
    await page.getByLabel('Kind').selectOption('Customers');
    const [records] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('form', { name: 'Records' }).getByRole('button').press('Enter'),
    ]);
    expect(records.suggestedFilename()).toMatch(/^customers-\d{4}-\d\d-\d\d\.csv$/);
    expect(readFileSync(await records.path(), 'utf8')).toMatch(/^\ufeff"customer_number",/);
    const [month] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('form', { name: 'Accounting' }).getByRole('button').press('Enter'),
    ]);
    expect(month.suggestedFilename()).toMatch(/^accounting-\d{4}-\d\d\.csv$/);
    expect(readFileSync(await month.path(), 'utf8')).toMatch(
      /^\ufeff"record","event","date",.*\r\n"invoice","issued",/,
    );
  });
});
