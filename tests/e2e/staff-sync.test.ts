import { afterAll, beforeAll, expect, test } from 'vitest';
import { receiveWebhooks } from '../support/alert-receivers';
import { visit } from './support/browser';
import { ADMIN, STAFF } from './support/company';
import { choose, follow, link, press, pressAndSee, rows, rowsOf, section, see, told } from './support/forms';
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

test('the alert settings page shows whether a test alert was delivered', async () => {
  const page = await site.open('/admin/settings/alerts', { as: ADMIN });
  await see(page, new URL(receiver.url).host);
  await press(page, 'Send a test alert', 'The test alert was delivered.');
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toContain('alert.test');

  receiver.status = 503;
  await pressAndSee(page, 'Send a test alert', 'The test alert was not delivered to every channel.');
  const row = rows(page).filter({ hasText: 'sent a test alert' });
  expect(await row.textContent()).toContain('webhook: the receiver answered 503');
});

test('the overview links to the webhook event that matches no customer', async () => {
  const page = await site.open('/admin');
  await follow(page, /1 event has no matching customer\./, `${site.url}/admin/webhooks?outcome=unmatched`);
  await rows(page).click();
  await page.getByText('The event names no customer').waitFor();
});

test('staff can replay a failed webhook event', async () => {
  const page = await site.open('/admin/webhooks');
  await choose(page, 'Outcome', 'Failed');
  await page.waitForURL(`${site.url}/admin/webhooks?outcome=failed`);
  await rows(page).filter({ hasText: 'invoice.payment_succeeded' }).click();
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

  await press(page, 'Replay', 'Replayed: the event was applied.');
  const created = rowsOf(page, 'Changes').filter({ hasText: 'Created' });
  await created.getByRole('link', { name: /^Payment/ }).click();
  await page.waitForURL(/\/admin\/payments\/\d+$/);
  await page.goBack();
  await see(page, `Replayed by ${STAFF.email}`, 'Outcome: failed → processed');

  await press(page, 'Replay');
  await expect.poll(() => page.getByText(`Replayed by ${STAFF.email}`).count()).toBe(2);
});

test('linking a subscription item to a service shows the next billing date, and the link can be removed', async () => {
  const { subscriptionId, itemId } = site.facts.unlinked;
  const page = await site.open('/admin/subscriptions');
  await choose(page, 'Items', 'Not linked');
  await page.waitForURL(`${site.url}/admin/subscriptions?items=unlinked`);
  await rows(page).filter({ hasText: '1 not linked' }).click();
  await page.waitForURL(`${site.url}/admin/subscriptions/${subscriptionId}`);
  await page.getByRole('link', { name: `Link the service of item ${itemId}` }).click();
  const choice = page.getByLabel('Service', { exact: true });
  const number = (await choice.locator('option').nth(1).getAttribute('value')) ?? '';
  await choice.selectOption(number);
  await press(page, 'Save');
  await told(page, new RegExp(`linked to ${number}, which is billed next on \\d+ \\w+ \\d{4}\\.`));
  await see(page, `Service: – → ${number}`);
  await visit(page, `${site.url}/admin/subscriptions?items=unlinked`);
  await see(page, 'No subscriptions found');

  await visit(page, `${site.url}/admin/subscriptions/${subscriptionId}?item=${itemId}`);
  await choice.selectOption({ label: 'None' });
  await press(page, 'Save', 'The item is no longer linked to a service.');
});

test('staff can link a Stripe customer to another customer', async () => {
  const path = `/admin/subscriptions/stripe-customers/${site.facts.stripeCustomer}`;
  const other = site.facts.otherCustomer;
  const page = await site.open(path);
  await see(page, 'Customer number at Stripe');
  await page.getByLabel('Customer').fill(other);
  await press(page, 'Search');
  await page.getByRole('link', { name: `Choose ${other}` }).click();
  await see(
    page,
    /subscriptions?, \d+ invoices? and \d+ payments? move from .* to /,
    /^Items are no longer linked to S/,
  );
  await page.getByRole('button', { name: `Link to ${other}` }).click();
  await told(page, 'It is linked to');
  await page.waitForURL(`${site.url}${path}?notice=linked`);
  await see(page, 'Decision by staff', /^Customer: K\d+ → /);
  expect(await section(page, 'Linked to').textContent()).toContain(other);
  await follow(page, 'Its subscriptions', /\/admin\/subscriptions\?id=cus_/);
  expect(await rows(page).filter({ hasText: other }).count()).toBe(await rows(page).count());
});

