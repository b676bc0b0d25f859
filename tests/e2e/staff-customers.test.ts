import type { BrowserContextOptions, Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import type { Database } from '@/db/database';
import { stripeCustomers, stripeEvents } from '@/db/schema';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createSalesDocument,
  createService,
  createSubscription,
} from '../support/factories';
import { visit } from './support/browser';
import { fillFilter } from './support/filters';
import { useStaffPages } from './support/staff-pages';

let wren: number;
const site = useStaffPages({
  async fill(db) {
    wren = await fillCustomer(db);
  },
});

/** K-WREN, who owes 300.00 EUR, has twelve payments, and one of everything else. */
async function fillCustomer(db: Database): Promise<number> {
  const { id: customer_id } = await createCustomer(db, {
    customer_number: 'K-WREN',
    company: 'Zaunkönig & Söhne',
    email: 'Office@Wren-and-Sons.example',
    city: 'Graz',
    country: 'AT',
  });
  const owed = { customer_id, amount_due: '100' };
  await createInvoice(db, { ...owed, number: 'WREN-1', status: 'overdue', invoice_date: '2026-01-01' });
  await createInvoice(db, { ...owed, number: 'WREN-2', amount_due: '200' });
  const paid = await createInvoice(db, { customer_id, number: 'WREN-0', status: 'paid', amount_due: '0' });
  for (let i = 1; i <= 12; i++) {
    await createPayment(db, {
      customer_id,
      invoice_id: paid.id,
      payment_reference: `WREN-PAID-${i}`,
      payment_date: `2026-02-${String(i).padStart(2, '0')}`,
    });
  }
  await createSalesDocument(db, { customer_id, document_number: 'WREN-OFFER' });
  await createService(db, { customer_id, service_number: 'S-WREN', domain: 'wren-and-sons.example' });
  await createSubscription(db, { customer_id, stripe_subscription_id: 'sub_wren' });
  await db
    .insert(stripeCustomers)
    .values({ stripe_customer_id: 'cus_wren', customer_id, linked_by: 'staff' });
  await db.insert(stripeEvents).values({
    id: 'evt_wren',
    type: 'invoice.payment_failed',
    livemode: false,
    payload: '{}',
    outcome: 'failed',
    object_id: 'in_wren',
    stripe_customer_id: 'cus_wren',
    stripe_created: new Date('2026-02-11T08:00:00Z'),
  });
  return customer_id;
}

const open = async (path: string, options?: BrowserContextOptions) => (await site.open(path, options)).page;
const pageOfWren = () => `/admin/customers/${wren}`;
const field = (page: Page) => page.getByRole('combobox', { name: 'Search' });

/** Waits until the page takes the keys. */
async function openSearch(page: Page): Promise<void> {
  await expect
    .poll(async () => {
      if (await field(page).isVisible()) return true;
      await page.keyboard.press('ControlOrMeta+k');
      return field(page).isVisible();
    })
    .toBe(true);
}

