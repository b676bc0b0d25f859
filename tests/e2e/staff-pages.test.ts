import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN, KEYS } from './support/company';
import {
  choose,
  confirm,
  fill,
  follow,
  link,
  press,
  rows,
  see,
  seeAlert,
  seeHeading,
  signIn,
  told,
  valuesOf,
} from './support/forms';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

const main = (page: Page) => page.locator('main');
/** Cookie headers that grant no access, because they are empty or name a session that the server never started. */
const WITHOUT_SESSION = ['', 'w5t.session_token=forged.signature'];

test('a staff page opened without a valid session redirects to the sign-in page', async () => {
  for (const path of [
    '/admin',
    '/admin/payments?status=completed',
    '/admin/export/payments?customer=K-E2E',
  ]) {
    for (const cookie of WITHOUT_SESSION) {
      const { status, headers } = await site.fetch(path, { as: null, headers: { cookie } });
      const target = headers.get('location');
      expect([path, status, target]).toEqual([path, 307, `/sign-in?next=${encodeURIComponent(path)}`]);
    }
  }
});

test('a URL with an invalid percent escape gets a 404 problem from the API, or a 404 page with the headers for http', async () => {
  for (const path of ['/api/w5t/payments/%ff', '/api/%ff', '/api/%']) {
    const answer = await fetch(site.url + path);
    const type = answer.headers.get('content-type');
    expect([path, answer.status, type]).toEqual([path, 404, 'application/problem+json']);
  }
  expect((await fetch(`${site.url}/api/w5t/payments/%31`)).status).toBe(401);
  for (const path of ['/admin/%ff', '/admin/webhooks/evt_%ff', '/docs/%']) {
    for (const cookie of WITHOUT_SESSION) {
      const { status, headers } = await site.fetch(path, { as: null, headers: { cookie } });
      expect([path, status, headers.get('x-frame-options')]).toEqual([path, 404, 'DENY']);
      expect(headers.get('strict-transport-security')).toBeNull();
    }
  }
});

test('the page of a record that does not exist is answered with 404', async () => {
  for (const path of [
    ...['999999', '0', 'x', '2147483648', '99999999999999'].map((id) => `customers/${id}`),
    ...['payments/999999', 'payments/x', 'reconciliation/0', 'subscriptions/0', 'subscriptions/999999'],
    ...['webhooks/evt_nowhere', 'webhooks/%00', 'subscriptions/stripe-customers/cus_nowhere', 'nowhere'],
  ]) {
    expect([path, (await site.fetch(`/admin/${path}`)).status]).toEqual([path, 404]);
  }
});

test('a reload keeps the chosen dark mode, and signing out ends the session', async () => {
  const page = await site.open('/admin', { as: null });
  await signIn(page, KEYS.email);
  await page.waitForURL(`${site.url}/admin`);
  await expect.poll(() => page.title()).toBe('Overview · W5T Administration');
  await see(page, /^Money received$/, /^Open invoices$/, /^Last reconciliation$/, /^Latest payments$/);
  const session = (await page.context().cookies()).find(({ name }) => name === 'w5t.session_token');

  const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
  const openMenu = () => page.getByRole('button', { name: `Account of ${KEYS.name}` }).click();
  await openMenu();
  await page.getByText('Dark', { exact: true }).click();
  await expect.poll(scheme).toBe('dark');
  await page.reload();
  expect(await scheme()).toBe('dark');

  await openMenu();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL(`${site.url}/sign-in`);
  // The remaining cookie marks a known device, which failed sign-ins on other devices cannot lock out.
  expect((await page.context().cookies()).map(({ name }) => name)).toEqual([
    expect.stringMatching(/^w5t\.device\./),
  ]);
  const cookie = `${session?.name}=${session?.value}`;
  expect((await site.fetch('/admin', { as: null, headers: { cookie } })).status).toBe(307);
});

test('the navigation on a phone is reachable by keyboard only while it is open', async () => {
  const page = await site.open('/admin/payments', { viewport: { width: 390, height: 844 } });
  const burger = page.getByRole('button', { name: 'Navigation' });
  const navigation = page.getByRole('navigation', { name: 'Main' });
  await expect
    .poll(async () => {
      await burger.focus();
      await page.keyboard.press('Tab');
      return page.evaluate(() => document.activeElement?.textContent);
    })
    .toBe('Record payment');
  await burger.click();
  await navigation.getByRole('link', { name: 'Overview' }).focus();
  await page.keyboard.press('Escape');
  expect(await navigation.isVisible()).toBe(false);
  expect(await burger.evaluate((button) => button === document.activeElement)).toBe(true);
  await burger.click();
  await page.getByRole('button', { name: /^Account of|Perlman/ }).focus();
  await page.keyboard.press('Tab');
  await expect.poll(() => navigation.isVisible()).toBe(false);
});

