import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import type { PaymentRow } from '@/lib/payments/schema';
import { unquotedLines } from '../support/csv';
import { visit } from './support/browser';
import { STAFF } from './support/company';
import {
  choose,
  confirm,
  fill,
  fillFilter,
  follow,
  hasFocus,
  link,
  press,
  pressAndSee,
  rows,
  rowsOf,
  section,
  see,
  seeAlert,
  told,
  use,
  valuesOf,
} from './support/forms';
import { violationsOf } from './support/looks';
import { listServerActions, postAction } from './support/server-actions';
import { useSite } from './support/use-site';

const LIST = '/admin/payments';

const site = useSite('company');

const cells = (page: Page, column: number) =>
  page.locator(`tbody tr td:nth-child(${column})`).allTextContents();

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
  const page = await site.open(`${LIST}?invoice=E2E-1`, { viewport: { width: 390, height: 844 } });
  await page.getByRole('navigation', { name: 'Sort by' }).getByRole('link', { name: 'Amount' }).click();
  await page.waitForURL(/sort=-amount$/);
  await page.locator('main ul li a').filter({ hasText: '€100.00', visible: true }).first().waitFor();
});

test('paging through the payment list keeps its filters and order, and an empty page links to the first', async () => {
  const page = await site.open(`${LIST}?customer=K-E2E&sort=reference`);
  const first = await cells(page, 3);
  expect(first).toHaveLength(25);
  await link(page, 'Next').click();
  await expect.poll(() => cells(page, 3)).toEqual(['025', '026', '027', '028', '029'].map((n) => `E2E-${n}`));
  expect(new URL(page.url()).search).toMatch(/^\?customer=K-E2E&sort=reference&after=/);
  await page.getByText('30 payments', { exact: true }).waitFor();
  await link(page, 'Previous').click();
  await expect.poll(() => cells(page, 3)).toEqual(first);
  await link(page, '50').click();
  await expect.poll(() => rows(page).count()).toBe(30);
  await visit(page, `${site.url}${LIST}?customer=K-E2E&after=1.2000-01-01`);
  await see(page, 'No payments on this page');
  await follow(page, 'Go to the first page', `${site.url}${LIST}?customer=K-E2E`);
});

