import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN } from './support/company';
import { confirm, press, told, use } from './support/forms';
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

describe('the search dialog', () => {
  test('the search dialog finds a customer by part of an e-mail address', async () => {
    const page = await site.open('/admin');
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

  test('the search dialog opens a record directly if its exact id is typed', async () => {
    const page = await site.open('/admin');
    await openSearch(page);
    await page.keyboard.type('cus_wren');
    await page.keyboard.press('Enter');
    await page.waitForURL(site.url + pageOfWren());
  });

  test('Escape closes the search dialog and restores the previous focus', async () => {
    const page = await site.open('/admin/customers');
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

  test('the search dialog shows a message if no record matches', async () => {
    const page = await site.open('/admin');
    await openSearch(page);
    await page.keyboard.type('K-WREN');
    await page.getByRole('option', { name: /Zaunkönig/ }).waitFor();
    await page.keyboard.type('-nobody');
    await page.getByText('Nothing found for “K-WREN-nobody”.').waitFor();
    expect(await page.getByRole('option').count()).toBe(0);
  });

  test('the search dialog shows an error if the server does not respond or the session has ended', async () => {
    const page = await site.open('/admin', { own: true });
    site.allowComplaints(/ERR_FAILED|401/);
    await openSearch(page);
    await page.route('**/admin/search/results?*', (route) => route.abort());
    await page.keyboard.type('abc');
    await page.getByText('The search is not available right now.').waitFor();
    await page.unroute('**/admin/search/results?*');
    await page.context().clearCookies();
    await page.keyboard.type('d');
    await page.getByText('You are no longer signed in.').waitFor();
    const link = page.getByRole('link', { name: 'Sign in again' });
    expect(await link.getAttribute('href')).toBe('/sign-in?next=%2Fadmin');
  });

  test('the search page finds records without JavaScript', async () => {
    const page = await site.open('/admin', { javaScriptEnabled: false });
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

describe('the search endpoint', () => {
  const ask = (query: string, options = {}) =>
    site.fetch(`/admin/search/results${query}`, { headers: { accept: 'application/json' }, ...options });

  test('the search endpoint returns results to staff with Cache-Control: no-store', async () => {
    const answer = await ask('?q=k-wren');
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

  test('the search endpoint answers 401 without a session', async () => {
    const answer = await ask('?q=k-wren', { as: null });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
  });

  test.each(['', '?q=', '?q=%00', `?q=${'x'.repeat(201)}`])(
    'the search endpoint answers 422 to the invalid query %j',
    async (query) => {
      expect((await ask(query)).status).toBe(422);
    },
  );

  test('the search endpoint accepts only GET', async () => {
    const answer = await ask('?q=a', { method: 'POST' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('the page of a customer', () => {
  test('the page of a customer shows the balance and the latest records', async () => {
    const page = await site.open(pageOfWren());
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

  test('the page of a customer links to the filtered lists of the customer’s records', async () => {
    const page = await site.open(pageOfWren());
    for (const [name, path] of [
      ['All invoices (3)', '/admin/invoices?customer=K-WREN'],
      ['All sales documents', '/admin/sales-documents?customer=K-WREN'],
      ['All services', '/admin/services?customer=K-WREN'],
      ['All subscriptions', '/admin/subscriptions?customer=K-WREN'],
      ['All payments (12)', '/admin/payments?customer=K-WREN'],
    ] as const) {
      expect(await page.getByRole('link', { name }).getAttribute('href')).toBe(path);
      expect(await (await site.fetch(path)).text()).toContain('Zaunkönig &amp; Söhne');
    }
  });

  test('the timeline on the page of a customer starts with the newest entry', async () => {
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

  test('the pages of an invoice and a Stripe customer link to their customer', async () => {
    const page = await site.open('/admin/subscriptions/stripe-customers/cus_wren');
    await page.getByRole('link', { name: 'Zaunkönig & Söhne' }).click();
    await page.waitForURL(site.url + pageOfWren());
    await page.getByRole('link', { name: 'WREN-2' }).click();
    await page.waitForURL(/\/admin\/invoices\/\d+$/);
    await page.getByRole('link', { name: 'Zaunkönig & Söhne' }).click();
    await page.waitForURL(site.url + pageOfWren());
  });
});

describe('merging and erasing customers', () => {
  const old = () => `/admin/customers/${site.facts.old}`;

  test('staff without admin rights see no links to merge or erase customers', async () => {
    const page = await site.open(old());
    await page.getByRole('link', { name: 'Edit', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: /^(Merge|Erase)/, includeHidden: true }).count()).toBe(0);
  });

  test('the old page of a merged customer redirects to the remaining customer', async () => {
    const page = await site.open(old(), { as: ADMIN });
    await use(page, 'link', 'Merge with another customer…');
    await page.getByLabel('Customer', { exact: true }).fill('twice@example');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('link', { name: 'Choose K-NEW' }).click();
    await page.getByRole('heading', { name: 'Merge K-NEW into K-OLD?' }).waitFor();
    await page.getByRole('link', { name: 'Keep K-NEW instead' }).click();
    await page.getByRole('heading', { name: 'Merge K-OLD into K-NEW?' }).waitFor();
    await page.getByText('These records move from K-OLD to K-NEW: 1 service.').waitFor();
    await page.getByText('This cannot be undone.').waitFor();
    expect(await violationsOf(page, 'all')).toEqual([]);
    await page.getByLabel('Phone: +43 1 2345 instead of nothing').check();
    await press(page, 'Merge K-OLD into K-NEW');
    await told(page, 'The customers are merged');
    const merged = page.url().replace(/\?.*/, '');
    expect(merged).not.toBe(site.url + old());
    await page.getByText('+43 1 2345').first().waitFor();
    await page.getByText('Moved hosting').first().waitFor();
    await page.getByText('Merged customer: – → K-OLD').waitFor();

    await visit(page, site.url + old());
    await told(page, 'The customer that you opened was merged into this one.');
    expect(page.url().replace(/\?.*/, '')).toBe(merged);
    await visit(page, `${site.url}/admin/search?q=k-old`);
    expect(page.url()).toBe(merged);
  });

  test('an admin can erase a customer whose services have ended', async () => {
    const { customer, service } = site.facts.gone;
    const path = `/admin/customers/${customer}`;
    const page = await site.open(path, { as: ADMIN });
    await use(page, 'link', 'Erase…');
    await page.getByText('K-GONE cannot be erased yet: 1 service has not ended (S-GONE).').waitFor();
    await visit(page, `${site.url}/admin/services/${service}`);
    await confirm(page, 'Cancel service');
    await told(page, 'The service is cancelled.');

    await visit(page, `${site.url}${path}/erase`);
    await page.getByText(/The law requires you to keep invoices/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const number = page.getByLabel('Customer number');
    await number.fill('K-OTHER');
    await page.keyboard.press('Enter');
    await page.getByText('This is not the number of this customer: type K-GONE.').waitFor();
    await number.fill('k-gone');
    await press(page, 'Erase customer');
    await told(page, 'The customer is erased.');
    await page.getByRole('heading', { name: 'Erased customer' }).waitFor();
    await page.getByText(`Erased by ${ADMIN.email}`).waitFor();
    await page.getByText('This customer was erased:').waitFor();
    expect(await page.getByText('Gone & Co').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0);

    await visit(page, `${site.url}/admin/invoices?customer=K-GONE`);
    await page
      .getByRole('link', { name: /GONE-1/ })
      .first()
      .waitFor();
  });
});