/** Returns the content of the page's CSV download. */
async function fileOf(page: Page): Promise<string> {
  const file = await link(page, 'Download CSV').getAttribute('href');
  return (await site.fetch(file ?? '')).text();
}

test('the ? key shows the keyboard shortcuts', async () => {
  const page = await site.open('/admin');
  await page.keyboard.press('?');
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await shortcuts.getByText('Search, or go to a page').waitFor();
});

test('the search dialog offers a link to the servers in maintenance', async () => {
  const page = await site.open('/admin');
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('option', { name: 'Servers in maintenance' }).click();
  await page.waitForURL(/servers\?status=maintenance$/);
  await main(page).getByText('Maintenance').first().waitFor();
  for (const row of await rows(page).allTextContents()) expect(row).toContain('Maintenance');
});

test('the renewals of next week and the payments of last month can be downloaded', async () => {
  const page = await site.open('/admin');
  await follow(page, 'Renewals', /renewals$/);
  await page.locator('search summary').first().click();
  await follow(page, 'Next week', new RegExp(`from=${site.facts.monday}`));
  await rows(page).first().waitFor();
  expect(await fileOf(page)).toContain('S-ASKED');

  await follow(page, 'Payments', /payments$/);
  await choose(page, 'Date', 'Last month');
  await page.waitForURL(/from=/);
  expect(await fileOf(page)).toContain('ASKED-PAID');
});

test('the invoices that are 31 to 60 days overdue are two clicks away from the overview', async () => {
  const page = await site.open('/admin');
  await follow(page, /overdue invoices?: .* the oldest was due/, /overdue\/invoices$/);
  const age = page.locator('dl[aria-label^="Overdue by age"] > div').filter({ hasText: '31–60 days' });
  await age.filter({ hasText: '€' }).getByRole('link').click();
  await page.waitForURL(/age=31-60&currency=eur$/);
  expect(await fileOf(page)).toContain('ASKED-OLD');
});

test('the overview links to the receivables, which are sorted by open amount or last note and can be downloaded', async () => {
  const page = await site.open('/admin');
  await follow(page, 'Who owes most', /overdue$/);
  const table = main(page).getByRole('table', { name: 'Receivables' });
  expect(await table.locator('th[aria-sort=descending]').textContent()).toBe('Open');
  await table.getByRole('link', { name: 'Last note' }).click();
  await page.waitForURL(/sort=-note$/);
  expect(await fileOf(page)).toContain('"not_due","days_1_30","days_31_60","days_61_90","over_90_days"');
});

test('the overview links to the latest reconciliation run and to the past-due subscriptions', async () => {
  const page = await site.open('/admin');
  await follow(page, 'See the run', `${site.url}/admin/reconciliation/${site.facts.runId}`);
  const change = rows(page).filter({ hasText: 'Subscription 12' });
  expect(await change.textContent()).toMatch(/active.*past_due.*Fixed/);
  await see(page, 'stripe_timeout');
  await page.goBack();
  await follow(page, /subscriptions? (is|are) past due/, /status=past_due$/);
  const amount = main(page).getByText(/[€$£][\d.,]+ \/ \w+|unpaid/);
  await amount.first().waitFor();
});

test('the card of an invoice on a phone shows the due date and the open amount', async () => {
  const page = await site.open(`/admin/invoices?number=%23${site.facts.form.unpaid}`, {
    viewport: { width: 390, height: 844 },
  });
  const card = main(page).locator('#list li a').first();
  await card.waitFor();
  expect(await card.textContent()).toMatch(/ · due \d{1,2} \w{3,4} \d{4} · .*€\d+\.\d\d open/);
});