describe('the search', () => {
  test('finds a customer by part of an e-mail address, with the keyboard alone', async () => {
    const page = await open('/admin');
    await openSearch(page);
    await page.keyboard.type('wren-AND');
    const option = (name: RegExp) => page.getByRole('option', { name });
    await option(/Zaunkönig & Söhne.*K-WREN/).waitFor();
    expect(await page.getByRole('dialog').getByRole('status').textContent()).toMatch(/^2 results/);
    expect(
      await option(/Zaunkönig/)
        .first()
        .getAttribute('aria-selected'),
    ).toBe('true');
    await page.keyboard.press('ArrowDown');
    expect(await option(/S-WREN/).getAttribute('aria-selected')).toBe('true');
    expect(await field(page).getAttribute('aria-activedescendant')).toBe(
      await option(/S-WREN/).getAttribute('id'),
    );
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await option(/See all results/).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(site.url + pageOfWren());
    await page.getByRole('heading', { name: 'Zaunkönig & Söhne' }).waitFor();
    expect(await page.getByRole('dialog').isVisible()).toBe(false);
  });

  test('goes straight to what is named, without waiting for results', async () => {
    const page = await open('/admin');
    await openSearch(page);
    await page.keyboard.type('cus_wren');
    await page.keyboard.press('Enter');
    await page.waitForURL(site.url + pageOfWren());
  });

  test('is closed by Escape, and gives the focus back', async () => {
    const page = await open('/admin/customers');
    await openSearch(page);
    await page.keyboard.press('Escape');
    await expect.poll(() => field(page).isVisible()).toBe(false);
    await page.getByRole('link', { name: 'New customer' }).focus();
    await openSearch(page);
    expect(await field(page).inputValue()).toBe('');
    await page.keyboard.press('Escape');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toBe('New customer');
  });

  test('says that there is nothing, and shows only what was typed last', async () => {
    const page = await open('/admin');
    await openSearch(page);
    await page.keyboard.type('K-WREN');
    await page.getByRole('option', { name: /Zaunkönig/ }).waitFor();
    await page.keyboard.type('-nobody');
    await page.getByText('Nothing found for “K-WREN-nobody”.').waitFor();
    expect(await page.getByRole('option').count()).toBe(0);
  });

  test('says where one was signed out meanwhile, or nothing answers', async () => {
    const { page, complaints } = await site.open('/admin');
    await openSearch(page);
    await page.route('**/admin/search/results?*', (route) => route.abort());
    await page.keyboard.type('abc');
    await page.getByText('The search does not work right now.').waitFor();
    await page.unroute('**/admin/search/results?*');
    await page.context().clearCookies();
    await page.keyboard.type('d');
    await page.getByText('You are no longer signed in.').waitFor();
    const link = page.getByRole('link', { name: 'Sign in again' });
    expect(await link.getAttribute('href')).toBe('/sign-in?next=%2Fadmin');
    expect(complaints.splice(0).every((text) => /ERR_FAILED|401/.test(text))).toBe(true);
  });

  test('is a page without scripts', async () => {
    const page = await open('/admin', { javaScriptEnabled: false });
    await page.getByRole('link', { name: 'Search' }).first().click();
    await page.waitForURL(`${site.url}/admin/search`);
    await page.getByRole('textbox', { name: 'Search' }).fill('wren-');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText(/^The first \d+ results for “wren-”$/).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Customers',
      'Invoices',
      'Payments',
      'Services',
      'Sales documents',
    ]);
    await page.getByRole('link', { name: 'See all that match' }).click();
    await page.waitForURL(`${site.url}/admin/payments?reference=wren-`);
    await visit(page, `${site.url}/admin/search?q=sub_wren`);
    await page.waitForURL(/\/admin\/subscriptions\/\d+$/);
  });
});

