import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchBrowser, visit, watchComplaints } from './support/browser';
import { fillCompany, STAFF } from './support/company';
import { choose, fillFilter } from './support/filters';
import { openSite, type Site } from './support/site';
import { fillStripe, type StripeAccount } from './support/stripe-account';

let site: Site;
let browser: Browser;
let account: StripeAccount;

beforeAll(async () => {
  site = await openSite(
    async (db) => {
      await fillCompany(db);
      account = await fillStripe(db);
    },
    () => account.env,
  );
  browser = await launchBrowser();
}, 400_000);
afterAll(async () => {
  await browser?.close();
  await site?.close();
  await account?.stripe.close();
});

const paths = () => [
  '/admin/webhooks',
  '/admin/webhooks?outcome=failed',
  `/admin/webhooks/${account.failedEvent}`,
  '/admin/subscriptions',
  `/admin/subscriptions/${account.unlinked.subscriptionId}`,
  `/admin/subscriptions/${account.unlinked.subscriptionId}?item=${account.unlinked.itemId}`,
  `/admin/subscriptions/stripe-customers/${account.stripeCustomer}`,
  `/admin/subscriptions/stripe-customers/${account.stripeCustomer}?q=m`,
  `/admin/subscriptions/stripe-customers/${account.stripeCustomer}?to=1`,
];

describe('nobody signed in', () => {
  test('every page leads to the sign-in page and holds nothing', async () => {
    const cookie = 'w5t.session_token=forged.signature';
    for (const path of paths()) {
      for (const headers of [{}, { cookie }, { cookie, rsc: '1' }]) {
        const answer = await fetch(site.url + path, { redirect: 'manual', headers });
        const target = new URL(answer.headers.get('location') ?? '', site.url).pathname;
        if (!('rsc' in headers)) expect([path, target]).toEqual([path, '/sign-in']);
        expect(await answer.text()).not.toMatch(/K1\d{4}|invoice\.p|example\.(com|org)/);
      }
    }
  });
});

