import { sql } from 'drizzle-orm';
import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '@/db/database';
import type { PaymentRow } from '@/lib/payments/schema';
import { createCustomer, createInvoice, createPayment } from '../support/factories';
import { launchBrowser } from './support/browser';
import { fillCompany, STAFF } from './support/company';
import { openSite, type Site } from './support/site';
import { interceptAction, openSession, openStaffPage, type Session, sendAction } from './support/staff';

const LIST = '/admin/payments';

let site: Site;
let browser: Browser;
let session: Session;
let token: string;
/** Two payments of one customer's invoice, which is not Stripe's. */
let held: { invoice: { id: number; number: string | null }; ids: number[] };

beforeAll(async () => {
  site = await openSite(async (db) => {
    ({ token } = await fillCompany(db));
    held = await fillPayments(db);
    await fillBroken(db);
  });
  browser = await launchBrowser();
  session = await openSession(browser, site.url);
}, 400_000);
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function fillPayments(db: Database) {
  const customer = await createCustomer(db, { customer_number: 'K-E2E', company: '=Weiß & Söhne' });
  const invoice = await createInvoice(db, { number: 'E2E-1', customer_id: customer.id });
  const ids: number[] = [];
  for (let i = 0; i < 30; i++) {
    const payment_reference = `E2E-${String(i).padStart(3, '0')}`;
    const amount = String(100 - i);
    const on = { invoice_id: invoice.id, customer_id: customer.id };
    ids.push((await createPayment(db, { ...on, payment_reference, amount, payment_date: '2026-01-10' })).id);
  }
  return { invoice, ids };
}

/** A row that cannot be read, behind more than one batch of an export. */
async function fillBroken(db: Database) {
  const customer = await createCustomer(db, { customer_number: 'K-BROKEN' });
  const invoice = await createInvoice(db, { number: 'BROKEN-1', customer_id: customer.id });
  await db.execute(sql`
    insert into payments (invoice_id, customer_id, amount, payment_date, payment_reference, status, source)
    select ${invoice.id}::int, ${customer.id}::int, case when i = 1200 then 'NaN'::numeric else 5 end,
      '2019-01-01', 'BROKEN-' || i, 'failed', 'import'
    from generate_series(1, 1500) i order by i desc`);
}

const opened: { page: Page; complaints: string[] }[] = [];

async function open(path: string, options?: BrowserContextOptions) {
  const staff = await openStaffPage(browser, session, {
    viewport: { width: 1440, height: 900 },
    ...options,
  });
  opened.push(staff);
  await staff.page.goto(site.url + path);
  return staff;
}

afterEach(async () => {
  const complaints = opened.flatMap((one) => one.complaints);
  for (const { page } of opened.splice(0)) await page.context().close();
  expect(complaints).toEqual([]);
});

const api = () => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

async function paymentOf(id: number): Promise<PaymentRow | null> {
  const response = await fetch(`${site.url}/api/w5t/payments/${id}`, { headers: api() });
  return response.ok ? ((await response.json()) as PaymentRow) : null;
}

async function paymentsNamed(reference: string): Promise<PaymentRow[]> {
  const query = new URLSearchParams({ payment_reference: reference });
  const response = await fetch(`${site.url}/api/w5t/payments?${query}`, { headers: api() });
  return (await response.json()).data;
}

const cells = (page: Page, column: number) =>
  page.locator(`tbody tr td:nth-child(${column})`).allTextContents();