describe('what the dialog asks', () => {
  const ask = (query: string, headers: Record<string, string>, method = 'GET') =>
    fetch(`${site.url}/admin/search/results${query}`, {
      method,
      redirect: 'manual',
      headers: { accept: 'application/json', ...headers },
    });

  test('is answered to staff, and kept nowhere', async () => {
    const answer = await ask('?q=k-wren', { cookie: site.cookie });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await answer.json()).toEqual({
      groups: [
        {
          label: 'Customers',
          more: false,
          entries: [
            {
              href: pageOfWren(),
              title: 'Zaunkönig & Söhne',
              detail: 'K-WREN · Office@Wren-and-Sons.example',
              status: 'active',
              figure: null,
            },
          ],
        },
      ],
    });
  });

  test.each([{}, { cookie: 'w5t.session_token=forged.signature' }])('is refused to %j', async (headers) => {
    const answer = await ask('?q=k-wren', headers);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
    expect(await answer.text()).not.toContain('Zaun');
  });

  test.each(['', '?q=', '?q=%00', `?q=${'x'.repeat(201)}`])('is no search: %j', async (query) => {
    expect((await ask(query, { cookie: site.cookie })).status).toBe(422);
  });

  test('has one method', async () => {
    const answer = await ask('?q=a', { cookie: site.cookie }, 'POST');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('the page of a customer', () => {
  test('shows who it is, what it owes and has', async () => {
    const page = await open(pageOfWren());
    const section = (title: string) =>
      page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
    await section('Balance due').getByText('€300.00').waitFor();
    expect(await section('Balance due').textContent()).toContain('2 unpaid invoices · 1 overdue');
    expect(await section('Details').textContent()).toMatch(
      /K-WREN.*Office@Wren-and-Sons.example.*Graz.*Austria/,
    );
    expect(await section('Unpaid invoices').locator('tbody tr').allTextContents()).toEqual([
      expect.stringMatching(/^WREN-1.*Overdue.*€100.00/),
      expect.stringMatching(/^WREN-2.*Sent.*€200.00/),
    ]);
    expect(await section('Open sales documents').locator('tbody').textContent()).toContain('WREN-OFFER');
    expect(await section('Services').locator('tbody').textContent()).toContain('wren-and-sons.example');
    expect(await section('Subscriptions').locator('tbody').textContent()).toContain('Active');
    expect(await section('Stripe').locator('tbody').textContent()).toContain('cus_wren');
    expect(await section('Latest payments').locator('tbody tr').count()).toBe(10);
    expect(await section('Latest payments').getByRole('link', { name: /^All/ }).textContent()).toBe(
      'All payments (12)',
    );
  });

  test.each([
    ['All invoices (3)', '/admin/invoices?customer=K-WREN'],
    ['All sales documents', '/admin/sales-documents?customer=K-WREN'],
    ['All services', '/admin/services?customer=K-WREN'],
    ['All subscriptions', '/admin/subscriptions?customer=K-WREN'],
    ['All payments (12)', '/admin/payments?customer=K-WREN'],
  ])('leads by "%s" to its own list', async (name, path) => {
    const page = await open(pageOfWren());
    await page.getByRole('link', { name }).click();
    await page.waitForURL(site.url + path);
    await page.locator('tbody tr').first().waitFor();
  });

  test('tells what happened, the newest first', async () => {
    const page = await open(pageOfWren());
    const entries = page.locator('#timeline li');
    await entries.first().waitFor();
    expect((await entries.allTextContents()).slice(0, 3)).toEqual([
      expect.stringContaining('WREN-PAID-12'),
      expect.stringContaining('WREN-PAID-11'),
      expect.stringMatching(/Stripe: invoice payment failed.*Failed/),
    ]);
    expect(await entries.nth(2).locator('time').getAttribute('title')).toBe('2026-02-11T08:00:00.000Z');
    await entries.nth(2).getByRole('link').click();
    await page.waitForURL(`${site.url}/admin/webhooks/evt_wren`);
  });

  test.each(['999999', '0', 'x', '2147483648', '99999999999999'])('of %s is not found', async (id) => {
    const headers = { cookie: site.cookie };
    expect((await fetch(`${site.url}/admin/customers/${id}`, { headers })).status).toBe(404);
  });

  test('is linked where others name the customer', async () => {
    const page = await open('/admin/subscriptions/stripe-customers/cus_wren');
    await page.getByRole('link', { name: 'Zaunkönig & Söhne' }).click();
    await page.waitForURL(site.url + pageOfWren());
    await page.getByRole('link', { name: 'WREN-2' }).click();
    await page.waitForURL(/\/admin\/invoices\/\d+$/);
    await page.getByRole('link', { name: 'Zaunkönig & Söhne' }).click();
    await page.waitForURL(site.url + pageOfWren());
  });
});

describe('the list of customers', () => {
  test('is filtered, sorted and leafed through', async () => {
    const page = await open('/admin/customers');
    const numbers = () => page.locator('tbody tr td:first-child').allTextContents();
    await fillFilter(page, 'Customer', 'zaunkönig');
    await page.waitForURL(/q=zaunk/);
    await fillFilter(page, 'Country', 'at');
    await page.waitForURL(`${site.url}/admin/customers?q=zaunk%C3%B6nig&country=at`);
    await expect.poll(numbers).toEqual(['K-WREN']);
    await visit(page, `${site.url}/admin/customers?sort=number`);
    await expect.poll(numbers).toHaveLength(25); // a page that still streams holds its rows twice
    const first = await numbers();
    expect(first.slice(0, 2)).toEqual(['K-WREN', 'K10001']);
    await page.getByRole('link', { name: 'Next' }).click();
    await expect.poll(async () => (await numbers())[0]).toBe('K10025');
    await page.getByRole('link', { name: 'Previous' }).click();
    await expect.poll(numbers).toEqual(first);
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('link').click();
    await page.waitForURL(`${site.url}/admin/customers?sort=name`);
  });

  test('says what is wrong with a filter', async () => {
    const page = await open('/admin/customers?country=Austria');
    await page.getByText('Must be a code of two letters, such as AT.').waitFor();
  });
});

test.each(['light', 'dark'] as const)('every page fits a telephone, %s', async (colorScheme) => {
  const page = await open('/admin/customers', { viewport: { width: 390, height: 844 }, colorScheme });
  for (const path of [
    '/admin/customers',
    '/admin/customers?q=nobody&country=Austria',
    pageOfWren(),
    '/admin/search',
    '/admin/search?q=wren',
  ]) {
    await visit(page, site.url + path);
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 390]);
  }
  await expect
    .poll(async () => {
      await page.getByRole('banner').getByRole('link', { name: 'Search' }).click({ force: true });
      return field(page).isVisible();
    })
    .toBe(true);
  await field(page).fill('wren-and');
  await page.getByRole('option', { name: /K-WREN/ }).click();
  await page.waitForURL(site.url + pageOfWren());
});
