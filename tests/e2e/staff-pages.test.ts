import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchBrowser, visit, watchComplaints } from './support/browser';
import { fillCompany, STAFF } from './support/company';
import { openSite, type Site } from './support/site';
import { signIn } from './support/staff';

let site: Site;
let browser: Browser;
let token: string;
let runId: number;

beforeAll(async () => {
  site = await openSite(async (db) => {
    ({ token, runId } = await fillCompany(db));
  });
  browser = await launchBrowser();
}, 400_000);
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

const adminPaths = () => [
  '/admin',
  '/admin/payments?status=completed',
  '/admin/payments/1',
  '/admin/reconciliation',
  `/admin/reconciliation/${runId}`,
  '/admin/connect',
  '/admin/payments/new',
  '/admin/no-such-page',
];

describe('nobody signed in', () => {
  test('every page of the staff leads to the sign-in page, with or without a cookie', async () => {
    for (const path of adminPaths()) {
      for (const headers of [{}, { cookie: 'w5t.session_token=forged.signature' }]) {
        const answer = await fetch(site.url + path, { redirect: 'manual', headers });
        expect([path, answer.status]).toEqual([path, 307]);
        const target = new URL(answer.headers.get('location') ?? '', site.url);
        expect(target.origin + target.pathname).toBe(`${site.url}/sign-in`);
        expect(target.searchParams.get('next')).toBe(path);
      }
    }
  });

  test('no answer of those pages holds data, not even to a router request', async () => {
    for (const path of adminPaths()) {
      const headers = { cookie: 'w5t.session_token=forged.signature', rsc: '1' };
      const answer = await fetch(site.url + path, { redirect: 'manual', headers });
      expect(await answer.text()).not.toMatch(/[€$]|payment_reference|example\.(com|org)/);
    }
  });

  test.each(['/admin', '/sign-in'])('%s carries the security headers', async (path) => {
    const { headers } = await fetch(site.url + path, { redirect: 'manual' });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('permissions-policy')).toContain('camera=()');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('strict-transport-security')).toBeNull(); // the site is on http
  });

  test('the policy allows scripts by a nonce that changes, and no evaluation', async () => {
    const policies = await Promise.all(
      [1, 2].map(async () => (await fetch(`${site.url}/sign-in`)).headers.get('content-security-policy')),
    );
    expect(new Set(policies).size).toBe(2);
    expect(policies[0]).toMatch(/script-src 'self' 'nonce-[A-Za-z0-9+/=]{24}' 'strict-dynamic';/);
    expect(policies[0]).not.toContain('unsafe-eval');
  });
});

