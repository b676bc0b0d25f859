import type { BrowserContextOptions, Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import type { Database } from '@/db/database';
import {
  createCustomer,
  createInvoice,
  createSalesDocument,
  createServer,
  createService,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { visit } from './support/browser';
import { choose, fillFilter } from './support/filters';
import { useStaffPages } from './support/staff-pages';

const site = useStaffPages({ fill: fillRecords });

/** K-DESK with an invoice that an offer became, and a service on a server that a subscription bills. */
async function fillRecords(db: Database): Promise<void> {
  const { id: customer_id } = await createCustomer(db, { customer_number: 'K-DESK', company: 'Desk <i>' });
  const subscription = await createSubscription(db, { customer_id, stripe_subscription_id: 'sub_desk' });
  const invoice = await createInvoice(db, {
    customer_id,
    number: 'DESK-1',
    status: 'overdue',
    subtotal: '100',
    tax: '19',
    total: '119',
    amount_due: '119',
    subscription_id: subscription.id,
  });
  await createSalesDocument(db, {
    customer_id,
    document_number: 'AN-DESK',
    type: 'offer',
    status: 'converted',
    converted_to_invoice_id: invoice.id,
  });
  const { id: server_id } = await createServer(db, { hostname: 'aa.desk.example', ipv4: ['192.0.2.9'] });
  const service = await createService(db, {
    customer_id,
    service_number: 'S-DESK',
    server_id,
    domain: 'desk.example',
  });
  await createSubscriptionItem(db, { subscription_id: subscription.id, customer_service_id: service.id });
  await createStripeCustomer(db, { stripe_customer_id: 'cus_new', customer_id, linked_by: 'created' });
}

const open = async (path: string, options?: BrowserContextOptions) => (await site.open(path, options)).page;
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor();
const rows = (page: Page) => page.locator('tbody tr');

describe('invoices', () => {
  test('are filtered, leafed through, and lead to what they belong to', async () => {
    const page = await open('/admin/invoices');
    await page.getByText(/^1–25 of [\d,]+ invoices$/).waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL(/\?page=2$/);
    await page.getByText(/^26–50 of/).waitFor();
    await fillFilter(page, 'Customer', 'k-desk');
    await page.waitForURL(/customer=k-desk/);
    await choose(page, 'Status', 'Overdue');
    await page.waitForURL(`${site.url}/admin/invoices?customer=k-desk&status=overdue`);
    await page.getByText('1–1 of 1 invoice', { exact: true }).waitFor();
    await rows(page).click();
    await heading(page, /Invoice DESK-1/);
    expect(await page.locator('dl').first().textContent()).toMatch(/Total€119\.00.*Open€119\.00/);
    for (const [link, path] of [
      ['Desk <i>', /\/admin\/customers\/\d+$/],
      ['AN-DESK', /\/admin\/sales-documents\/\d+$/],
      ['Record payment', /\/admin\/payments\/new\?invoice=%23\d+$/],
    ] as const) {
      await page.getByRole('link', { name: link }).click();
      await page.waitForURL(path);
      await page.goBack();
      await heading(page, /Invoice DESK-1/);
    }
  });

  test('that a filter does not find are said not to be there', async () => {
    const page = await open('/admin/invoices?customer=nobody');
    await page.getByText('No invoices found').waitFor();
    await visit(page, `${site.url}/admin/invoices?page=9999`);
    await page.getByText('No more invoices').waitFor();
    await visit(page, `${site.url}/admin/invoices?from=tomorrow`);
    await page.getByText('Must be a calendar date').waitFor();
    expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0);
  });

  test('are taken along as CSV, as they are filtered', async () => {
    const page = await open('/admin/invoices?customer=K-DESK&per_page=100');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^invoices-\d{4}-\d\d-\d\d\.csv$/);
    const { searchParams, pathname } = new URL(file.url());
    expect([pathname, [...searchParams]]).toEqual(['/admin/invoices/export', [['customer', 'K-DESK']]]);
    const answer = await fetch(file.url(), { headers: { cookie: site.cookie } });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect((await answer.text()).split('\r\n')[1]).toMatch(/^\d+,DESK-1,overdue,.*,K-DESK,Desk <i>$/);
    const wrong = await fetch(`${site.url}/admin/invoices/export?status=unknown`, {
      headers: { cookie: site.cookie },
      redirect: 'manual',
    });
    expect([wrong.status, wrong.headers.get('location')]).toEqual([307, '/admin/invoices?status=unknown']);
  });
});

