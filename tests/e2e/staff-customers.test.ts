import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN } from './support/company';
import { confirm, follow, link, press, rowsOf, section, see, told, use } from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company');

const pageOfWren = () => `/admin/customers/${site.facts.wren}`;
const field = (page: Page) => page.getByRole('combobox', { name: 'Search' });

/** Opens the search by keyboard. Retries until the page has loaded its scripts. */
async function openSearch(page: Page): Promise<void> {
  await expect
    .poll(async () => {
      if (await field(page).isVisible()) return true;
      await page.keyboard.press('ControlOrMeta+k');
      return field(page).isVisible();
    })
    .toBe(true);
}

test('the search dialog finds a customer by part of an e-mail address, and its results can be selected by keyboard', async () => {
  const page = await site.open('/admin');
  await openSearch(page);
  await page.keyboard.type('wren-AND');
  const option = (name: RegExp) => page.getByRole('option', { name }).first();
  const isSelected = async (name: RegExp) => (await option(name).getAttribute('aria-selected')) === 'true';
  await option(/Zaunkönig & Söhne.*K-WREN/).waitFor();
  expect(await page.getByRole('dialog').getByRole('status').textContent()).toMatch(/^2 results/);
  expect(await isSelected(/Zaunkönig/)).toBe(true);
  await page.keyboard.press('ArrowDown');
  expect(await isSelected(/S-WREN/)).toBe(true);
  const active = await field(page).getAttribute('aria-activedescendant');
  expect(active).toBe(await option(/S-WREN/).getAttribute('id'));
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  expect(await isSelected(/See all results/)).toBe(true);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(site.url + pageOfWren());
  await page.getByRole('heading', { name: 'Zaunkönig & Söhne' }).waitFor();
  expect(await page.getByRole('dialog').isVisible()).toBe(false);
});

test('Escape closes the search dialog and restores the previous focus', async () => {
  const page = await site.open('/admin/customers');
  await openSearch(page);
  await page.keyboard.press('Escape');
  await expect.poll(() => field(page).isVisible()).toBe(false);
  await link(page, 'New customer').focus();
  await openSearch(page);
  expect(await field(page).inputValue()).toBe('');
  await page.keyboard.press('Escape');
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await expect.poll(focused).toBe('New customer');
});

test('the search dialog shows a message if no record matches, and opens a customer if its exact Stripe id is typed', async () => {
  const page = await site.open('/admin');
  await openSearch(page);
  await page.keyboard.type('K-WREN');
  await page.getByRole('option', { name: /Zaunkönig/ }).waitFor();
  await page.keyboard.type('-nobody');
  await see(page, 'Nothing found for “K-WREN-nobody”.');
  expect(await page.getByRole('option').count()).toBe(0);
  await field(page).fill('');
  await page.keyboard.type('cus_wren');
  await page.keyboard.press('Enter');
  await page.waitForURL(site.url + pageOfWren());
});

test('the search dialog shows an error if the server does not respond or the session has ended', async () => {
  const page = await site.open('/admin', { own: true });
  site.allowComplaints(/ERR_FAILED|401/);
  await openSearch(page);
  await page.route('**/admin/search/results?*', (route) => route.abort());
  await page.keyboard.type('abc');
  await see(page, 'The search is not available right now.');
  await page.unroute('**/admin/search/results?*');
  await page.context().clearCookies();
  await page.keyboard.type('d');
  await see(page, 'You are no longer signed in.');
  expect(await link(page, 'Sign in again').getAttribute('href')).toBe('/sign-in?next=%2Fadmin');
});

