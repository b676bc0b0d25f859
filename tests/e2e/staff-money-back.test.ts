import type { Page } from 'playwright';
import { afterAll, describe, expect, test } from 'vitest';
import { createRefund } from '../support/factories';
import { visit } from './support/browser';
import { STAFF } from './support/company';
import { choose } from './support/filters';
import { useStaffPages } from './support/staff-pages';
import { fillStripe, type StripeAccount } from './support/stripe-account';

let account: StripeAccount;
const site = useStaffPages({
  env: () => account.env,
  async fill(db) {
    account = await fillStripe(db);
    await createRefund(db, { stripe_refund_id: 're_nobodys', issued_at: new Date() });
  },
});
afterAll(() => account?.stripe.close());

const section = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const rowsOf = (page: Page, title: string) => section(page, title).locator('tbody tr');

describe('refunds and disputes', () => {
  test('a disputed payment is found from the overview, and leads to Stripe', async () => {
    const { page } = await site.open('/admin');
    await page.getByText(/^\d answers? needed, the next by \d+ \w+ \d{4}/).waitFor();
    await page.getByRole('link', { name: 'Disputed payments' }).click();
    await page.waitForURL(`${site.url}/admin/payments?status=disputed`);
    const { id, reference } = account.paidBack.disputed;
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

  test('what was refunded in part is found, and told on every page of it', async () => {
    const { id, reference, invoiceId, customerId } = account.paidBack.inPart;
    const { page } = await site.open('/admin/payments');
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

  test('one that belongs to no payment is a task, and leads to it', async () => {
    const { page } = await site.open('/admin');
    await page.getByRole('link', { name: '1 refund or dispute has no matching payment.' }).click();
    await page.waitForURL(`${site.url}/admin/payments/refunds#unmatched`);
    expect(await rowsOf(page, 'No matching payment').textContent()).toMatch(/No matching payment.*€5\.00/);
  });
});

describe('a check with Stripe', () => {
  const check = (page: Page) => page.getByRole('button', { name: 'Check with Stripe' }).click();
  const says = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

  test('of a payment brings in at once what Stripe has not told, and shows it', async () => {
    const { id, customerId } = account.paidBack.silent;
    const { page } = await site.open(`/admin/payments/${id}`);
    expect(await section(page, 'Refunds and disputes').count()).toBe(0);
    await check(page);
    await says(page, 'Checked with Stripe: 2 changes.');
    await expect
      .poll(() => page.getByRole('status').evaluate((it) => it === document.activeElement))
      .toBe(true);
    const changes = rowsOf(page, 'Last check with Stripe');
    expect(await changes.first().textContent()).toMatch(/Refund of .*Created.*1\.50 EUR/);
    expect(await changes.last().textContent()).toMatch(/Payment .*Refunded.*0\.00 EUR.*1\.50 EUR/);
    expect(await rowsOf(page, 'Refunds and disputes').textContent()).toContain('€1.50');
    await section(page, 'History').getByText(`Checked with Stripe by ${STAFF.email}`).waitFor();
    await section(page, 'History').getByText('Refund, created: – → 1.50 EUR').waitFor();

    await check(page);
    await says(page, 'Checked with Stripe: everything matches Stripe.');
    await visit(page, `${site.url}/admin/customers/${customerId}`);
    await page.getByText(`Payment checked with Stripe by ${STAFF.email}`).first().waitFor();
    await page.getByText('Refund of €1.50: succeeded').waitFor();
  });

  test('of a subscription shows what changed, and of an invoice that nothing did', async () => {
    const { page } = await site.open(`/admin/subscriptions/${account.drifted.subscriptionId}`);
    await check(page);
    await says(page, 'Checked with Stripe: ');
    const changes = rowsOf(page, 'Last check with Stripe').filter({ hasText: 'Status' });
    expect(await changes.first().textContent()).toMatch(/active.*past_due.*Fixed/);
    await page.getByRole('heading', { name: /Past due/ }).waitFor();
    await visit(page, `${site.url}/admin/invoices/${account.paidBack.inPart.invoiceId}`);
    await check(page);
    await says(page, 'Checked with Stripe: ');
  });

  test('while Stripe is silent it says so, in words', async () => {
    await account.stripe.close();
    const { page } = await site.open(`/admin/payments/${account.paidBack.inPart.id}`);
    await check(page);
    const alert = page.getByRole('alert').filter({ hasText: 'Stripe’s answer was incomplete.' });
    expect(await alert.textContent({ timeout: 100_000 })).toContain('Stripe did not answer in time.');
  }, 120_000);
});
