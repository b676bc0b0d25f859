import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { receiveWebhooks } from '../support/alert-receivers';
import { visit } from './support/browser';
import { ADMIN, STAFF } from './support/company';
import { choose, endSession, fillFilter, press, told } from './support/forms';
import { useSite } from './support/use-site';

let receiver: Awaited<ReturnType<typeof receiveWebhooks>>;
beforeAll(async () => {
  receiver = await receiveWebhooks();
});
afterAll(() => receiver?.close());

// Use a fresh site, because runs, replays and checks with Stripe change data that other test files read.
const site = useSite('company', {
  fresh: true,
  env: () => ({
    ALERT_WEBHOOK_URL: receiver.url,
    ALERT_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  }),
});

const section = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const rowsOf = (page: Page, title: string) => section(page, title).locator('tbody tr');

test('the alert settings page shows whether a test alert was delivered', async () => {
  const page = await site.open('/admin/settings/alerts', { as: ADMIN });
  await page.getByText(new URL(receiver.url).host).waitFor();
  await press(page, 'Send a test alert');
  await told(page, 'The test alert was delivered.');
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toContain('alert.test');

  receiver.status = 503;
  await press(page, 'Send a test alert');
  await page.getByText('The test alert was not delivered to every channel.').waitFor();
  const row = page.locator('tbody tr').filter({ hasText: 'sent a test alert' });
  expect(await row.textContent()).toContain('webhook: the receiver answered 503');
});

test('the overview links to the webhook event that matches no customer', async () => {
  const page = await site.open('/admin');
  await page.getByRole('link', { name: '1 event has no matching customer.' }).click();
  await page.waitForURL(`${site.url}/admin/webhooks?outcome=unmatched`);
  await page.locator('tbody tr').click();
  await page.getByText('No matching customer').waitFor();
});

test('replaying an event after the session has ended redirects to the sign-in page', async () => {
  const path = `/admin/webhooks/${site.facts.failedEvent}`;
  const page = await site.open(path, { own: true });
  await endSession(page);
  await press(page, 'Replay');
  await page.waitForURL(/\/sign-in/);
  const other = await site.open(path);
  await other.getByText('The event failed', { exact: true }).waitFor();
});

test('staff can replay a failed webhook event', async () => {
  const page = await site.open('/admin/webhooks');
  await choose(page, 'Outcome', 'Failed');
  await page.waitForURL(`${site.url}/admin/webhooks?outcome=failed`);
  await page.locator('tbody tr').filter({ hasText: 'invoice.payment_succeeded' }).click();
  await page.waitForURL(`${site.url}/admin/webhooks/${site.facts.failedEvent}`);
  await page.getByText('The event failed', { exact: true }).waitFor();

  const payload = page.getByRole('region', { name: 'Payload' });
  // A key press before the page has rendered has no effect, so retry it.
  const scrollToEnd = async () => {
    await payload.press('End');
    return payload.evaluate((region) => region.scrollTop);
  };
  await expect.poll(scrollToEnd).toBeGreaterThan(0);
  expect(JSON.parse((await payload.textContent()) ?? '')).toMatchObject({ id: site.facts.failedEvent });

  await press(page, 'Replay');
  await told(page, 'Replayed: the event was applied.');
  const changes = rowsOf(page, 'Changes');
  await changes
    .filter({ hasText: 'Created' })
    .getByRole('link', { name: /^Payment/ })
    .click();
  await page.waitForURL(/\/admin\/payments\/\d+$/);
  await page.goBack();
  await page.getByText(`Replayed by ${STAFF.email}`).waitFor();
  await page.getByText('Outcome: failed → processed').waitFor();

  await press(page, 'Replay');
  await expect.poll(() => page.getByText(`Replayed by ${STAFF.email}`).count()).toBe(2);
});

test('webhook events can be filtered by type and by Stripe id', async () => {
  const page = await site.open('/admin/webhooks');
  await choose(page, 'Type', 'customer.subscription.updated');
  await page.waitForURL(/type=customer\.subscription\.updated/);
  const rows = page.locator('tbody tr');
  expect(await rows.count()).toBe(2);
  const object = (await rows.first().locator('td').nth(2).textContent()) ?? '';
  await fillFilter(page, 'Stripe ID', object);
  await page.waitForURL(new RegExp(`id=${object}`));
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByRole('link', { name: 'Clear' }).click();
  await page.waitForURL(`${site.url}/admin/webhooks`);
  await expect.poll(() => rows.count()).toBeGreaterThan(2);
});

test('linking a subscription item to a service sets the next billing date of the service', async () => {
  const { subscriptionId, itemId } = site.facts.unlinked;
  const page = await site.open('/admin/subscriptions');
  await choose(page, 'Items', 'Not linked');
  await page.waitForURL(`${site.url}/admin/subscriptions?items=unlinked`);
  await page.locator('tbody tr').filter({ hasText: '1 not linked' }).click();
  await page.waitForURL(`${site.url}/admin/subscriptions/${subscriptionId}`);
  await page.getByRole('link', { name: `Link the service of item ${itemId}` }).click();
  const choice = page.getByLabel('Service', { exact: true });
  const number = (await choice.locator('option').nth(1).getAttribute('value')) ?? '';
  await choice.selectOption(number);
  await press(page, 'Save');
  await told(page, new RegExp(`linked to ${number}, which is billed next on \\d+ \\w+ \\d{4}\\.`));
  await page.getByText(`Service: – → ${number}`).waitFor();
  await visit(page, `${site.url}/admin/subscriptions?items=unlinked`);
  await page.getByText('No subscriptions found').waitFor();

  await visit(page, `${site.url}/admin/subscriptions/${subscriptionId}?item=${itemId}`);
  await choice.selectOption({ label: 'None' });
  await press(page, 'Save');
  await told(page, 'The item is no longer linked to a service.');
});