test('the search page finds records without JavaScript', async () => {
  const page = await site.open('/admin', { javaScriptEnabled: false });
  await page.getByRole('link', { name: 'Search' }).first().click();
  await page.waitForURL(`${site.url}/admin/search`);
  await page.getByRole('textbox', { name: 'Search' }).fill('wren-');
  await page.getByRole('button', { name: 'Search' }).click();
  await see(page, /^The first \d+ results for “wren-”$/);
  const kinds = ['Customers', 'Invoices', 'Payments', 'Services', 'Sales documents'];
  expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(kinds);
  await follow(page, 'See all that match', `${site.url}/admin/payments?reference=wren-`);
  await visit(page, `${site.url}/admin/search?q=sub_wren`);
  await page.waitForURL(/\/admin\/subscriptions\/\d+$/);
});

describe('the search endpoint', () => {
  const ask = (query: string, options = {}) =>
    site.fetch(`/admin/search/results${query}`, { headers: { accept: 'application/json' }, ...options });

  test('the search endpoint returns results to staff with Cache-Control: no-store', async () => {
    const answer = await ask('?q=k-wren');
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const detail = 'K-WREN · Office@Wren-and-Sons.example';
    const entry = { href: pageOfWren(), title: 'Zaunkönig & Söhne', detail, status: 'active', figure: null };
    expect(await answer.json()).toEqual({ groups: [{ label: 'Customers', more: false, entries: [entry] }] });
    expect(await (await ask('?q=ASKED-0815')).json()).toMatchObject({
      groups: [{ label: 'Sales documents', entries: [{ title: 'AN-ASKED-0815' }] }],
    });
  });

  test('the search endpoint refuses visitors, invalid queries and POST requests', async () => {
    const visitor = await ask('?q=k-wren', { as: null });
    expect([visitor.status, visitor.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
    for (const query of ['', '?q=', '?q=%00', `?q=${'x'.repeat(201)}`]) {
      expect([query, (await ask(query)).status]).toEqual([query, 422]);
    }
    const post = await ask('?q=a', { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

test('the page of a customer shows the balance and the latest records, and links to the full lists', async () => {
  const page = await site.open(pageOfWren());
  const text = (title: string) => section(page, title).textContent();
  await section(page, 'Balance due').getByText('€300.00').waitFor();
  expect(await text('Balance due')).toMatch(/2 unpaid invoices · 1 overdue.*Overdue: €100\.00/);
  expect(await text('Details')).toMatch(/K-WREN.*Office@Wren-and-Sons.example.*Graz.*Austria/);
  expect(await rowsOf(page, 'Unpaid invoices').allTextContents()).toEqual([
    expect.stringMatching(/^WREN-1.*Overdue.*€100.00/),
    expect.stringMatching(/^WREN-2.*Sent.*€200.00/),
  ]);
  for (const [title, shown] of [
    ['Open sales documents', 'WREN-OFFER'],
    ['Services', 'wren-and-sons.example'],
    ['Subscriptions', 'Active'],
    ['Stripe', 'cus_wren'],
  ] as const) {
    expect(await section(page, title).locator('tbody').textContent()).toContain(shown);
  }
  expect(await rowsOf(page, 'Latest payments').count()).toBe(10);
  for (const [name, list] of [
    ['All invoices (3)', 'invoices'],
    ['All sales documents', 'sales-documents'],
    ['All services', 'services'],
    ['All subscriptions', 'subscriptions'],
    ['All payments (12)', 'payments'],
  ] as const) {
    const path = `/admin/${list}?customer=K-WREN`;
    expect(await page.getByRole('link', { name }).getAttribute('href')).toBe(path);
    expect(await (await site.fetch(path)).text()).toContain('Zaunkönig &amp; Söhne');
  }
});

test('the timeline on the page of a customer starts with the newest entries, and links to a webhook event', async () => {
  const page = await site.open(pageOfWren());
  const entries = page.locator('#timeline li');
  await entries.first().waitFor();
  expect((await entries.allTextContents()).slice(0, 3)).toEqual([
    expect.stringContaining('WREN-PAID-12'),
    expect.stringContaining('WREN-PAID-11'),
    expect.stringMatching(/Stripe: invoice payment failed.*Stale/),
  ]);
  expect(await entries.nth(2).locator('time').getAttribute('title')).toBe('2026-02-11T08:00:00.000Z');
  await entries.nth(2).getByRole('link').click();
  await page.waitForURL(`${site.url}/admin/webhooks/evt_wren`);
});

test('the page of a Stripe customer links to its customer, whose page links to the invoices', async () => {
  const page = await site.open('/admin/subscriptions/stripe-customers/cus_wren');
  await follow(page, /Zaunkönig & Söhne/, site.url + pageOfWren());
  await follow(page, /WREN-2/, /\/admin\/invoices\/\d+$/);
});

describe('merging and erasing customers', () => {
  const old = () => `/admin/customers/${site.facts.old}`;

  test('staff without admin rights see no links to merge or erase customers', async () => {
    const page = await site.open(old());
    await link(page, 'Edit').waitFor();
    expect(await page.getByRole('link', { name: /^(Merge|Erase)/, includeHidden: true }).count()).toBe(0);
  });

  test('an admin can merge two customers, and the old page and number then lead to the remaining customer', async () => {
    const page = await site.open(old(), { as: ADMIN });
    const pathOf = () => page.url().replace(/\?.*/, '');
    await use(page, 'link', 'Merge with another customer…');
    await page.getByLabel('Customer', { exact: true }).fill('twice@example');
    await press(page, 'Search');
    await link(page, 'Choose K-NEW').click();
    await page.getByRole('heading', { name: 'Merge K-NEW into K-OLD?' }).waitFor();
    await link(page, 'Keep K-NEW instead').click();
    await page.getByRole('heading', { name: 'Merge K-OLD into K-NEW?' }).waitFor();
    await see(page, 'These records move from K-OLD to K-NEW: 1 service.', 'This cannot be undone.');
    expect(await violationsOf(page, 'all')).toEqual([]);
    await page.getByLabel('Phone: +43 1 2345 instead of nothing').check();
    await press(page, 'Merge K-OLD into K-NEW', 'The customers are merged');
    const merged = pathOf();
    expect(merged).not.toBe(site.url + old());
    await see(page, '+43 1 2345', 'Moved hosting', 'Merged customer: – → K-OLD');

    await visit(page, site.url + old());
    await told(page, 'The customer that you opened was merged into this one.');
    expect(pathOf()).toBe(merged);
    await visit(page, `${site.url}/admin/search?q=k-old`);
    expect(page.url()).toBe(merged);
  });

  test('an admin can erase a customer only after the services have ended, and the invoices remain', async () => {
    const { customer, service } = site.facts.gone;
    const path = `/admin/customers/${customer}`;
    const page = await site.open(path, { as: ADMIN });
    await use(page, 'link', 'Erase…');
    await see(page, 'K-GONE cannot be erased yet: 1 service has not ended (S-GONE).');
    await visit(page, `${site.url}/admin/services/${service}`);
    await confirm(page, 'Cancel service', 'The service is cancelled.');

    await visit(page, `${site.url}${path}/erase`);
    await see(page, /The law requires you to keep invoices/);
    expect(await violationsOf(page)).toEqual([]);
    const number = page.getByLabel('Customer number');
    await number.fill('K-OTHER');
    await page.keyboard.press('Enter');
    await see(page, 'This is not the number of this customer: type K-GONE.');
    await number.fill('k-gone');
    await press(page, 'Erase customer', 'The customer is erased.');
    await page.getByRole('heading', { name: 'Erased customer' }).waitFor();
    await see(page, `Erased by ${ADMIN.email}`, 'This customer was erased:');
    expect(await page.getByText('Gone & Co').count()).toBe(0);
    expect(await link(page, 'Edit').count()).toBe(0);

    await visit(page, `${site.url}/admin/invoices?customer=K-GONE`);
    await page
      .getByRole('link', { name: /GONE-1/ })
      .first()
      .waitFor();
  });
});