describe('the list', () => {
  test('is filtered by what was typed, and the address says by what', async () => {
    const { page } = await open(LIST);
    await page.getByLabel('Customer').fill('k-e2e');
    await page.getByLabel('Reference').fill('e2e-00');
    await page.getByLabel('Status').selectOption('completed');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(`${site.url}${LIST}?customer=k-e2e&reference=e2e-00&status=completed`);
    await page.getByText('10 payments', { exact: true }).waitFor();
    expect(await cells(page, 3)).toEqual(Array.from({ length: 10 }, (_, i) => `E2E-00${9 - i}`));
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.waitForURL(site.url + LIST);
  });

  test('is sorted by its headers, and says how', async () => {
    const { page } = await open(`${LIST}?invoice=E2E-1`);
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

  test('is leafed through in both directions, keeping filters and order', async () => {
    const { page } = await open(`${LIST}?customer=K-E2E&sort=reference`);
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

  test('a wrong filter says so once, at its field, and keeps what was typed', async () => {
    const { page } = await open(`${LIST}?customer=x&from=2026-03-02&to=2026-03-01`);
    expect(await page.getByText('Must not be before the first day.').count()).toBe(1);
    const to = page.getByLabel('To', { exact: true });
    expect(await to.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Customer').inputValue()).toBe('x');
    expect(await page.locator('table').count()).toBe(0);
    await page.goto(`${site.url}${LIST}?status=paid`);
    expect(await page.getByText(/must be one of/i).count()).toBe(1);
  });

  test('links of a payment lead to all of its invoice and of its customer', async () => {
    const { page } = await open(`${LIST}/${held.ids[0]}`);
    const links = page.getByRole('link', { name: 'All payments' });
    await links.first().click();
    await page.waitForURL(`${site.url}${LIST}?invoice=%23${held.invoice.id}`);
    await page.getByText('30 payments', { exact: true }).waitFor();
    await page.goBack();
    await links.last().click();
    await page.waitForURL(`${site.url}${LIST}?customer=K-E2E`);
    await page.getByText('30 payments', { exact: true }).waitFor();
  });
});

describe('the CSV file', () => {
  const download = (query: string) =>
    fetch(`${site.url}${LIST}/export${query}`, { headers: { cookie: session.cookie }, redirect: 'manual' });

  test('has the filters and the order of the list', async () => {
    const { page } = await open(`${LIST}?reference=E2E-00&sort=-amount`);
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
    expect(lines[1]).toMatch(/,100,eur,2026-01-10,E2E-000,completed,api,.*,E2E-1,K-E2E,'=Weiß & Söhne$/);
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
    const post = await fetch(`${site.url}${LIST}/export`, {
      method: 'POST',
      headers: { cookie: session.cookie },
    });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test.each([{}, { cookie: 'w5t.session_token=forged.signature' }])('is not for %j', async (headers) => {
    const path = `${LIST}/export?customer=K-E2E`;
    const response = await fetch(site.url + path, { headers, redirect: 'manual' });
    expect(response.status).toBe(307);
    expect(response.headers.get('location')).toContain(`/sign-in?next=${encodeURIComponent(path)}`);
    expect(await response.text()).not.toContain('E2E-0');
  });
});

describe('recording', () => {
  const fillIn = async (page: Page, amount: string, reference: string) => {
    await page.getByLabel('Amount in EUR').fill(amount);
    await page.getByLabel('Reference').fill(reference);
  };
  const recordButton = (page: Page) => page.getByRole('button', { name: 'Record payment' });
  const newPath = () => `${LIST}/new?invoice=%23${held.invoice.id}`;

  test('goes from the invoice number to the payment', async () => {
    const { page } = await open(LIST);
    await page.getByRole('link', { name: 'Record payment' }).click();
    await page.waitForURL(`${site.url}${LIST}/new`);
    await page.getByLabel('Invoice').fill('no such number');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('There is no such invoice.').waitFor();
    await page.getByLabel('Invoice').fill('e2e-1');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('=Weiß & Söhne, K-E2E').waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('119.00');
    const today = new Date().toISOString().slice(0, 10);
    expect(await page.getByLabel('Date').inputValue()).toBe(today);
    await fillIn(page, '1,119', 'CASH-E2E');
    await recordButton(page).click();
    await page.getByText(/^Must be a number like/).waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('1,119');
    expect(await page.getByLabel('Reference').inputValue()).toBe('CASH-E2E');
    await fillIn(page, '19,5', 'CASH-E2E');
    await recordButton(page).dblclick();
    await page.waitForURL(/\/admin\/payments\/\d+\?notice=recorded$/);
    await page.getByRole('status').filter({ hasText: 'The payment is recorded.' }).waitFor();
    await page.getByText(`Created by ${STAFF.email}`).waitFor();
    const [payment, another] = await paymentsNamed('CASH-E2E');
    expect(another).toBeUndefined();
    expect(payment).toMatchObject({
      amount: 19.5,
      currency: 'eur',
      status: 'completed',
      source: 'staff',
      payment_date: today,
    });
  });

  test('never writes over the payment that has the reference', async () => {
    const { page } = await open(newPath());
    await fillIn(page, '7', 'E2E-005');
    await recordButton(page).click();
    const link = page.getByRole('link', { name: '€95.00 of 10 Jan 2026' });
    await link.waitFor();
    await expect
      .poll(() => page.getByLabel('Reference').evaluate((field) => field === document.activeElement))
      .toBe(true);
    expect((await paymentsNamed('E2E-005')).map(({ amount }) => amount)).toEqual([95]);
    await link.click();
    await page.waitForURL(`${site.url}${LIST}/${held.ids[5]}`);
  });

  test('works without scripts', async () => {
    const { page } = await open(newPath(), { javaScriptEnabled: false });
    await fillIn(page, '1', 'E2E-006');
    await recordButton(page).click();
    await page.getByText('Another payment has this reference').waitFor();
    await fillIn(page, '1', 'PLAIN-E2E');
    await recordButton(page).click();
    await page.getByText('The payment is recorded.').waitFor();
    expect(await paymentsNamed('PLAIN-E2E')).toHaveLength(1);
  });

  test('says where Stripe manages the invoice', async () => {
    const { page } = await open(`${LIST}?status=completed&reference=in_1`);
    await page.locator('tbody tr').first().click();
    await page.waitForURL(/\/payments\/\d+$/);
    await page.getByRole('link', { name: 'Record payment' }).click();
    await page.getByText('Stripe manages this invoice').waitFor();
  });

  test('is refused to nobody signed in', async () => {
    const { page, complaints } = await open(newPath());
    await fillIn(page, '3', 'FORGED-E2E');
    const action = await interceptAction(page, () => recordButton(page).click());
    await expectRefusedWhenSignedOut(action);
    expect(await paymentsNamed('FORGED-E2E')).toEqual([]);
    await sendAction(action, session.cookie);
    expect(await paymentsNamed('FORGED-E2E')).toHaveLength(1);
    complaints.splice(0); // of the request that was held back
  });
});

describe('changing', () => {
  const path = (n: number) => `${LIST}/${held.ids[n]}`;
  const ask = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor();
  };
  const yes = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name });
  const patch = (n: number, change: object) =>
    fetch(`${site.url}/api/w5t/payments/${held.ids[n]}`, {
      method: 'PATCH',
      headers: api(),
      body: JSON.stringify(change),
    });

  test('a refund is asked for, noted, and in the history', async () => {
    const { page } = await open(path(10));
    await ask(page, 'Mark as refunded');
    const dialog = page.getByRole('dialog', { name: 'Mark this payment as refunded?' });
    expect(await dialog.textContent()).toContain('€90.00, E2E-010');
    await yes(page, 'Mark as refunded').dblclick();
    await page.getByRole('status').filter({ hasText: 'The payment is marked as refunded.' }).waitFor();
    await page.getByText('Status: Completed → Refunded').waitFor();
    await page.getByText(`Changed by ${STAFF.email}`).waitFor();
    expect(await page.getByText('Changed by').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Mark as refunded' }).count()).toBe(0);
    expect(await paymentOf(held.ids[10] ?? 0)).toMatchObject({ status: 'refunded' });
  });

  test('a deletion names the payment; the list says that it is gone, its page what it was', async () => {
    const { page } = await open(path(11));
    await ask(page, 'Delete');
    expect(await page.getByRole('dialog', { name: 'Delete this payment?' }).textContent()).toContain(
      '€89.00, E2E-011',
    );
    await yes(page, 'Delete payment').click();
    await page.waitForURL(`${site.url}${LIST}?deleted=${held.ids[11]}`);
    const notice = page
      .getByRole('status')
      .filter({ hasText: `€89.00, E2E-011, was deleted by ${STAFF.email}.` });
    await notice.getByRole('link').click();
    await page.waitForURL(site.url + path(11));
    await page.getByText('This payment was deleted').waitFor();
    await page.getByText(`Deleted by ${STAFF.email}`).waitFor();
    await page.getByText('Payment reference: E2E-011').waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    expect(await paymentOf(held.ids[11] ?? 0)).toBeNull();
  });

  test.each([
    ['Mark as refunded', 'Mark as refunded', 12],
    ['Delete', 'Delete payment', 13],
  ])('%s of what changed meanwhile writes nothing and shows the new state', async (button, confirm, n) => {
    const { page } = await open(path(n));
    await ask(page, button);
    expect((await patch(n, { amount: 55.5 })).status).toBe(200);
    await yes(page, confirm).click();
    await page.getByRole('alert').filter({ hasText: 'changed meanwhile' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('heading', { name: '€55.50' }).waitFor();
    await page.getByText('Changed by ERP').waitFor();
    expect(await paymentOf(held.ids[n] ?? 0)).toMatchObject({ amount: 55.5, status: 'completed' });
    await ask(page, button);
    await yes(page, confirm).click();
    await page
      .getByRole('status')
      .filter({ hasText: /refunded|deleted/ })
      .waitFor();
  });

  test('a refund of what was deleted meanwhile shows what it was', async () => {
    const { page } = await open(path(14));
    await ask(page, 'Mark as refunded');
    await fetch(`${site.url}/api/w5t/payments/${held.ids[14]}`, { method: 'DELETE', headers: api() });
    await yes(page, 'Mark as refunded').click();
    await page.getByRole('alert').filter({ hasText: 'was deleted meanwhile' }).waitFor();
    await page.getByText('Deleted by ERP').waitFor();
  });

  test.each([
    ['Mark as refunded', 'Mark as refunded', 15],
    ['Delete', 'Delete payment', 16],
  ])('%s is refused to nobody signed in', async (button, confirm, n) => {
    const { page, complaints } = await open(path(n));
    await ask(page, button);
    const action = await interceptAction(page, () => yes(page, confirm).click());
    await expectRefusedWhenSignedOut(action);
    expect(await paymentOf(held.ids[n] ?? 0)).toMatchObject({ status: 'completed' });
    await sendAction(action, session.cookie);
    expect((await paymentOf(held.ids[n] ?? 0))?.status).toBe(button === 'Delete' ? undefined : 'refunded');
    complaints.splice(0); // of the request that was held back
  });
});

async function expectRefusedWhenSignedOut(action: Parameters<typeof sendAction>[0]): Promise<void> {
  const bare = await sendAction(action);
  expect(bare.status).toBe(307);
  expect(bare.headers.get('location')).toContain('/sign-in');
  const forged = await sendAction(action, 'w5t.session_token=forged.signature');
  expect(forged.headers.get('x-action-redirect')).toContain('/sign-in');
}

test('everything is done with the keyboard alone', async () => {
  const { page } = await open(`${LIST}?customer=K-E2E&reference=E2E-02`);
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
  await tabTo('10 Jan 2026');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${site.url}${LIST}/${held.ids[20]}`);
  await tabTo('Delete');
  await page.keyboard.press('Enter');
  await expect.poll(focused).toBe('Cancel');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await expect.poll(focused).toBe('Delete');
  await page.keyboard.press('Enter');
  await expect.poll(focused).toBe('Cancel');
  await tabTo('Delete payment');
  await page.keyboard.press('Enter');
  await page.waitForURL(/deleted=\d+$/);
  await expect.poll(focused).toContain('was deleted by');
});

test.each(['light', 'dark'] as const)('every page fits a telephone, %s', async (colorScheme) => {
  const { page } = await open(LIST, { viewport: { width: 390, height: 844 }, colorScheme });
  for (const path of [
    '',
    '?customer=K-E2E&sort=reference',
    '?from=2026-03-02&to=2026-03-01',
    '/new',
    `/new?invoice=%23${held.invoice.id}`,
    `/${held.ids[1]}`,
  ]) {
    await page.goto(site.url + LIST + path);
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 390]);
  }
  await page.getByRole('button', { name: 'Delete' }).click();
  const box = await page.getByRole('dialog').boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
  await page.goto(site.url + LIST);
  await page.getByRole('navigation', { name: 'Sort by' }).getByRole('link', { name: 'Amount' }).click();
  await page.waitForURL(/sort=-amount$/);
});