test('an invalid filter of a list shows one error at the filter’s field instead of rows', async () => {
  const page = await site.open(`${LIST}?customer=x&from=2026-03-02&to=2026-03-01`);
  expect(await page.getByText('Must not be before the first day.').count()).toBe(1);
  expect(await page.getByLabel('To', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator('search summary').first().textContent()).toBe('Customerx');
  for (const [path, sentence] of [
    [`${LIST}?status=paid`, 'Must be one of'],
    ['/admin/customers?country=Germania', 'Must be a country by its name or its two letters'],
    ['/admin/webhooks?type=nonsense', 'Must be one of the types listed.'],
  ] as const) {
    const text = await (await site.fetch(path)).text();
    expect(text).toContain(sentence);
    expect(text).not.toMatch(/<table|Download CSV/);
  }
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

describe('the CSV file of payments', () => {
  const download = (query: string) => site.fetch(`/admin/export/payments${query}`);

  test('the CSV file contains the filtered payments in the order of the list', async () => {
    const page = await site.open(`${LIST}?reference=E2E-00&sort=-amount`);
    const [file] = await Promise.all([page.waitForEvent('download'), link(page, 'Download CSV').click()]);
    expect(file.suggestedFilename()).toMatch(/^payments-\d{4}-\d\d-\d\d\.csv$/);
    const response = await download(new URL(file.url()).search);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const [, ...lines] = unquotedLines(await response.text());
    expect(lines.slice(0, -1).map((line) => line.split(',')[6])).toEqual(await cells(page, 3));
    expect(lines[0]).toMatch(/,100,eur,2026-01-10,E2E-000,completed,0,api,.*,E2E-1,K-E2E,'=Weiß & Söhne,$/);
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
    const { status, headers } = await site.fetch(old);
    expect([status, headers.get('location')]).toEqual([307, file]);
    expect((await site.fetch(file)).headers.get('content-type')).toMatch(/^text\/csv/);
  });

  test('a CSV download with an invalid filter redirects to the list, and one by POST is refused', async () => {
    const { status, headers } = await download('?status=paid');
    expect([status, headers.get('location')]).toEqual([307, `${LIST}?status=paid`]);
    const post = await site.fetch('/admin/export/payments', { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

test('the overview links to refunds without a matching payment and to disputed payments, which link to Stripe', async () => {
  const page = await site.open('/admin');
  await follow(page, /1 refund or dispute has no matching payment\./, `${site.url}${LIST}/refunds#unmatched`);
  const unmatched = rowsOf(page, 'No matching payment');
  expect(await unmatched.textContent()).toMatch(/No matching payment.*€5\.00/);
  await page.goBack();
  await see(page, /^\d answers? needed, the next by \d+ \w+ \d{4}/);
  await page.getByRole('link', { name: 'Disputed payments' }).click();
  await page.waitForURL(`${site.url}${LIST}?status=disputed`);
  const { id, reference } = site.facts.paidBack.disputed;
  const listed = rows(page).filter({ hasText: reference });
  expect(await listed.textContent()).toContain('Disputed');
  await listed.click();
  await page.waitForURL(`${site.url}${LIST}/${id}`);
  const row = rowsOf(page, 'Refunds and disputes');
  expect(await row.textContent()).toMatch(
    /Dispute.*Answer needed.*Fraudulent · Evidence due .* · Funds withdrawn .*Stripe.*€/,
  );
  const href = await row.getByRole('link', { name: /^Stripe: dispute dp_\w+$/ }).getAttribute('href');
  expect(href).toMatch(/^https:\/\/dashboard\.stripe\.com\/test\/disputes\/dp_\w+$/);
});

test('a partial refund is shown in lists and on the pages of the payment, invoice and customer', async () => {
  const { id, reference, invoiceId, customerId } = site.facts.paidBack.inPart;
  const page = await site.open(LIST);
  const moneyBack = rowsOf(page, 'Refunds and disputes');
  await choose(page, 'Status', 'Refunded in part');
  await page.waitForURL(`${site.url}${LIST}?status=refunded_in_part`);
  const listed = rows(page).filter({ hasText: reference });
  expect(await listed.textContent()).toContain('€1.00 refunded');
  await listed.click();
  await page.waitForURL(`${site.url}${LIST}/${id}`);
  expect(await section(page, 'Payment').textContent()).toContain('Refunded€1.00');
  const href = await moneyBack.getByRole('link', { name: /^Stripe: refund re_/ }).getAttribute('href');
  expect(href).toMatch(/\/test\/payments\/pi_\w+$/);
  for (const path of [`customers/${customerId}`, `invoices/${invoiceId}`]) {
    await visit(page, `${site.url}/admin/${path}`);
    const row = moneyBack.filter({ hasText: '€1.00' });
    expect(await row.textContent()).toMatch(/Refund.*Succeeded.*Requested by customer.*Stripe/);
    expect(await row.locator(`a[href="${LIST}/${id}"]`).count()).toBe(1);
  }
  expect(await section(page, 'Invoice').textContent()).toContain('Refunded€1.00');
  await visit(page, `${site.url}/admin/invoices?status=refunded_in_part`);
  await rows(page).filter({ hasText: '€1.00 refunded' }).waitFor();
});

test('an open task is shown on the page of its invoice and on the overdue page, and staff can mark it as done', async () => {
  const text = 'The bank took back 71.00 EUR of invoice W2E-1';
  const page = await site.open('/admin');
  await follow(page, /^\d tasks? (is|are) waiting for a decision\.$/, `${site.url}/admin/tasks`);
  const task = rows(page).filter({ hasText: text });
  await task.getByRole('link', { name: 'Open the invoice' }).click();
  await page.waitForURL(/\/admin\/invoices\/\d+$/);
  const notice = page.getByRole('alert').filter({ hasText: text });
  await notice.waitFor();
  await visit(page, `${site.url}/admin/overdue`);
  await notice.getByRole('link', { name: 'Open the tasks' }).click();
  await page.waitForURL(`${site.url}/admin/tasks`);
  const done = page.getByRole('button', { name: /^Done: A bank took money back/ });
  await done.locator('visible=true').click();
  await told(page, 'The task is done.');
  expect(await done.count()).toBe(0);
  const row = await rowsOf(page, 'Done').textContent();
  expect(row).toContain(`${text}: the customer owes 71.00 EUR.`);
  expect(row).toContain('grace@example.com');
});

/** Returns the id of payment n of invoice W2E-1, counted from 0. */
const id = (n: number) => site.facts.changed.ids[n];
const path = (n: number) => `${LIST}/${id(n)}`;
const api = (under: string, init: RequestInit = {}) =>
  fetch(`${site.url}/api/w5t/payments${under}`, {
    ...init,
    headers: { authorization: `Bearer ${site.facts.token}`, 'content-type': 'application/json' },
  });
const write = (n: number, method: 'PATCH' | 'DELETE', body?: object) =>
  api(`/${id(n)}`, { method, ...(body && { body: JSON.stringify(body) }) });
async function read(n: number): Promise<PaymentRow | null> {
  const answer = await api(`/${id(n)}`);
  return answer.ok ? ((await answer.json()) as PaymentRow) : null;
}
async function paymentsNamed(reference: string): Promise<PaymentRow[]> {
  return (await (await api(`?${new URLSearchParams({ payment_reference: reference })}`)).json()).data;
}

describe('recording payments', () => {
  const fillIn = (page: Page, amount: string, reference: string) =>
    fill(page, { 'Amount in EUR': amount, Reference: reference });

  test('staff can record a payment after finding its invoice by number, and a double click records it once', async () => {
    const page = await site.open(LIST);
    await follow(page, 'Record payment', `${site.url}${LIST}/new`);
    const invoice = page.getByRole('textbox', { name: 'Invoice' });
    await invoice.fill('Weiß');
    await press(page, 'Find invoice');
    await page.getByRole('list', { name: 'Matching invoices' }).getByText('W2E-1').waitFor();
    await invoice.fill('w2e-1');
    await pressAndSee(page, 'Find invoice', '=Weiß & Söhne, K-W2E');
    expect(await valuesOf(page, 'Amount in EUR', 'Date')).toEqual(['119.00', site.facts.today]);
    await fillIn(page, '120', 'CASH-W2E');
    await see(page, '€1.00 more than the balance due. It is kept as a credit on the invoice.');
    await fillIn(page, '19,5', 'CASH-W2E');
    await page.getByRole('button', { name: 'Record payment' }).dblclick();
    await page.waitForURL(/\/admin\/payments\/\d+\?notice=recorded$/);
    await told(page, 'The payment is recorded.');
    await see(page, `Created by ${STAFF.email}`);
    const recorded = { amount: 19.5, currency: 'eur', status: 'completed', source: 'staff' };
    expect(await paymentsNamed('CASH-W2E')).toMatchObject([{ ...recorded, payment_date: site.facts.today }]);
  });

  test('recording a payment with the reference of another one is refused, links to that payment and does not change it', async () => {
    const page = await site.open(`${LIST}/new?invoice=%23${site.facts.changed.invoice}`);
    await fillIn(page, '7', 'W2E-005');
    await pressAndSee(page, 'Record payment', 'Another payment has this reference');
    await hasFocus(page, 'textbox', 'Reference');
    expect(await valuesOf(page, 'Amount in EUR', 'Reference')).toEqual(['7', 'W2E-005']);
    expect((await paymentsNamed('W2E-005')).map(({ amount }) => amount)).toEqual([95]);
    page.once('dialog', (dialog) => dialog.accept()); // Accept the warning that the typed values will be lost.
    await follow(page, '€95.00 of 10 Jan 2026', `${site.url}${LIST}/${id(5)}`);
  });

  test('recording a payment is refused for an invoice that Stripe manages', async () => {
    const page = await site.open(`${LIST}?status=completed&reference=in_1`);
    await page.locator('tbody tr').first().click();
    await page.waitForURL(/\/payments\/\d+$/);
    await page.getByRole('link', { name: 'Record payment' }).click();
    await page.getByText('Stripe manages this invoice').waitFor();
  });
});

describe('changing payments', () => {
  const ask = async (page: Page, name: string) => {
    await press(page, name);
    await page.getByRole('dialog').waitFor();
  };
  const yes = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name });

  test('a double click on the refund confirmation marks the payment as refunded once', async () => {
    const page = await site.open(path(10));
    await ask(page, 'Mark as refunded');
    const dialog = page.getByRole('dialog', { name: 'Mark this payment as refunded?' });
    expect(await dialog.textContent()).toContain('€90.00, W2E-010');
    await yes(page, 'Mark as refunded').dblclick();
    await told(page, 'The payment is marked as refunded.');
    await see(page, 'Status: Completed → Refunded', `Changed by ${STAFF.email}`);
    expect(await page.getByText('Changed by').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Mark as refunded', includeHidden: true }).count()).toBe(0);
    expect(await read(10)).toMatchObject({ status: 'refunded' });
  });

  test('a payment can be refunded in two parts', async () => {
    const page = await site.open(path(17));
    await link(page, 'Record refund').click();
    await see(page, 'Nothing is refunded at Stripe');
    expect(await valuesOf(page, 'Amount in EUR')).toEqual(['83.00']);
    expect(await violationsOf(page)).toEqual([]);
    await fill(page, { 'Amount in EUR': '83.01' });
    await pressAndSee(page, 'Record refund', 'Must be at most what is left of the payment: 83.00 EUR.');
    await fill(page, { 'Amount in EUR': '40' });
    const foretold = page.getByRole('status').filter({ hasText: 'The balance due of invoice' });
    const sentence = /^The balance due of invoice W2E-1 will be (€[\d,]+\.\d\d)\.$/;
    const owed = sentence.exec((await foretold.textContent()) ?? '')?.[1] ?? 'no amount';
    await press(page, 'Record refund', 'The refund is recorded.');
    await page.locator('dt:text-is("Due") + dd').filter({ hasText: owed }).waitFor();
    expect(await read(17)).toMatchObject({ status: 'completed', refunded_amount: 40 });
    await link(page, 'Record refund').click();
    await see(page, '€43.00 of €83.00 can be refunded');
    await press(page, 'Record refund', 'The refund is recorded.');
    expect(await read(17)).toMatchObject({ status: 'refunded', refunded_amount: 83 });
  });

  test('staff can confirm a pending payment or mark it as failed', async () => {
    for (const [n, button, answer, message, status] of [
      [18, 'Confirm', 'Confirm payment', 'The payment is confirmed.', 'completed'],
      [19, 'Mark as failed', 'Mark as failed', 'marked as failed', 'failed'],
    ] as const) {
      await write(n, 'PATCH', { status: 'pending' });
      const page = await site.open(path(n));
      await confirm(page, [button, answer], message);
      expect(await read(n)).toMatchObject({ status });
    }
  });

  test('staff can correct a payment after invalid input is refused, and the history shows its old reference', async () => {
    const page = await site.open(path(9));
    await use(page, 'link', 'Correct');
    expect(await valuesOf(page, 'Invoice')).toEqual(['W2E-1']);
    await fill(page, { Invoice: 'no such' });
    await pressAndSee(page, 'Save', 'There is no such invoice.');
    await fill(page, { Invoice: 'W2E-1', Date: '2099-01-01' });
    await pressAndSee(page, 'Save', 'Must not be in the future unless the payment is pending.');
    expect(await violationsOf(page)).toEqual([]);
    await fill(page, { 'Amount in EUR': '12.34', Date: '2026-01-02', Reference: 'W2E-008' });
    await pressAndSee(page, 'Save', 'Another payment has this reference');
    await fill(page, { Reference: 'W2E-009 corrected' });
    await press(page, 'Save', 'The payment is corrected.');
    await see(page, 'Payment reference: W2E-009 → W2E-009 corrected');
    expect(await page.getByText('Version:').count()).toBe(0);
    expect(await read(9)).toMatchObject({
      ...{ status: 'completed', amount: 12.34, payment_date: '2026-01-02' },
      payment_reference: 'W2E-009 corrected',
    });
  });

  test('moving a payment to an invoice that already counts its money is refused, and the reason names the payment that counts it', async () => {
    const listed: PaymentRow[] = (await (await api('?status=completed&per_page=100')).json()).data;
    const counted = listed.find(({ source }) => source === 'stripe');
    await write(15, 'PATCH', { payment_reference: 'pi_moved' });
    const page = await site.open(`${path(15)}/edit`);
    await fill(page, { Invoice: `#${counted?.invoice_id}` });
    await pressAndSee(page, 'Save', `Names money that payment ${counted?.id} already counts.`);
    expect(await page.getByText('Another payment has this reference').count()).toBe(0);
    expect(await read(15)).toMatchObject({ invoice_id: site.facts.changed.invoice });
  });

  test('a forged request cannot mark a pending payment as refunded', async () => {
    const etag = (await write(8, 'PATCH', { status: 'pending' })).headers.get('etag');
    const decide = listServerActions('1').find(({ name }) => name === 'app/admin/payments/actions.ts#decide');
    if (!decide) throw new Error('decide is not built');
    const call = async (status: string) =>
      (await postAction(site.url, decide, [id(8), etag, status], { cookie: await site.cookie() })).status;
    expect([await call('refunded'), await call('pending')]).toEqual([404, 404]);
    expect(await read(8)).toMatchObject({ status: 'pending', refunded_amount: 0 });
    await call('failed');
    expect(await read(8)).toMatchObject({ status: 'failed' });
  });

  test('the page of a deleted payment shows its last state and who deleted it', async () => {
    const page = await site.open(path(11));
    await ask(page, 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete this payment?' });
    expect(await dialog.textContent()).toContain('€89.00, W2E-011');
    await yes(page, 'Delete payment').click();
    await page.waitForURL(`${site.url}${LIST}?deleted=${id(11)}`);
    const notice = page
      .getByRole('status')
      .filter({ hasText: `€89.00, W2E-011, was deleted by ${STAFF.email}.` });
    await notice.getByRole('link').click();
    await page.waitForURL(site.url + path(11));
    await see(page, 'This payment was deleted', `Deleted by ${STAFF.email}`, 'Payment reference: W2E-011');
    expect(await page.getByRole('button', { name: 'Delete', includeHidden: true }).count()).toBe(0);
    expect(await read(11)).toBeNull();
    await link(page, 'W2E-1').click();
    await see(page, `was deleted by ${STAFF.email}`);
  });

  test.each([
    ['Mark as refunded', 'Mark as refunded', 12],
    ['Delete', 'Delete payment', 13],
  ])('the button “%s” on an outdated payment page only shows the changes', async (button, confirm, n) => {
    const page = await site.open(path(n));
    await ask(page, button);
    expect((await write(n, 'PATCH', { amount: 55.5 })).status).toBe(200);
    await yes(page, confirm).click();
    await seeAlert(page, 'changed in the meantime');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('heading', { name: '€55.50' }).waitFor();
    await see(page, 'Changed by ERP');
    expect(await read(n)).toMatchObject({ amount: 55.5, status: 'completed' });
    await ask(page, button);
    await yes(page, confirm).click();
    await told(page, /refunded|deleted/);
  });

  test('refunding a payment that was deleted meanwhile shows who deleted it', async () => {
    const page = await site.open(path(14));
    await ask(page, 'Mark as refunded');
    await write(14, 'DELETE');
    await yes(page, 'Mark as refunded').click();
    await seeAlert(page, 'was deleted in the meantime');
    await see(page, 'Deleted by ERP');
  });
});

test('payments can be sorted, opened and deleted by keyboard alone', async () => {
  const page = await site.open(`${LIST}?customer=K-W2E&reference=W2E-02`);
  const focused = () =>
    page.evaluate(
      () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
    );
  const tabTo = async (text: string) => {
    for (let i = 0; i < 60 && !(await focused()).startsWith(text); i++) await page.keyboard.press('Tab');
    expect(await focused()).toMatch(new RegExp(`^${text}`));
  };
  await tabTo('Amount');
  await page.keyboard.press('Enter');
  await page.waitForURL(/sort=-amount$/);
  await tabTo('W2E-02');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${site.url}${LIST}/${id(20)}`);
  const pressDelete = async () => {
    await tabTo('More');
    await page.keyboard.press('Enter');
    await tabTo('Delete');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Cancel');
  };
  await pressDelete();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await expect.poll(focused).toBe('More');
  await pressDelete();
  await tabTo('Delete payment');
  await page.keyboard.press('Enter');
  await page.waitForURL(/deleted=\d+$/);
  await expect.poll(focused).toContain('was deleted by');
});
