import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { choose, fillFilter } from './support/filters';
import { eventually, usePaymentPages } from './support/payment-pages';

const LIST = '/admin/payments';

const staff = usePaymentPages();

const cells = (page: Page, column: number) =>
  page.locator(`tbody tr td:nth-child(${column})`).allTextContents();

describe('the list', () => {
  test('is filtered by what was typed, and the address says by what', async () => {
    const { page } = await staff.open(LIST);
    await fillFilter(page, 'Customer', 'k-e2e');
    await page.waitForURL(/customer=k-e2e$/);
    await fillFilter(page, 'Reference', 'e2e-00');
    await page.waitForURL(/reference=e2e-00$/);
    await choose(page, 'Status', 'Completed');
    await page.waitForURL(`${staff.url}${LIST}?customer=k-e2e&reference=e2e-00&status=completed`);
    await page.getByText('10 payments', { exact: true }).waitFor();
    expect(await cells(page, 3)).toEqual(Array.from({ length: 10 }, (_, i) => `E2E-00${9 - i}`));
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.waitForURL(staff.url + LIST);
  });

  test('is sorted by its headers, and says how', async () => {
    const { page } = await staff.open(`${LIST}?invoice=E2E-1`);
    const header = (name: string) => page.getByRole('columnheader', { name });
    expect(await header('Date').getAttribute('aria-sort')).toBe('descending');
    await header('Amount').getByRole('link').click();
    await page.waitForURL(/sort=-amount$/);
    await eventually(() => header('Amount').getAttribute('aria-sort')).toBe('descending');
    expect(await header('Date').getAttribute('aria-sort')).toBeNull();
    expect((await cells(page, 6)).slice(0, 2)).toEqual(['€100.00', '€99.00']);
    await header('Amount').getByRole('link').click();
    await eventually(() => header('Amount').getAttribute('aria-sort')).toBe('ascending');
    expect((await cells(page, 6)).slice(0, 2)).toEqual(['€71.00', '€72.00']);
    await header('Reference').getByRole('link').click();
    await eventually(() => header('Reference').getAttribute('aria-sort')).toBe('ascending');
    expect((await cells(page, 3))[0]).toBe('E2E-000');
  });

  test('is leafed through in both directions, keeping filters and order', async () => {
    const { page } = await staff.open(`${LIST}?customer=K-E2E&sort=reference`);
    const first = await cells(page, 3);
    expect(first).toHaveLength(25);
    await page.getByRole('link', { name: 'Next' }).click();
    await eventually(() => cells(page, 3)).toEqual(
      ['025', '026', '027', '028', '029'].map((n) => `E2E-${n}`),
    );
    expect(new URL(page.url()).search).toMatch(/^\?customer=K-E2E&sort=reference&after=/);
    await page.getByText('30 payments', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Previous' }).click();
    await eventually(() => cells(page, 3)).toEqual(first);
    await page.getByRole('link', { name: '50', exact: true }).click();
    await eventually(() => page.locator('tbody tr').count()).toBe(30);
  });

  test('a page behind the end leads back to the first', async () => {
    const { page } = await staff.open(`${LIST}?customer=K-E2E&after=1.2000-01-01`);
    await page.getByText('No more payments').waitFor();
    await page.getByRole('link', { name: 'Go to the first page' }).click();
    await page.waitForURL(`${staff.url}${LIST}?customer=K-E2E`);
  });

  test('a wrong filter says so once, at its field, and keeps what was typed', async () => {
    const { page } = await staff.open(`${LIST}?customer=x&from=2026-03-02&to=2026-03-01`);
    expect(await page.getByText('Must not be before the first day.').count()).toBe(1);
    const to = page.getByLabel('To', { exact: true });
    expect(await to.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('search summary').first().textContent()).toBe('Customerx');
    expect(await page.locator('table').count()).toBe(0);
    await visit(page, `${staff.url}${LIST}?status=paid`);
    expect(await page.getByText(/must be one of/i).count()).toBe(1);
  });

  test('links of a payment lead to all of its invoice and of its customer', async () => {
    const { page } = await staff.open(`${LIST}/${staff.held.ids[0]}`);
    const links = page.getByRole('link', { name: 'All payments' });
    await links.first().click();
    await page.waitForURL(`${staff.url}${LIST}?invoice=%23${staff.held.invoice.id}`);
    await page.getByText('30 payments', { exact: true }).waitFor();
    await page.goBack();
    await links.last().click();
    await page.waitForURL(`${staff.url}${LIST}?customer=K-E2E`);
    await page.getByText('30 payments', { exact: true }).waitFor();
  });
});

describe('the CSV file', () => {
  const download = (query: string) =>
    fetch(`${staff.url}${LIST}/export${query}`, { headers: { cookie: staff.cookie }, redirect: 'manual' });

  test('has the filters and the order of the list', async () => {
    const { page } = await staff.open(`${LIST}?reference=E2E-00&sort=-amount`);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^payments-\d{4}-\d\d-\d\d\.csv$/);
    const response = await download(new URL(file.url()).search);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const lines = new TextDecoder('utf-8', { ignoreBOM: true })
      .decode(await response.arrayBuffer())
      .split('\r\n');
    expect(lines[0]).toMatch(
      /^\uFEFFid,invoice_id,customer_id,amount,.*,invoice_number,customer_number,customer_name$/,
    );
    expect(lines.slice(1, -1).map((line) => line.split(',')[6])).toEqual(await cells(page, 3));
    expect(lines[1]).toMatch(/,100,eur,2026-01-10,E2E-000,completed,0,api,.*,E2E-1,K-E2E,'=Weiß & Söhne$/);
  });

  test('that cannot be finished is broken off, not cut short', async () => {
    const response = await download('?customer=K-BROKEN');
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect((await download('?reference=BROKEN-1499')).status).toBe(200);
  });

  test('of a wrong filter leads to the list, which says so; other methods are refused', async () => {
    const response = await download('?status=paid');
    expect(response.status).toBe(307);
    expect(response.headers.get('location')).toBe(`${LIST}?status=paid`);
    const post = await fetch(`${staff.url}${LIST}/export`, {
      method: 'POST',
      headers: { cookie: staff.cookie },
    });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test.each([{}, { cookie: 'w5t.session_token=forged.signature' }])('is not for %j', async (headers) => {
    const path = `${LIST}/export?customer=K-E2E`;
    const response = await fetch(staff.url + path, { headers, redirect: 'manual' });
    expect(response.status).toBe(307);
    expect(response.headers.get('location')).toContain(`/sign-in?next=${encodeURIComponent(path)}`);
    expect(await response.text()).not.toContain('E2E-0');
  });
});

test.each(['light', 'dark'] as const)('every page fits a telephone, %s', async (colorScheme) => {
  const { page } = await staff.open(LIST, { viewport: { width: 390, height: 844 }, colorScheme });
  for (const path of [
    '',
    '?customer=K-E2E&sort=reference',
    '?from=2026-03-02&to=2026-03-01',
    '/new',
    `/new?invoice=%23${staff.held.invoice.id}`,
    `/${staff.held.ids[1]}`,
  ]) {
    await visit(page, staff.url + LIST + path);
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 390]);
  }
  await page.getByRole('button', { name: 'Delete' }).click();
  const box = await page.getByRole('dialog').boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
  await visit(page, staff.url + LIST);
  await page.getByRole('navigation', { name: 'Sort by' }).getByRole('link', { name: 'Amount' }).click();
  await page.waitForURL(/sort=-amount$/);
});