test('staff can link a Stripe customer to another customer', async () => {
  const path = `/admin/subscriptions/stripe-customers/${site.facts.stripeCustomer}`;
  const page = await site.open(path);
  await page.getByText('Customer number at Stripe').waitFor();
  await page.getByLabel('Customer').fill(site.facts.otherCustomer);
  await press(page, 'Search');
  await page.getByRole('link', { name: `Choose ${site.facts.otherCustomer}` }).click();
  await page.getByText(/subscriptions?, \d+ invoices? and \d+ payments? move from .* to /).waitFor();
  await page.getByText(/^Items are no longer linked to S/).waitFor();
  await page.getByRole('button', { name: `Link to ${site.facts.otherCustomer}` }).click();
  await told(page, 'It is linked to');
  await page.waitForURL(`${site.url}${path}?notice=linked`);
  await page.getByText('Decision by staff').waitFor();
  expect(await section(page, 'Linked to').textContent()).toContain(site.facts.otherCustomer);
  await page.getByText(/^Customer: K\d+ → /).waitFor();
  await page.getByRole('link', { name: 'Its subscriptions' }).click();
  await page.waitForURL(/\/admin\/subscriptions\?id=cus_/);
  const rows = page.locator('tbody tr');
  expect(await rows.filter({ hasText: site.facts.otherCustomer }).count()).toBe(await rows.count());
});

test('checking a payment with Stripe records a refund that no webhook reported', async () => {
  const { id, customerId } = site.facts.paidBack.silent;
  const page = await site.open(`/admin/payments/${id}`);
  expect(await section(page, 'Refunds and disputes').count()).toBe(0);
  await press(page, 'Check with Stripe');
  await told(page, 'Checked with Stripe: 2 changes.');
  await expect
    .poll(() => page.getByRole('status').evaluate((it) => it === document.activeElement))
    .toBe(true);
  const changes = rowsOf(page, 'Last check with Stripe');
  expect(await changes.first().textContent()).toMatch(/Refund of .*Created.*1\.50 EUR/);
  expect(await changes.last().textContent()).toMatch(/Payment .*Refunded.*0\.00 EUR.*1\.50 EUR/);
  expect(await rowsOf(page, 'Refunds and disputes').textContent()).toContain('€1.50');
  await section(page, 'History').getByText(`Checked with Stripe by ${STAFF.email}`).waitFor();
  await section(page, 'History').getByText('Refund, created: – → 1.50 EUR').waitFor();

  await press(page, 'Check with Stripe');
  await told(page, 'Checked with Stripe: everything matches Stripe.');
  await visit(page, `${site.url}/admin/customers/${customerId}`);
  await page.getByText(`Payment checked with Stripe by ${STAFF.email}`).first().waitFor();
  await page.getByText('Refund of €1.50: succeeded').waitFor();
});

test('checking a subscription with Stripe corrects its outdated status', async () => {
  const page = await site.open(`/admin/subscriptions/${site.facts.drifted.checked}`);
  await press(page, 'Check with Stripe');
  await told(page, 'Checked with Stripe: ');
  const changes = rowsOf(page, 'Last check with Stripe').filter({ hasText: 'Status' });
  expect(await changes.first().textContent()).toMatch(/active.*past_due.*Fixed/);
  await page.getByRole('heading', { name: /Past due/ }).waitFor();
  await visit(page, `${site.url}/admin/invoices/${site.facts.paidBack.inPart.invoiceId}`);
  await press(page, 'Check with Stripe');
  await told(page, 'Checked with Stripe: ');
});

test('the page of a reconciliation run started by staff shows the changes of the run', async () => {
  const page = await site.open('/admin/reconciliation');
  await press(page, 'Run now');
  await page.waitForURL(/\/admin\/reconciliation\/\d+$/);
  await page.getByText(STAFF.email, { exact: true }).first().waitFor();
  await page.getByText('Completed', { exact: true }).waitFor({ timeout: 100_000 });
  expect(await page.getByRole('progressbar').count()).toBe(0);
  const repaired = rowsOf(page, 'Changes').filter({
    hasText: `Subscription ${site.facts.drifted.reconciled}`,
  });
  expect(await repaired.first().textContent()).toMatch(/Status.*active.*past_due.*Fixed/);
  await repaired
    .first()
    .getByRole('link', { name: /^Subscription/ })
    .click();
  await page.waitForURL(`${site.url}/admin/subscriptions/${site.facts.drifted.reconciled}`);
  await page.getByRole('heading', { name: /Past due/ }).waitFor();
}, 120_000);

test('the page of a payment reports that Stripe did not respond to a check', async () => {
  await site.stripe.close();
  const page = await site.open(`/admin/payments/${site.facts.paidBack.inPart.id}`);
  await press(page, 'Check with Stripe');
  const alert = page.getByRole('alert').filter({ hasText: 'Stripe’s answer was incomplete.' });
  expect(await alert.textContent({ timeout: 100_000 })).toContain('Stripe did not answer in time.');
}, 120_000);

test('the page of an invoice reports that Stripe did not respond when staff open its PDF', async () => {
  await site.stripe.close();
  const page = await site.open(`/admin/invoices/${site.facts.paidBack.inPart.invoiceId}`);
  await page.getByRole('link', { name: 'PDF', exact: true }).click();
  await page.getByText('Stripe did not answer in time. Try the link again').waitFor({ timeout: 100_000 });
}, 120_000);