test.each(['/api/w5t/payments/%ff', '/api/%ff', '/api/%'])(
  '%s is answered as any unknown address',
  async (path) => {
    const answer = await fetch(site.url + path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect((await fetch(`${site.url}/api/w5t/payments/%31`)).status).toBe(401);
  },
);

test.each(['/admin/%ff', '/admin/webhooks/evt_%ff', '/docs/%'])('%s is not found', async (path) => {
  for (const headers of [{}, { cookie: 'w5t.session_token=forged.signature' }]) {
    const answer = await fetch(site.url + path, { headers, redirect: 'manual' });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
  }
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
    if (new URL(page.url()).pathname === '/sign-in') await signIn(page);
    await page.waitForURL(site.url + path);
  };

  test('a wrong password and an unknown address are told the same', async () => {
    await visit(page, `${site.url}/sign-in`);
    for (const email of [STAFF.email, 'nobody@example.com']) {
      await signIn(page, email, 'not the password');
      expect(await page.getByRole('alert').filter({ hasText: 'wrong' }).textContent()).toBe(
        'The e-mail address or the password is wrong.',
      );
      expect(await page.getByLabel('E-mail').inputValue()).toBe(email);
    }
    complaints.splice(0); // the browser reports each 401 itself
  });

  test('signing in leads to the page asked for, signing out ends it', async () => {
    await visit(page, `${site.url}/admin`);
    await signIn(page);
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
    const cookies = await context.cookies();
    const cookie = cookies.find(({ name }) => name === 'w5t.session_token');
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    await page.getByRole('button', { name: `Account of ${STAFF.name}` }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(`${site.url}/sign-in`);
    // What is left makes this a known device, which strangers cannot shut out.
    expect(await context.cookies()).toMatchObject([
      { name: expect.stringMatching(/^w5t\.device\./), httpOnly: true, sameSite: 'Strict' },
    ]);
    const again = await fetch(`${site.url}/admin`, {
      redirect: 'manual',
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    });
    expect(again.status).toBe(307);
  });

  test.each(['//evil.example/x', 'https://evil.example/', '/\\evil.example', '/.//evil.example'])(
    'a next of %s leads to the overview instead',
    async (next) => {
      await visit(page, `${site.url}/sign-in?next=${encodeURIComponent(next)}`);
      await signIn(page);
      await page.waitForURL(`${site.url}/admin`);
    },
  );

  test('a run shows its changes, before and after, and its failures', async () => {
    await open('/admin/reconciliation');
    await page.locator('tbody tr').filter({ hasText: 'Completed with errors' }).click();
    await page.waitForURL(`${site.url}/admin/reconciliation/${runId}`);
    const change = page.locator('tbody tr').filter({ hasText: 'Subscription 12' });
    expect(await change.textContent()).toMatch(/active.*past_due.*Fixed/);
    await page.getByText('stripe_timeout').waitFor();
  });

  test('staff start a run and see it end', async () => {
    await open('/admin/reconciliation');
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL(new RegExp(`/admin/reconciliation/(?!${runId}$)\\d+$`));
    await page.getByText(STAFF.email, { exact: true }).first().waitFor();
    await page.getByText('Completed', { exact: true }).waitFor();
  });

  test.each(['/admin/payments/999999', '/admin/payments/x', '/admin/reconciliation/0', '/admin/nowhere'])(
    '%s is not found',
    async (path) => {
      await open(path);
      await page.getByRole('heading', { name: /not found/i }).waitFor();
      complaints.splice(0); // the browser reports the 404 itself
    },
  );

  test('the choice of light or dark is kept', async () => {
    await open('/admin');
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByText('Dark', { exact: true }).click();
    await expect.poll(scheme).toBe('dark');
    await page.reload();
    expect(await scheme()).toBe('dark');
  });

  test('a telephone has the navigation behind a button', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open('/admin');
    await page.getByRole('button', { name: 'Navigation' }).click();
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.waitForURL(`${site.url}/admin/payments`);
  });

  test('the keyboard reaches the narrow navigation only while it is open, and leaves it', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open('/admin/payments');
    const burger = page.getByRole('button', { name: 'Navigation' });
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await expect
      .poll(async () => {
        await burger.focus();
        await page.keyboard.press('Tab');
        return page.evaluate(() => document.activeElement?.textContent);
      })
      .toBe('Download CSV');
    await burger.click();
    await navigation.getByRole('link', { name: 'Overview' }).focus();
    await page.keyboard.press('Escape');
    expect(await navigation.isVisible()).toBe(false);
    expect(await burger.evaluate((button) => button === document.activeElement)).toBe(true);
    await burger.click();
    await page.getByRole('button', { name: /^Account of|Hopper/ }).focus();
    await page.keyboard.press('Tab');
    await expect.poll(() => navigation.isVisible()).toBe(false);
  });

  test('what the API writes, the pages read', async () => {
    await open('/admin/payments/1');
    const facts = page.locator('dl').first();
    expect(await facts.textContent()).toContain('ID');
    const api = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const payment = await (await fetch(`${site.url}/api/w5t/payments/1`, { headers: api })).json();
    const body = { payment_reference: 'written-by-the-api' };
    const answer = await fetch(`${site.url}/api/w5t/payments/1`, {
      method: 'PATCH',
      headers: api,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    await page.reload();
    await page.getByText('written-by-the-api').first().waitFor();
    await page.getByText(`Payment reference: ${payment.payment_reference} → written-by-the-api`).waitFor();
  });
});
