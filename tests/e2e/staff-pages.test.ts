import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN, KEYS, MONDAY, STAFF } from './support/company';
import { confirm, press, signIn, told } from './support/forms';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

const main = (page: Page) => page.locator('main');
const rows = (page: Page) => page.locator('tbody tr');

test('a staff page opened without a valid session redirects to the sign-in page', async () => {
  for (const path of [
    '/admin',
    '/admin/payments?status=completed',
    '/admin/export/payments?customer=K-E2E',
  ]) {
    for (const cookie of ['', 'w5t.session_token=forged.signature']) {
      const answer = await site.fetch(path, { as: null, headers: { cookie } });
      expect([path, answer.status]).toEqual([path, 307]);
      expect(answer.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
    }
  }
});

test('the content security policy has a new script nonce in every response and forbids eval', async () => {
  const policies = await Promise.all(
    [1, 2].map(async () => (await fetch(`${site.url}/sign-in`)).headers.get('content-security-policy')),
  );
  expect(new Set(policies).size).toBe(2);
  expect(policies[0]).toMatch(/script-src 'self' 'nonce-[A-Za-z0-9+/=]{24}' 'strict-dynamic';/);
  expect(policies[0]).not.toContain('unsafe-eval');
});

test('a site on plain http sends no HSTS header', async () => {
  for (const path of ['/admin', '/sign-in']) {
    const { headers } = await site.fetch(path);
    expect([path, headers.get('strict-transport-security')]).toEqual([path, null]);
  }
});

test.each(['/api/w5t/payments/%ff', '/api/%ff', '/api/%'])(
  'the API URL %s with an invalid percent escape is answered with 404',
  async (path) => {
    const answer = await fetch(site.url + path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect((await fetch(`${site.url}/api/w5t/payments/%31`)).status).toBe(401);
  },
);

test.each(['/admin/%ff', '/admin/webhooks/evt_%ff', '/docs/%'])(
  'the page URL %s with an invalid percent escape is answered with 404',
  async (path) => {
    for (const cookie of ['', 'w5t.session_token=forged.signature']) {
      const answer = await site.fetch(path, { as: null, headers: { cookie } });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    }
  },
);

test('the page of a record that does not exist is answered with 404', async () => {
  for (const path of [
    ...['999999', '0', 'x', '2147483648', '99999999999999'].map((id) => `/admin/customers/${id}`),
    '/admin/payments/999999',
    '/admin/payments/x',
    '/admin/reconciliation/0',
    '/admin/webhooks/evt_nowhere',
    '/admin/webhooks/%00',
    '/admin/subscriptions/0',
    '/admin/subscriptions/999999',
    '/admin/subscriptions/stripe-customers/cus_nowhere',
    '/admin/nowhere',
  ]) {
    expect([path, (await site.fetch(path)).status]).toEqual([path, 404]);
  }
});

test.each([
  [
    '/admin/customers?country=Germania',
    'Must be a country by its name or its two letters, such as Germany or DE.',
  ],
  ['/admin/invoices?from=tomorrow', 'Must be a calendar date'],
  ['/admin/webhooks?type=nonsense', 'Must be one of the types listed.'],
])('the list %s shows an error instead of rows if its filter is invalid', async (path, sentence) => {
  const text = await (await site.fetch(path)).text();
  expect(text).toContain(sentence);
  expect(text).not.toMatch(/<table|Download CSV/);
});

describe('signing in and out', () => {
  test('signing in with a wrong password or an unknown e-mail address shows the same error', async () => {
    const page = await site.open('/sign-in', { as: null });
    for (const email of [STAFF.email, 'nobody@example.com']) {
      await signIn(page, email, 'not the password');
      expect(await page.getByRole('alert').filter({ hasText: 'wrong' }).textContent()).toBe(
        'The e-mail address or the password is wrong.',
      );
      expect(await page.getByLabel('E-mail').inputValue()).toBe(email);
    }
    site.allowComplaints(/401/);
  });

  test('signing out ends the session', async () => {
    const page = await site.open('/admin', { as: null });
    await signIn(page, KEYS.email);
    await page.waitForURL(`${site.url}/admin`);
    await expect.poll(() => page.title()).toBe('Overview · W5T Administration');
    for (const label of [
      'Money received',
      'Open invoices',
      'Overdue',
      'Last reconciliation',
      'Latest payments',
    ]) {
      await page.getByText(label, { exact: true }).first().waitFor();
    }
    const cookies = await page.context().cookies();
    const session = cookies.find(({ name }) => name === 'w5t.session_token');
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    await page.getByRole('button', { name: `Account of ${KEYS.name}` }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(`${site.url}/sign-in`);
    // The remaining cookie marks a known device, which failed sign-ins on other devices cannot lock out.
    expect(await page.context().cookies()).toMatchObject([
      { name: expect.stringMatching(/^w5t\.device\./), httpOnly: true, sameSite: 'Strict' },
    ]);
    const again = await site.fetch('/admin', {
      as: null,
      headers: { cookie: `${session?.name}=${session?.value}` },
    });
    expect(again.status).toBe(307);
  });
});

describe('layout of the pages', () => {
  test('the chosen dark mode is kept after a reload', async () => {
    const page = await site.open('/admin', { own: true });
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByText('Dark', { exact: true }).click();
    await expect.poll(scheme).toBe('dark');
    await page.reload();
    expect(await scheme()).toBe('dark');
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

  test('the ? key shows the keyboard shortcuts', async () => {
    const page = await site.open('/admin');
    await page.keyboard.press('?');
    await page
      .getByRole('dialog', { name: 'Keyboard shortcuts' })
      .getByText('Search, or go to a page')
      .waitFor();
  });

  test('the page of a payment shows a change made through the API', async () => {
    const page = await site.open('/admin/payments/1');
    expect(await page.locator('dl').first().textContent()).toContain('ID');
    const api = { authorization: `Bearer ${site.facts.token}`, 'content-type': 'application/json' };
    const payment = await (await fetch(`${site.url}/api/w5t/payments/1`, { headers: api })).json();
    const answer = await fetch(`${site.url}/api/w5t/payments/1`, {
      method: 'PATCH',
      headers: api,
      body: JSON.stringify({ payment_reference: 'written-by-the-api' }),
    });
    expect(answer.status).toBe(200);
    await page.reload();
    await page.getByText('written-by-the-api').first().waitFor();
    await page.getByText(`Payment reference: ${payment.payment_reference} → written-by-the-api`).waitFor();
  });
});

const link = (page: Page, name: string | RegExp) =>
  page.getByRole('link', { name, exact: typeof name === 'string' });

/** Returns the content of the page's CSV download. */
async function fileOf(page: Page): Promise<string> {
  const file = await link(page, 'Download CSV').getAttribute('href');
  return (await site.fetch(file ?? '')).text();
}

describe('everyday questions, each answered within two clicks or one search', () => {
  async function searchFor(page: Page, text: string): Promise<void> {
    const field = page.getByRole('combobox', { name: 'Search' });
    await expect
      .poll(async () => {
        if (!(await field.isVisible())) await page.keyboard.press('/');
        return field.isVisible();
      })
      .toBe(true);
    await field.fill(''); // The slash may have been typed into the field while the dialog opened.
    await page.keyboard.type(text);
    // Wait for the results, because Enter opens the page of all results until then.
    await page
      .locator('[data-stale="false"]')
      .getByRole('option', { name: /ASKED|Asked/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
  }

  test('the search finds a customer by words of the name in any order', async () => {
    const page = await site.open('/admin');
    await searchFor(page, 'sons asked');
    await page.waitForURL(/\/admin\/customers\/\d+$/);
    const balance = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Balance due' }) });
    expect(await balance.first().textContent()).toMatch(
      /€392\.00.*1 unpaid invoice · 1 overdue.*Overdue: €392\.00/,
    );
  });

  test('the search finds an offer by the end of its number', async () => {
    const page = await site.open('/admin');
    await searchFor(page, 'ASKED-0815');
    await page.waitForURL(/sales-documents\/\d+$/);
    await main(page).getByText('ASKED-NEW').first().waitFor();
  });

  test('the renewals page lists the services that renew next week', async () => {
    const page = await site.open('/admin');
    await link(page, 'Renewals').click();
    await page.waitForURL(/renewals$/);
    await page.locator('search summary').first().click();
    await link(page, 'Next week').click();
    await page.waitForURL(new RegExp(`from=${MONDAY}`));
    await rows(page).first().waitFor();
    expect(await fileOf(page)).toContain('S-ASKED');
  });

  test('the search dialog offers a link to the servers in maintenance', async () => {
    const page = await site.open('/admin');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('option', { name: 'Servers in maintenance' }).click();
    await page.waitForURL(/servers\?status=maintenance$/);
    await main(page).getByText('Maintenance').first().waitFor();
    for (const row of await rows(page).allTextContents()) expect(row).toContain('Maintenance');
  });

  test('the overview links to the invoices that are 31 to 60 days overdue', async () => {
    const page = await site.open('/admin');
    await link(page, /overdue invoices?: .* the oldest was due/).click();
    await page.waitForURL(/overdue\/invoices$/);
    const age = page.locator('dl[aria-label^="Overdue by age"] > div').filter({ hasText: '31–60 days' });
    await age.filter({ hasText: '€' }).getByRole('link').click();
    await page.waitForURL(/age=31-60&currency=eur$/);
    expect(await fileOf(page)).toContain('ASKED-OLD');
  });

  test('the customers who owe most are one click away from the overview', async () => {
    const page = await site.open('/admin');
    await link(page, 'Who owes most').click();
    await page.waitForURL(/overdue$/);
    const table = main(page).getByRole('table', { name: 'Receivables' });
    expect(await table.locator('th[aria-sort=descending]').textContent()).toBe('Open');
    await table.getByRole('link', { name: 'Last note' }).click();
    await page.waitForURL(/sort=-note$/);
    expect(await fileOf(page)).toContain('"not_due","days_1_30","days_31_60","days_61_90","over_90_days"');
  });

  test('last month’s payments can be downloaded as CSV', async () => {
    const page = await site.open('/admin');
    await link(page, 'Payments').click();
    await page.waitForURL(/payments$/);
    await page.locator('search summary').filter({ hasText: 'Date' }).click();
    await link(page, 'Last month').click();
    await page.waitForURL(/from=/);
    expect(await fileOf(page)).toContain('ASKED-PAID');
  });

  test('the overview links to the changes and failures of the latest reconciliation run', async () => {
    const page = await site.open('/admin');
    await link(page, 'See the run').click();
    await page.waitForURL(`${site.url}/admin/reconciliation/${site.facts.runId}`);
    expect(await rows(page).filter({ hasText: 'Subscription 12' }).textContent()).toMatch(
      /active.*past_due.*Fixed/,
    );
    await page.getByText('stripe_timeout').waitFor();
  });

  test('the overview links to the past-due subscriptions and their amounts', async () => {
    const page = await site.open('/admin');
    await link(page, /subscriptions? (is|are) past due/).click();
    await page.waitForURL(/status=past_due$/);
    await main(page)
      .getByText(/[€$£][\d.,]+ \/ \w+|unpaid/)
      .first()
      .waitFor();
  });

  test('the list of access tokens shows who created each token', async () => {
    const page = await site.open('/admin');
    await link(page, 'Access tokens').click();
    await page.waitForURL(/tokens$/);
    expect(await rows(page).filter({ hasText: 'ERP' }).textContent()).toContain('test');
  });
});

test('the card of an invoice on a phone shows the due date and the open amount', async () => {
  const page = await site.open(`/admin/invoices?number=%23${site.facts.form.unpaid}`, {
    viewport: { width: 390, height: 844 },
  });
  const card = main(page).locator('#list li a').first();
  await card.waitFor();
  expect(await card.textContent()).toMatch(/ · due \d{1,2} \w{3,4} \d{4} · .*€\d+\.\d\d open/);
});

describe('navigation between pages', () => {
  test('the browser tab title contains the name of the displayed record', async () => {
    const page = await site.open('/admin');
    const { wren, form } = site.facts;
    for (const [path, title] of [
      [`/admin/customers/${wren}`, /^Zaunkönig & Söhne · /],
      [`/admin/customers/${wren}/edit`, /^Edit Zaunkönig & Söhne · /],
      [`/admin/invoices/${form.invoice}`, new RegExp(`^Invoice #${form.invoice} · `)],
      [`/admin/invoices/${form.invoice}/edit`, new RegExp(`^Edit draft #${form.invoice} · `)],
      [`/admin/payments/${form.pending}`, /^Payment \S+/],
      [`/admin/servers/${form.server}`, /^form\.example\.net · /],
      [`/admin/sales-documents/${form.document}`, /^(Offer|Order confirmation) \S+ · /],
      ['/admin/webhooks/evt_wren', /^invoice\.\S+ evt_wren · /],
      ['/admin/reconciliation/1', /^Reconciliation run 1 · /],
    ] as const) {
      await visit(page, site.url + path);
      await expect.poll(() => page.title(), { message: path }).toMatch(title);
    }
  });

  test('the link from a record back to its list keeps the filters', async () => {
    const page = await site.open('/admin/invoices?status=open&sort=-amount');
    await main(page).locator('a[data-row]').first().click();
    await page.waitForURL(/\/admin\/invoices\/\d+$/);
    await main(page).getByRole('link', { name: 'Invoices', exact: true }).click();
    await page.waitForURL(`${site.url}/admin/invoices?status=open&sort=-amount`);
    await visit(page, `${site.url}/admin/invoices`);
    await main(page).locator('a[data-row]').first().click();
    await page.waitForURL(/\/admin\/invoices\/\d+$/);
    await main(page).getByRole('link', { name: 'Invoices', exact: true }).click();
    await page.waitForURL(`${site.url}/admin/invoices`);
  });

  test('the menu of a record ends with its destructive action', async () => {
    const page = await site.open('/admin');
    const { form, old } = site.facts;
    const last = async (path: string) => {
      await visit(page, site.url + path);
      await main(page).locator('details[data-menu] > summary').click();
      const primary = main(page).locator('[data-actions] > [data-variant="filled"]');
      const entries = main(page).locator('[data-actions] details :is(a, button)');
      return [await primary.allInnerTexts(), (await entries.allInnerTexts()).at(-1)];
    };
    expect(await last(`/admin/customers/${old}`)).toEqual([['Edit'], 'Erase…']);
    expect(await last(`/admin/invoices/${form.invoice}`)).toEqual([['Issue'], 'Delete']);
    expect(await last(`/admin/sales-documents/${form.document}`)).toEqual([['Mark as sent'], 'Delete']);
    expect(await last(`/admin/servers/${form.server}`)).toEqual([['Edit'], 'Decommission']);
    expect(await last(`/admin/payments/${form.pending}`)).toEqual([['Confirm'], 'Delete']);
    await page.keyboard.press('Escape');
    expect(await main(page).locator('details[data-menu][open]').count()).toBe(0);
  });

  test('leaving a form with unsaved changes asks for confirmation', async () => {
    const page = await site.open(`/admin/customers/${site.facts.form.customer}`, { own: true });
    const asked: string[] = [];
    let answer: 'accept' | 'dismiss' = 'dismiss';
    page.on('dialog', async (dialog) => {
      asked.push(dialog.type());
      await dialog[answer]();
    });
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.waitForURL(/\/edit$/);
    const city = page.getByLabel('City');
    await city.fill('Half');
    await page.getByRole('link', { name: 'Invoices', exact: true }).click();
    await expect.poll(() => asked).toEqual(['confirm']);
    await page.goBack({ timeout: 1000 }).catch(() => null); // The dialog blocks the navigation.
    await expect.poll(() => asked).toEqual(['confirm', 'confirm']);
    expect(page.url()).toMatch(/\/edit$/);
    expect(await city.inputValue()).toBe('Half');
    const stayed = page.evaluate(() => window.location.reload());
    await expect.poll(() => asked).toEqual(['confirm', 'confirm', 'beforeunload']);
    await stayed.catch(() => null);
    expect(await city.inputValue()).toBe('Half');

    await press(page, 'Save');
    await told(page, 'Your changes are saved.');
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.waitForURL(/\/edit$/);
    await city.fill('Dropped');
    answer = 'accept';
    await page.getByRole('link', { name: 'Cancel', exact: true }).click();
    await page.waitForURL(/\/customers\/\d+$/);
    await page.getByRole('textbox', { name: 'Note' }).fill('Called back');
    await press(page, 'Add note');
    await told(page, 'The note is added.');
    await page.getByRole('link', { name: 'Invoices', exact: true }).click();
    await page.waitForURL(/\/admin\/invoices$/);
    expect(asked).toEqual(['confirm', 'confirm', 'beforeunload', 'confirm']);
  });
});

describe('a phone in dark mode', () => {
  /** Opens a page through the navigation, which a narrow screen hides behind a button. */
  async function goTo(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name: 'Navigation' }).click();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
  /** Finds a list entry. Lists are not tables at this width. */
  const entry = (page: Page, text: string) =>
    main(page).locator('ul li a').filter({ hasText: text, visible: true }).first();
  const toolsFor = async (token: string) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    return (await fetch(`${site.url}/mcp`, { method: 'POST', headers, body })).status;
  };

  test('staff can record, refund and delete a payment on a phone', {
    timeout: 120_000,
  }, async () => {
    const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true } as const;
    const page = await site.open('/admin', { as: null, ...phone });
    await signIn(page, ADMIN.email, 'not the password');
    await page.getByRole('alert').filter({ hasText: 'wrong' }).waitFor();
    await signIn(page, ADMIN.email, ADMIN.password);
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
    await page.getByRole('heading', { level: 1, name: 'Walkers & Co' }).waitFor();

    await entry(page, 'WALK-1').click();
    await page.getByRole('heading', { level: 1, name: 'Invoice WALK-1' }).waitFor();
    await link(page, 'Record payment').click();
    await page.getByLabel('Amount in EUR').fill('12.50');
    await page.getByLabel('Reference').fill('WALK');
    await press(page, 'Record payment');
    await told(page, 'The payment is recorded.');
    await confirm(page, 'Mark as refunded');
    await told(page, /refunded/);
    await press(page, 'Delete');
    const box = await page.getByRole('dialog').boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete payment' }).click();
    await told(page, /deleted/);

    await goTo(page, 'Access tokens');
    await link(page, 'Issue token').click();
    await page.getByLabel('Name').fill('Walk');
    await page.getByLabel('mcp:read').check();
    await press(page, 'Issue token');
    const token = (await page.getByText(/^w5t_[\w-]{43}$/).textContent()) ?? '';
    expect(await toolsFor(token)).toBe(200);
    await link(page, 'Done').click();
    await entry(page, 'Walk').click();
    await confirm(page, 'Revoke', 'Revoke token');
    await told(page, 'The token is revoked');
    expect(await toolsFor(token)).toBe(401);
  });
});