test('checking a payment with Stripe records a refund that no webhook reported', async () => {
  const { id, customerId } = site.facts.paidBack.silent;
  const page = await site.open(`/admin/payments/${id}`);
  expect(await section(page, 'Refunds and disputes').count()).toBe(0);
  await press(page, 'Check with Stripe', 'Checked with Stripe: 2 changes.');
  const hasFocus = () => page.getByRole('status').evaluate((it) => it === document.activeElement);
  await expect.poll(hasFocus).toBe(true);
  const changes = rowsOf(page, 'Last check with Stripe');
  expect(await changes.first().textContent()).toMatch(/Refund of .*Created.*1\.50 EUR/);
  expect(await changes.last().textContent()).toMatch(/Payment .*Refunded.*0\.00 EUR.*1\.50 EUR/);
  expect(await rowsOf(page, 'Refunds and disputes').textContent()).toContain('€1.50');
  const history = section(page, 'History');
  await history.getByText(`Checked with Stripe by ${STAFF.email}`).waitFor();
  await history.getByText('Refund, created: – → 1.50 EUR').waitFor();

  await press(page, 'Check with Stripe', 'Checked with Stripe: everything matches Stripe.');
  await visit(page, `${site.url}/admin/customers/${customerId}`);
  await see(page, `Payment checked with Stripe by ${STAFF.email}`, 'Refund of €1.50: succeeded');
});

test('checking a subscription with Stripe corrects its outdated status, and an invoice can be checked too', async () => {
  const page = await site.open(`/admin/subscriptions/${site.facts.drifted.checked}`);
  await press(page, 'Check with Stripe', 'Checked with Stripe: ');
  const changes = rowsOf(page, 'Last check with Stripe').filter({ hasText: 'Status' });
  expect(await changes.first().textContent()).toMatch(/active.*past_due.*Fixed/);
  await page.getByRole('heading', { name: /Past due/ }).waitFor();
  await visit(page, `${site.url}/admin/invoices/${site.facts.paidBack.inPart.invoiceId}`);
  await press(page, 'Check with Stripe', 'Checked with Stripe: ');
});

test('the page of a reconciliation run started by staff shows the changes of the run', async () => {
  const page = await site.open('/admin/reconciliation');
  const { reconciled } = site.facts.drifted;
  await press(page, 'Run now');
  await page.waitForURL(/\/admin\/reconciliation\/\d+$/);
  await page.getByText(STAFF.email, { exact: true }).first().waitFor();
  await page.getByText('Completed', { exact: true }).waitFor({ timeout: 100_000 });
  expect(await page.getByRole('progressbar').count()).toBe(0);
  const repaired = rowsOf(page, 'Changes')
    .filter({ hasText: `Subscription ${reconciled}` })
    .first();
  expect(await repaired.textContent()).toMatch(/Status.*active.*past_due.*Fixed/);
  await repaired.getByRole('link', { name: /^Subscription/ }).click();
  await page.waitForURL(`${site.url}/admin/subscriptions/${reconciled}`);
  await page.getByRole('heading', { name: /Past due/ }).waitFor();
}, 120_000);

test('the pages of a payment and an invoice report that Stripe did not respond', async () => {
  await site.stripe.close();
  const { id, invoiceId } = site.facts.paidBack.inPart;
  const page = await site.open(`/admin/payments/${id}`);
  const other = await site.open(`/admin/invoices/${invoiceId}`);
  await press(page, 'Check with Stripe');
  await link(other, 'PDF').click();
  const alert = page.getByRole('alert').filter({ hasText: 'Stripe’s answer was incomplete.' });
  expect(await alert.textContent({ timeout: 100_000 })).toContain('Stripe did not answer in time.');
  await other.getByText('Stripe did not answer in time. Try the link again').waitFor({ timeout: 100_000 });
}, 120_000);
