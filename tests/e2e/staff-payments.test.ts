import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { unquotedLines } from '../support/csv';
import { visit } from './support/browser';
import { choose, fillFilter } from './support/forms';
import { useSite } from './support/use-site';

const LIST = '/admin/payments';

const site = useSite('company');

const section = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const rowsOf = (page: Page, title: string) => section(page, title).locator('tbody tr');

const cells = (page: Page, column: number) =>
  page.locator(`tbody tr td:nth-child(${column})`).allTextContents();

describe('the list of payments', () => {
  test('the filters of the payment list are part of the URL', async () => {
    const page = await site.open(LIST);
    await fillFilter(page, 'Customer', 'k-e2e');
    await page.waitForURL(/customer=k-e2e$/);
    await fillFilter(page, 'Reference', 'e2e-00');
    await page.waitForURL(/reference=e2e-00$/);
    await choose(page, 'Status', 'Completed');
    await page.waitForURL(`${site.url}${LIST}?customer=k-e2e&reference=e2e-00&status=completed`);
    await page.getByText('10 payments', { exact: true }).waitFor();
    expect(await cells(page, 3)).toEqual(Array.from({ length: 10 }, (_, i) => `E2E-00${9 - i}`));
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.waitForURL(site.url + LIST);
  });

  test('a click on a column header sorts the payment list', async () => {
    const page = await site.open(`${LIST}?invoice=E2E-1`);
    const header = (name: string) => page.getByRole('columnheader', { name });
    expect(await header('Date').getAttribute('aria-sort')).toBe('descending');
    await header('Amount').getByRole('link').click();
    await page.waitForURL(/sort=-amount$/);
    await expect.poll(() => header('Amount').getAttribute('aria-sort')).toBe('descending');
    expect(await header('Date').getAttribute('aria-sort')).toBeNull();
    expect((await cells(page, 6)).slice(0, 2)).toEqual(['€100.00', '€99.00']);
    await header('Amount').getByRole('link').click();
    await expect.poll(() => header('Amount').getAttribute('aria-sort')).toBe('ascending');
    expect((await cells(page, 6)).slice(0, 2)).toEqual(['€71.00', '€72.00']);
    await header('Reference').getByRole('link').click();
    await expect.poll(() => header('Reference').getAttribute('aria-sort')).toBe('ascending');
    expect((await cells(page, 3))[0]).toBe('E2E-000');
  });

  test('the payment list can be sorted on a phone', async () => {
    const page = await site.open(`${LIST}?invoice=E2E-1`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('navigation', { name: 'Sort by' }).getByRole('link', { name: 'Amount' }).click();
    await page.waitForURL(/sort=-amount$/);
    await page.locator('main ul li a').filter({ hasText: '€100.00', visible: true }).first().waitFor();
  });

  test('paging through the payment list keeps its filters and order', async () => {
    const page = await site.open(`${LIST}?customer=K-E2E&sort=reference`);
    const first = await cells(page, 3);
    expect(first).toHaveLength(25);
    await page.getByRole('link', { name: 'Next' }).click();
    await expect
      .poll(() => cells(page, 3))
      .toEqual(['025', '026', '027', '028', '029'].map((n) => `E2E-${n}`));
    expect(new URL(page.url()).search).toMatch(/^\?customer=K-E2E&sort=reference&after=/);
    await page.getByText('30 payments', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Previous' }).click();
    await expect.poll(() => cells(page, 3)).toEqual(first);
    await page.getByRole('link', { name: '50', exact: true }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(30);
  });

  test('a page past the end of the payment list links to the first page', async () => {
    const page = await site.open(`${LIST}?customer=K-E2E&after=1.2000-01-01`);
    await page.getByText('No more payments').waitFor();
    await page.getByRole('link', { name: 'Go to the first page' }).click();
    await page.waitForURL(`${site.url}${LIST}?customer=K-E2E`);
  });

  test('an invalid filter of the payment list shows one error at the filter’s field', async () => {
    const page = await site.open(`${LIST}?customer=x&from=2026-03-02&to=2026-03-01`);
    expect(await page.getByText('Must not be before the first day.').count()).toBe(1);
    const to = page.getByLabel('To', { exact: true });
    expect(await to.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('search summary').first().textContent()).toBe('Customerx');
    expect(await page.locator('table').count()).toBe(0);
    await visit(page, `${site.url}${LIST}?status=paid`);
    expect(await page.getByText(/must be one of/i).count()).toBe(1);
  });

  test('the page of a payment links to all payments of its invoice and its customer', async () => {
    const page = await site.open(`${LIST}/${site.facts.paid.ids[0]}`);
    for (const [index, query] of [`?invoice=%23${site.facts.paid.invoice}`, '?customer=K-E2E'].entries()) {
      await page.getByRole('link', { name: 'All payments' }).nth(index).click();
      await page.waitForURL(site.url + LIST + query);
      await page.getByText('30 payments', { exact: true }).waitFor();
      await page.goBack();
    }
  });
});

describe('the CSV file of payments', () => {
  const download = (query: string) => site.fetch(`/admin/export/payments${query}`);

  test('the CSV file contains the filtered payments in the order of the list', async () => {
    const page = await site.open(`${LIST}?reference=E2E-00&sort=-amount`);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^payments-\d{4}-\d\d-\d\d\.csv$/);
    const response = await download(new URL(file.url()).search);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
    expect(text[0]).toBe('\uFEFF');
    const lines = unquotedLines(text.slice(1));
    expect(lines[0]).toMatch(
      /^id,invoice_id,customer_id,amount,.*,invoice_number,customer_number,customer_name,transfer$/,
    );
    expect(lines.slice(1, -1).map((line) => line.split(',')[6])).toEqual(await cells(page, 3));
    expect(lines[1]).toMatch(/,100,eur,2026-01-10,E2E-000,completed,0,api,.*,E2E-1,K-E2E,'=Weiß & Söhne,$/);
  });

  test('a CSV download that fails midway ends in a network error', async () => {
    const response = await download('?customer=K-BROKEN');
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect((await download('?reference=BROKEN-1499')).status).toBe(200);
  });

  test.each([
    ['/admin/payments/export?status=failed', '/admin/export/payments?status=failed'],
    ['/admin/overdue/export?age=over-30', '/admin/export/overdue-invoices?age=over-30'],
  ])('the CSV link %s of version 1.0 redirects to the file', async (old, file) => {
    const response = await site.fetch(old);
    expect([response.status, response.headers.get('location')]).toEqual([307, file]);
    expect((await site.fetch(file)).headers.get('content-type')).toMatch(/^text\/csv/);
  });

  test('a CSV download with an invalid filter redirects to the list', async () => {
    const response = await download('?status=paid');
    expect(response.status).toBe(307);
    expect(response.headers.get('location')).toBe(`${LIST}?status=paid`);
    const post = await site.fetch('/admin/export/payments', { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('refunds, disputes and tasks', () => {
  test('the overview links to the disputed payments', async () => {
    const page = await site.open('/admin');
    await page.getByText(/^\d answers? needed, the next by \d+ \w+ \d{4}/).waitFor();
    await page.getByRole('link', { name: 'Disputed payments' }).click();
    await page.waitForURL(`${site.url}/admin/payments?status=disputed`);
    const { id, reference } = site.facts.paidBack.disputed;
    const listed = page.locator('tbody tr').filter({ hasText: reference });
    expect(await listed.textContent()).toContain('Disputed');
    await listed.click();
    await page.waitForURL(`${site.url}/admin/payments/${id}`);
    const row = rowsOf(page, 'Refunds and disputes');
    expect(await row.textContent()).toMatch(
      /Dispute.*Answer needed.*Fraudulent · Evidence due .* · Funds withdrawn .*Stripe.*€/,
    );
    const link = row.getByRole('link', { name: /^Stripe: dispute dp_\w+$/ });
    expect(await link.getAttribute('href')).toMatch(
      /^https:\/\/dashboard\.stripe\.com\/test\/disputes\/dp_\w+$/,
    );
  });

  test('a partial refund is shown on the pages of the payment, invoice and customer', async () => {
    const { id, reference, invoiceId, customerId } = site.facts.paidBack.inPart;
    const page = await site.open('/admin/payments');
    await choose(page, 'Status', 'Refunded in part');
    await page.waitForURL(`${site.url}/admin/payments?status=refunded_in_part`);
    const listed = page.locator('tbody tr').filter({ hasText: reference });
    expect(await listed.textContent()).toContain('€1.00 refunded');
    await listed.click();
    await page.waitForURL(`${site.url}/admin/payments/${id}`);
    expect(await section(page, 'Payment').textContent()).toContain('Refunded€1.00');
    const link = rowsOf(page, 'Refunds and disputes').getByRole('link', { name: /^Stripe: refund re_/ });
    expect(await link.getAttribute('href')).toMatch(/\/test\/payments\/pi_\w+$/);
    await visit(page, `${site.url}/admin/invoices/${invoiceId}`);
    expect(await section(page, 'Invoice').textContent()).toContain('Refunded€1.00');
    for (const path of [`invoices/${invoiceId}`, `customers/${customerId}`]) {
      await visit(page, `${site.url}/admin/${path}`);
      const row = rowsOf(page, 'Refunds and disputes').filter({ hasText: '€1.00' });
      expect(await row.textContent()).toMatch(/Refund.*Succeeded.*Requested by customer.*Stripe/);
      expect(await row.locator(`a[href="/admin/payments/${id}"]`).count()).toBe(1);
    }
    await visit(page, `${site.url}/admin/invoices?status=refunded_in_part`);
    await page.locator('tbody tr').filter({ hasText: '€1.00 refunded' }).waitFor();
  });

  test('a refund without a matching payment appears as a task on the overview', async () => {
    const page = await site.open('/admin');
    await page.getByRole('link', { name: '1 refund or dispute has no matching payment.' }).click();
    await page.waitForURL(`${site.url}/admin/payments/refunds#unmatched`);
    expect(await rowsOf(page, 'No matching payment').textContent()).toMatch(/No matching payment.*€5\.00/);
  });

  test('an open task is shown on the page of its invoice and on the overdue page', async () => {
    const text = 'The bank took back 71.00 EUR of invoice W2E-1';
    const page = await site.open('/admin');
    await page.getByRole('link', { name: /^\d tasks? (is|are) waiting for a decision\.$/ }).click();
    await page.waitForURL(`${site.url}/admin/tasks`);
    await page
      .locator('tbody tr')
      .filter({ hasText: text })
      .getByRole('link', { name: 'Open the invoice' })
      .click();
    await page.waitForURL(/\/admin\/invoices\/\d+$/);
    const notice = page.getByRole('alert').filter({ hasText: text });
    await notice.waitFor();
    await visit(page, `${site.url}/admin/overdue`);
    await notice.getByRole('link', { name: 'Open the tasks' }).click();
    await page.waitForURL(`${site.url}/admin/tasks`);
    await page
      .getByRole('button', { name: /^Done: A bank took money back/ })
      .locator('visible=true')
      .click();
    await page.getByRole('status').filter({ hasText: 'The task is done.' }).waitFor();
    expect(await page.getByRole('button', { name: /^Done: A bank took money back/ }).count()).toBe(0);
    expect(await rowsOf(page, 'Done').textContent()).toMatch(`${text}: the customer owes 71.00 EUR.`);
    expect(await rowsOf(page, 'Done').textContent()).toMatch('grace@example.com');
  });
});
