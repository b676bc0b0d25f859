import { eq, sql } from 'drizzle-orm';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { servers } from '@/db/schema';
import { addDays } from '@/lib/dates';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createSalesDocument,
  createService,
} from '../support/factories';
import { ADMIN, fillAdmin } from './support/company';
import { useStaffPages } from './support/staff-pages';

const TODAY = new Date().toISOString().slice(0, 10);
const MONDAY = addDays(TODAY, 7 - ((new Date(`${TODAY}T00:00:00Z`).getUTCDay() + 6) % 7));
const LAST_MONTH = addDays(`${TODAY.slice(0, 7)}-01`, -3);

const site = useStaffPages({
  who: ADMIN,
  async fill(db) {
    await fillAdmin(db);
    const customer = await createCustomer(db, { customer_number: 'K-ASKED', company: 'Asked & Sons' });
    const of = { customer_id: customer.id };
    const overdue = { ...of, status: 'overdue' as const, total: '392', amount_due: '392' };
    await createInvoice(db, { ...overdue, number: 'ASKED-OLD', due_date: addDays(TODAY, -45) });
    const invoice = await createInvoice(db, { ...of, number: 'ASKED-NEW', status: 'paid' });
    await createSalesDocument(db, {
      ...of,
      document_number: 'AN-ASKED-0815',
      status: 'converted',
      converted_to_invoice_id: invoice.id,
    });
    await createPayment(db, {
      ...of,
      invoice_id: invoice.id,
      payment_reference: 'ASKED-PAID',
      payment_date: LAST_MONTH,
    });
    await createService(db, {
      ...of,
      service_number: 'S-ASKED',
      status: 'active',
      next_billing_date: addDays(MONDAY, 2),
    });
    await db
      .update(servers)
      .set({ status: 'maintenance' })
      .where(eq(servers.id, sql`(select min(id) from servers)`));
  },
});

const open = async () => (await site.open('/admin')).page;
const main = (page: Page) => page.locator('main');

/** A click, of which a question may take two. */
const link = (page: Page, name: string | RegExp) =>
  page.getByRole('link', { name, exact: typeof name === 'string' });

/** What the page's download holds. */
async function fileOf(page: Page): Promise<string> {
  const file = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
  return (await fetch(site.url + file, { headers: { cookie: site.cookie } })).text();
}

async function searchFor(page: Page, text: string): Promise<void> {
  const field = page.getByRole('combobox', { name: 'Search' });
  await expect
    .poll(async () => {
      if (!(await field.isVisible())) await page.keyboard.press('/');
      return field.isVisible();
    })
    .toBe(true);
  await field.fill(''); // the slash may have been pressed once more while the dialog opened
  await page.keyboard.type(text);
  // Until all of it is answered, Enter leads to the page of all results.
  await page
    .locator('[data-stale="false"]')
    .getByRole('option', { name: /ASKED|Asked/ })
    .first()
    .waitFor();
  await page.keyboard.press('Enter');
}

test('what a customer owes: its page, after one search, in whatever order its words are', async () => {
  const page = await open();
  await searchFor(page, 'sons asked');
  await page.waitForURL(/\/admin\/customers\/\d+$/);
  const balance = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Balance due' }) });
  expect(await balance.first().textContent()).toMatch(
    /€392\.00.*1 unpaid invoice · 1 overdue.*Overdue: €392\.00/,
  );
});

test('which services renew next week', async () => {
  const page = await open();
  await link(page, 'Renewals').click();
  await page.waitForURL(/renewals$/);
  await page.locator('search summary').first().click();
  await link(page, 'Next week').click();
  await page.waitForURL(new RegExp(`from=${MONDAY}`));
  await page.locator('tbody tr').first().waitFor();
  expect(await fileOf(page)).toContain('S-ASKED');
});

test('which servers are in maintenance', async () => {
  const page = await open();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('option', { name: 'Servers in maintenance' }).click();
  await page.waitForURL(/servers\?status=maintenance$/);
  await main(page).getByText('Maintenance').first().waitFor();
  for (const row of await page.locator('tbody tr').allTextContents()) expect(row).toContain('Maintenance');
});

test('which invoices are more than 30 days overdue', async () => {
  const page = await open();
  await link(page, /overdue invoices?: .* the oldest was due/).click();
  await page.waitForURL(/overdue$/);
  const age = page.locator('dl[aria-label^="Overdue by age"] > div').filter({ hasText: '31–60 days' });
  await age.filter({ hasText: '€' }).getByRole('link').click();
  await page.waitForURL(/age=31-60&currency=eur$/);
  expect(await fileOf(page)).toContain('ASKED-OLD');
});

test("last month's payments as CSV", async () => {
  const page = await open();
  await link(page, 'Payments').click();
  await page.waitForURL(/payments$/);
  await page.locator('search summary').filter({ hasText: 'Date' }).click();
  await link(page, 'Last month').click();
  await page.waitForURL(/from=/);
  expect(await fileOf(page)).toContain('ASKED-PAID');
});

test('which invoice an offer became, found by the end of its number', async () => {
  const page = await open();
  await searchFor(page, 'ASKED-0815');
  await page.waitForURL(/sales-documents\/\d+$/);
  await main(page).getByText('ASKED-NEW').first().waitFor();
});

test("what last night's run changed", async () => {
  const page = await open();
  await link(page, 'See the run').click();
  await page.waitForURL(/reconciliation\/\d+$/);
  expect(await page.locator('tbody tr').filter({ hasText: 'Subscription 12' }).textContent()).toMatch(
    /active.*past_due/,
  );
});

test('which subscriptions are past due, and for how much', async () => {
  const page = await open();
  await link(page, /subscriptions? (is|are) past due/).click();
  await page.waitForURL(/status=past_due$/);
  await main(page)
    .getByText(/[€$£][\d.,]+ \/ \w+|unpaid/)
    .first()
    .waitFor();
});

test('who added a token', async () => {
  const page = await open();
  await link(page, 'Access tokens').click();
  await page.waitForURL(/tokens$/);
  expect(await page.locator('tbody tr').filter({ hasText: 'ERP' }).textContent()).toContain('test');
});

test('? lists the keys', async () => {
  const page = await open();
  await page.keyboard.press('?');
  await page
    .getByRole('dialog', { name: 'Keyboard shortcuts' })
    .getByText('Search, or go to a page')
    .waitFor();
});