test('services lead to their server and to the subscription that bills them, and back', async () => {
  const page = await open('/admin/services?domain=DESK.ex');
  await rows(page).click();
  await heading(page, /desk\.example/);
  await page.getByRole('table', { name: 'Subscriptions' }).getByText('sub_desk').waitFor();
  await page.getByRole('link', { name: 'aa.desk.example' }).click();
  await heading(page, /aa\.desk\.example/);
  await page.getByText('192.0.2.9').waitFor();
  await page.getByRole('table', { name: 'Services' }).locator('tbody tr').click();
  await heading(page, /desk\.example/);
  await page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr').click();
  await heading(page, /Subscription \d+/);
});

test('servers are listed by host name', async () => {
  const page = await open('/admin/servers');
  await rows(page).first().waitFor();
  const names = await page.locator('tbody td:first-child').allTextContents();
  expect(names[0]).toBe('aa.desk.example');
  expect(names).toEqual(names.toSorted());
});

test('a sales document leads to the invoice that it became', async () => {
  const page = await open('/admin/sales-documents?customer=K-DESK&type=offer');
  await rows(page).click();
  await heading(page, /Offer AN-DESK/);
  await page.getByRole('link', { name: 'DESK-1, overdue' }).click();
  await heading(page, /Invoice DESK-1/);
});

test('a customer that was created for Stripe waits for staff, who say that it is new', async () => {
  const page = await open('/admin');
  await page.getByRole('link', { name: /customers were created from Stripe/ }).click();
  await page.waitForURL(`${site.url}/admin/subscriptions/stripe-customers`);
  await rows(page).first().click(); // the latest
  await page.getByRole('button', { name: 'It is a new customer' }).click();
  await page.getByRole('status').filter({ hasText: 'It is linked to Desk <i>.' }).waitFor();
  await page.getByText('Decision by staff').waitFor();
  await visit(page, `${site.url}/admin/subscriptions/stripe-customers`);
  await rows(page).first().waitFor();
  expect(await rows(page).filter({ hasText: 'Desk <i>' }).count()).toBe(0);
});

test('who has the e-mail address of one of ours is that one once staff confirm it, all at once', async () => {
  const page = await open('/admin');
  await page.getByRole('link', { name: /^\d+ Stripe customers share an e-mail address/ }).click();
  await heading(page, /Links to confirm/);
  const proposed = page.getByRole('checkbox');
  const count = await proposed.count();
  expect(count).toBeGreaterThan(1);
  await proposed.first().uncheck();
  await page.getByRole('button', { name: 'Confirm selected' }).click();
  await page.getByRole('status').filter({ hasText: 'confirmed.' }).waitFor();
  await expect.poll(() => proposed.count()).toBe(1);
  await page.getByRole('main').getByRole('link', { name: /^cus_/ }).click();
  await page.getByRole('button', { name: /same e-mail/ }).click();
  await page.getByText('Decision by staff').waitFor();
});

describe('the overview', () => {
  test('shows the money of the period and the currency that were chosen', async () => {
    const page = await open('/admin');
    const chart = page.getByRole('list', { name: /^Money received by (day|week) over/ });
    const sum = async () =>
      /[€$£¥F][\s\d,.]+ in all/.exec((await chart.getAttribute('aria-label')) ?? '')?.[0];
    await chart.waitFor();
    expect(await chart.getByRole('listitem').count()).toBe(30);
    const month = await sum();
    await page.getByRole('navigation', { name: 'Period' }).getByRole('link', { name: '365 days' }).click();
    await expect.poll(() => chart.getByRole('listitem').count()).toBe(53);
    expect(await sum()).not.toBe(month);
    await page.getByRole('navigation', { name: 'Currency' }).getByRole('link', { name: 'USD' }).click();
    await page.waitForURL(`${site.url}/admin?days=365&currency=usd`);
    await expect.poll(() => chart.getAttribute('aria-label')).toMatch(/over 365 days: .*US\$/);
    expect(await chart.getByRole('listitem').first().textContent()).toMatch(
      /^Week from \d+ \w+ \d{4}: US\$[\d,.]+, \d+ payments?/,
    );
  });

  test('leads to what it counts', async () => {
    const page = await open('/admin');
    await page.getByRole('link', { name: /^Active\s*\d+$/ }).click();
    await page.waitForURL(`${site.url}/admin/subscriptions?status=active`);
    await page.goBack();
    await page.getByRole('link', { name: 'Overdue invoices' }).click();
    await page.waitForURL(`${site.url}/admin/overdue`);
  });
});
