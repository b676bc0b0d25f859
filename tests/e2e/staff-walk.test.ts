import { sql } from 'drizzle-orm';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '@/db/database';
import { createCustomer, createInvoice } from '../support/factories';
import { launchBrowser, visit, watchComplaints } from './support/browser';
import { ADMIN, fillAdmin, fillCompany } from './support/company';
import { choose } from './support/filters';
import { openSite, type Site } from './support/site';
import { signIn } from './support/staff';
import { fillStripe, type StripeAccount } from './support/stripe-account';

const LOOKS = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 1440 },
  { colorScheme: 'dark', width: 390 },
] as const;

let site: Site;
let browser: Browser;
let account: StripeAccount;

beforeAll(async () => {
  site = await openSite(
    async (db) => {
      await fillCompany(db);
      account = await fillStripe(db);
      await repeatFailure(db);
      await fillAdmin(db);
      const { id: customer_id } = await createCustomer(db, {
        customer_number: 'K-WALK',
        company: 'Walkers & Co',
        email: 'accounts@walkers.example',
      });
      await createInvoice(db, { customer_id, number: 'WALK-1', total: '400', amount_due: '400' });
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

/** One failed event for every walk. */
async function repeatFailure(db: Database): Promise<void> {
  await db.execute(sql`
    insert into stripe_events (id, type, api_version, livemode, stripe_created, object_id, stripe_customer_id,
      payload, outcome, error_code, attempts)
    select id || n, type, api_version, livemode, stripe_created, object_id, stripe_customer_id,
      replace(payload, id, id || n), outcome, error_code, attempts
    from stripe_events, generate_series(2, ${LOOKS.length}::int) as n where outcome = 'failed'`);
}

describe.each(LOOKS)('at the desk, $colorScheme at $width px', (look) => {
  test('a customer, a payment, a failed event and a token', { timeout: 180_000 }, () =>
    atTheDesk(look, async (page) => {
      await findCustomer(page);
      await recordRefundAndDelete(page, `WALK-${look.colorScheme}-${look.width}`);
      await replayFailed(page);
      await issueUseAndRevoke(page);
    }),
  );
});

// After all the others: a run tries failed events again.
describe.each(LOOKS)('at the desk, $colorScheme at $width px', (look) => {
  test('a run, watched to its end', { timeout: 180_000 }, () => atTheDesk(look, runReconciliation));
});

async function atTheDesk(
  { colorScheme, width }: (typeof LOOKS)[number],
  work: (page: Page) => Promise<void>,
) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 844 } });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints = await watchComplaints(page);
  await signInWrongThenRight(page);
  await work(page);
  expect(complaints).toEqual([]);
  await context.close();
}

const says = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

/** By the navigation, which a narrow screen hides behind a button. */
async function goTo(page: Page, name: string): Promise<void> {
  const burger = page.getByRole('button', { name: 'Navigation' });
  if (await burger.isVisible()) await burger.click();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

/** A row of a list, whichever of its two forms is shown. */
const row = (page: Page, text: string | RegExp) =>
  page.locator('main').locator('tbody tr, ul li a').filter({ hasText: text, visible: true }).first();

async function signInWrongThenRight(page: Page): Promise<void> {
  await visit(page, `${site.url}/admin`);
  await signIn(page, ADMIN.email, 'not the password');
  await page.getByRole('alert').filter({ hasText: 'wrong' }).waitFor();
  await signIn(page, ADMIN.email, ADMIN.password);
  await page.waitForURL(`${site.url}/admin`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

async function findCustomer(page: Page): Promise<void> {
  const field = page.getByRole('combobox', { name: 'Search' });
  await expect
    .poll(async () => {
      if (!(await field.isVisible())) await page.keyboard.press('ControlOrMeta+k');
      return field.isVisible();
    })
    .toBe(true);
  await page.keyboard.type('accounts@walk');
  await page.getByRole('option', { name: /Walkers & Co/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/admin\/customers\/\d+$/);
  await page.getByRole('heading', { level: 1, name: 'Walkers & Co' }).waitFor();
}

async function recordRefundAndDelete(page: Page, reference: string): Promise<void> {
  await row(page, 'WALK-1').click();
  await page.getByRole('heading', { level: 1, name: 'Invoice WALK-1' }).waitFor();
  await page.getByRole('link', { name: 'Record payment' }).click();
  await page.getByLabel('Amount in EUR').fill('12.50');
  await page.getByLabel('Reference').fill(reference);
  await page.getByRole('button', { name: 'Record payment' }).click();
  await says(page, 'The payment is recorded.');
  for (const [button, confirm, said] of [
    ['Mark as refunded', 'Mark as refunded', /refunded/],
    ['Delete', 'Delete payment', /deleted/],
  ] as const) {
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: confirm }).click();
    await says(page, said);
  }
}

async function replayFailed(page: Page): Promise<void> {
  await goTo(page, 'Webhooks');
  await choose(page, 'Outcome', 'Failed');
  await page.waitForURL(/outcome=failed/);
  await row(page, 'invoice.payment_succeeded').click();
  await page.getByText('The event failed', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Replay' }).click();
  await says(page, /Replayed/);
}

async function runReconciliation(page: Page): Promise<void> {
  await goTo(page, 'Reconciliation');
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.waitForURL(/\/admin\/reconciliation\/\d+$/);
  await page.getByText('Completed', { exact: true }).waitFor({ timeout: 100_000 });
  expect(await page.getByRole('progressbar').count()).toBe(0);
}

async function issueUseAndRevoke(page: Page): Promise<void> {
  await goTo(page, 'Access tokens');
  await page.getByRole('link', { name: 'Issue token' }).click();
  await page.getByLabel('Name').fill('Walk');
  await page.getByLabel('mcp:read').check();
  await page.getByRole('button', { name: 'Issue token' }).click();
  const token = (await page.getByText(/^w5t_[\w-]{43}$/).textContent()) ?? '';
  expect(await toolsFor(token)).toBe(200);
  await page.getByRole('link', { name: 'Done' }).click();
  await row(page, 'Walk').click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click();
  await says(page, 'The token is revoked');
  expect(await toolsFor(token)).toBe(401);
}

async function toolsFor(token: string): Promise<number> {
  const answer = await fetch(`${site.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  return answer.status;
}