test('the pages of a record have its name in the title, highlight one action, and end the menu with the destructive one', async () => {
  const page = await site.open('/admin');
  const { wren, form, old } = site.facts;
  const actions = (selector: string) => main(page).locator(`[data-actions] ${selector}`).allInnerTexts();
  const pages: [path: string, title: RegExp, primary?: string, last?: string][] = [
    [`customers/${old}`, /^Doppelt GmbH · /, 'Edit', 'Erase…'],
    [`customers/${wren}/edit`, /^Edit Zaunkönig & Söhne · /],
    [`invoices/${form.invoice}`, new RegExp(`^Invoice #${form.invoice} · `), 'Issue', 'Delete'],
    [`invoices/${form.invoice}/edit`, new RegExp(`^Edit draft #${form.invoice} · `)],
    [`sales-documents/${form.document}`, /^(Offer|Order confirmation) \S+ · /, 'Mark as sent', 'Delete'],
    [`servers/${form.server}`, /^form\.example\.net · /, 'Edit', 'Decommission'],
    ['webhooks/evt_wren', /^invoice\.\S+ evt_wren · /],
    ['reconciliation/1', /^Reconciliation run 1 · /],
    [`payments/${form.pending}`, /^Payment \S+/, 'Confirm', 'Delete'],
  ];
  for (const [path, title, primary, last] of pages) {
    await visit(page, `${site.url}/admin/${path}`);
    await expect.poll(() => page.title(), { message: path }).toMatch(title);
    if (!primary) continue;
    await main(page).locator('details[data-menu] > summary').click();
    const filled = await actions('> [data-variant="filled"]');
    const entries = await actions('details :is(a, button)');
    expect([path, filled, entries.at(-1)]).toEqual([path, [primary], last]);
  }
  await page.keyboard.press('Escape');
  expect(await main(page).locator('details[data-menu][open]').count()).toBe(0);
});

test('the link from a record back to its list keeps the filters', async () => {
  const page = await site.open('/admin');
  for (const list of ['/admin/invoices?status=open&sort=-amount', '/admin/invoices']) {
    await visit(page, site.url + list);
    await main(page).locator('a[data-row]').first().click();
    await page.waitForURL(/\/admin\/invoices\/\d+$/);
    await main(page).getByRole('link', { name: 'Invoices', exact: true }).click();
    await page.waitForURL(site.url + list);
  }
});

test('leaving a form asks for confirmation only while it has unsaved changes', async () => {
  const page = await site.open(`/admin/customers/${site.facts.form.customer}`, { own: true });
  const asked: string[] = [];
  let answer: 'accept' | 'dismiss' = 'dismiss';
  page.on('dialog', async (dialog) => {
    asked.push(dialog.type());
    await dialog[answer]();
  });
  const edit = async (city: string) => {
    await follow(page, 'Edit', /\/edit$/);
    await fill(page, { City: city });
  };
  await edit('Half');
  await link(page, 'Invoices').click();
  await expect.poll(() => asked).toEqual(['confirm']);
  await page.goBack({ timeout: 1000 }).catch(() => null); // The dialog blocks the navigation.
  await expect.poll(() => asked).toEqual(['confirm', 'confirm']);
  expect(page.url()).toMatch(/\/edit$/);
  const stayed = page.evaluate(() => window.location.reload());
  await expect.poll(() => asked).toEqual(['confirm', 'confirm', 'beforeunload']);
  await stayed.catch(() => null);
  expect(await valuesOf(page, 'City')).toEqual(['Half']);

  await press(page, 'Save', 'Your changes are saved.');
  await edit('Dropped');
  answer = 'accept';
  await follow(page, 'Cancel', /\/customers\/\d+$/);
  await page.getByRole('textbox', { name: 'Note' }).fill('Called back');
  await press(page, 'Add note', 'The note is added.');
  await follow(page, 'Invoices', /\/admin\/invoices$/);
  expect(asked).toEqual(['confirm', 'confirm', 'beforeunload', 'confirm']);
});

test('staff can record, refund and delete a payment on a phone in dark mode', {
  timeout: 120_000,
}, async () => {
  const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true } as const;
  const page = await site.open('/admin', { as: null, ...phone });
  await signIn(page, ADMIN.email, 'not the password');
  await seeAlert(page, 'The e-mail address or the password is wrong.');
  expect(await valuesOf(page, 'E-mail')).toEqual([ADMIN.email]);
  await signIn(page, ADMIN.email);
  await page.waitForURL(`${site.url}/admin`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();

  const field = page.getByRole('combobox', { name: 'Search' });
  await expect
    .poll(async () => {
      await page.getByRole('banner').getByRole('link', { name: 'Search' }).click({ force: true });
      return field.isVisible();
    })
    .toBe(true);
  await field.fill('accounts@walk');
  await page.getByRole('option', { name: /Walkers & Co/ }).click();
  await page.waitForURL(/\/admin\/customers\/\d+$/);
  await seeHeading(page, 'Walkers & Co');

  // Lists are not tables at this width.
  await main(page).locator('ul li a').filter({ hasText: 'WALK-1', visible: true }).first().click();
  await seeHeading(page, 'Invoice WALK-1');
  await link(page, 'Record payment').click();
  await fill(page, { 'Amount in EUR': '12.50', Reference: 'WALK' });
  await press(page, 'Record payment', 'The payment is recorded.');
  await confirm(page, 'Mark as refunded', /refunded/);
  await press(page, 'Delete');
  const box = await page.getByRole('dialog').boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete payment' }).click();
  await told(page, /deleted/);
});