describe('staff in a browser', () => {
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    complaints = await watchComplaints(page);
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  const open = async (path: string) => {
    await visit(page, site.url + path);
    if (new URL(page.url()).pathname === '/sign-in') {
      await page.getByLabel('E-mail').fill(STAFF.email);
      await page.getByLabel('Password', { exact: true }).fill(STAFF.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
    }
    await page.waitForURL(site.url + path);
  };
  const section = (title: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
  const says = (role: 'status' | 'alert', text: string | RegExp) =>
    page.getByRole(role).filter({ hasText: text }).waitFor();

  test('what needs a person is told on the overview and leads to its place', async () => {
    await open('/admin');
    await page.getByRole('link', { name: '1 event has no matching customer.' }).click();
    await page.waitForURL(`${site.url}/admin/webhooks?outcome=unmatched`);
    await page.locator('tbody tr').click();
    await page.getByText('No matching customer').waitFor();
  });

  test('an action after the session has ended leads to the sign-in page and does nothing', async () => {
    await open(`/admin/webhooks/${account.failedEvent}`);
    await context.addCookies([{ name: 'w5t.session_token', value: 'ended.signature', url: site.url }]);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.waitForURL(/\/sign-in/);
    await open(`/admin/webhooks/${account.failedEvent}`);
    await page.getByText('The event failed', { exact: true }).waitFor();
  });

  test('a failed event is found, read, replayed, and shows what it changed', async () => {
    await open('/admin/webhooks');
    await choose(page, 'Outcome', 'Failed');
    await page.waitForURL(`${site.url}/admin/webhooks?outcome=failed`);
    const rows = page.locator('tbody tr');
    expect(await rows.count()).toBe(1);
    await rows.click();
    await page.waitForURL(`${site.url}/admin/webhooks/${account.failedEvent}`);
    await page.getByText('The event failed', { exact: true }).waitFor();

    const payload = page.getByRole('region', { name: 'Payload' });
    // A press while the page is still taking shape goes nowhere.
    const scrollToEnd = async () => {
      await payload.press('End');
      return payload.evaluate((region) => region.scrollTop);
    };
    await expect.poll(scrollToEnd).toBeGreaterThan(0);
    expect(JSON.parse((await payload.textContent()) ?? '')).toMatchObject({ id: account.failedEvent });

    await page.getByRole('button', { name: 'Replay' }).click();
    await says('status', 'Replayed: the event was applied.');
    const changes = section('Changes').locator('tbody tr');
    await changes
      .filter({ hasText: 'Created' })
      .getByRole('link', { name: /^Payment/ })
      .click();
    await page.waitForURL(/\/admin\/payments\/\d+$/);
    await page.goBack();
    await page.getByText(`Replayed by ${STAFF.email}`).waitFor();
    await page.getByText('Outcome: failed → processed').waitFor();

    await page.getByRole('button', { name: 'Replay' }).click();
    await expect.poll(() => page.getByText(`Replayed by ${STAFF.email}`).count()).toBe(2);
  });

  test('events are found by type and by the object they are about', async () => {
    await open('/admin/webhooks');
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

  test('a filter that is not valid is named', async () => {
    await open('/admin/webhooks?type=nonsense');
    await page.getByText('Must be one of the types listed.').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
  });

  test('an item without a service is linked, and its service gets a date', async () => {
    const { subscriptionId, itemId } = account.unlinked;
    await open('/admin/subscriptions');
    await choose(page, 'Items', 'Not linked');
    await page.waitForURL(`${site.url}/admin/subscriptions?items=unlinked`);
    await page.locator('tbody tr').filter({ hasText: '1 not linked' }).click();
    await page.waitForURL(`${site.url}/admin/subscriptions/${subscriptionId}`);
    await page.getByRole('link', { name: `Link the service of item ${itemId}` }).click();
    const choice = page.getByLabel('Service', { exact: true });
    const number = (await choice.locator('option').nth(1).getAttribute('value')) ?? '';
    await choice.selectOption(number);
    await page.getByRole('button', { name: 'Save' }).click();
    await says('status', new RegExp(`linked to ${number}, which is billed next on \\d+ \\w+ \\d{4}\\.`));
    await page.getByText(`Service: – → ${number}`).waitFor();
    await visit(page, `${site.url}/admin/subscriptions?items=unlinked`);
    await page.getByText('No subscriptions found').waitFor();

    await open(`/admin/subscriptions/${subscriptionId}?item=${itemId}`);
    await choice.selectOption({ label: 'None' });
    await page.getByRole('button', { name: 'Save' }).click();
    await says('status', 'The item is not linked to a service now.');
  });

  test('a Stripe customer is linked to another customer, once what moves is confirmed', async () => {
    const path = `/admin/subscriptions/stripe-customers/${account.stripeCustomer}`;
    await open(path);
    await page.getByText('Customer number at Stripe').waitFor();
    await page.getByLabel('Customer').fill(account.otherCustomer);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: `Choose ${account.otherCustomer}` }).click();
    await page.getByText(/subscriptions?, \d+ invoices? and \d+ payments? move from .* to /).waitFor();
    await page.getByText(/^Items are no longer linked to S/).waitFor();
    await page.getByRole('button', { name: `Link to ${account.otherCustomer}` }).click();
    await says('status', 'It is linked to');
    await page.waitForURL(`${site.url}${path}?notice=linked`);
    await page.getByText('Decision by staff').waitFor();
    expect(await section('Linked to').textContent()).toContain(account.otherCustomer);
    await page.getByText(/^Customer: K\d+ → /).waitFor();
    await page.getByRole('link', { name: 'Its subscriptions' }).click();
    await page.waitForURL(/\/admin\/subscriptions\?id=cus_/);
    const rows = page.locator('tbody tr');
    expect(await rows.filter({ hasText: account.otherCustomer }).count()).toBe(await rows.count());
  });

  test('a run is started, watched to its end, and shows what it repaired', async () => {
    await open('/admin/reconciliation');
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL(/\/admin\/reconciliation\/\d+$/);
    await page.getByText('Completed', { exact: true }).waitFor({ timeout: 100_000 });
    const repaired = section('Changes')
      .locator('tbody tr')
      .filter({ hasText: `Subscription ${account.drifted.subscriptionId}` });
    expect(await repaired.first().textContent()).toMatch(/Status.*active.*past_due.*Fixed/);
    await repaired
      .first()
      .getByRole('link', { name: /^Subscription/ })
      .click();
    await page.waitForURL(`${site.url}/admin/subscriptions/${account.drifted.subscriptionId}`);
    await page.getByRole('heading', { name: /Past due/ }).waitFor();
  }, 120_000);

  test.each([
    '/admin/webhooks/evt_nowhere',
    '/admin/webhooks/%00',
    '/admin/subscriptions/0',
    '/admin/subscriptions/999999',
    '/admin/subscriptions/stripe-customers/cus_nowhere',
  ])('%s is not found', async (path) => {
    await open(path);
    await page.getByRole('heading', { name: /not found/i }).waitFor();
    complaints.splice(0); // the browser reports the 404 itself
  });

  test('every page fits a telephone, in light and in dark', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const path of ['/admin', '/admin/reconciliation', ...paths()]) {
        await open(path);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect([path, width]).toEqual([path, 390]);
      }
    }
  });
});
