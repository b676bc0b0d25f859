import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, watchComplaints, watchForeignRequests } from './support/browser';
import { fillCompany, STAFF } from './support/company';
import { openSite, type Site } from './support/site';
import { violationsOf } from './support/violations';

const PATH = '/docs/api';
const DOCUMENT = '/api/openapi.json';

let site: Site;
let browser: Browser;
let token: string;

beforeAll(async () => {
  site = await openSite(async (db) => {
    ({ token } = await fillCompany(db));
  });
  browser = await launchBrowser();
}, 400_000);
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

test('is public, brings its own policy and is not kept by caches', async () => {
  const { status, headers } = await fetch(site.url + PATH);
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toContain("'strict-dynamic'");
  expect(headers.get('cache-control')).toContain('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

describe('in a browser', () => {
  const pages: { page: Page; complaints: string[]; foreign: string[] }[] = [];

  const newPage = async (options: BrowserContextOptions = {}) => {
    const page = await (await browser.newContext(options)).newPage();
    page.setDefaultTimeout(15_000);
    const complaints = await watchComplaints(page);
    pages.push({ page, complaints, foreign: watchForeignRequests(page, site.url) });
    return page;
  };
  const openReference = async (options: BrowserContextOptions = {}) => {
    const page = await newPage(options);
    await page.goto(site.url + PATH);
    await page.locator('.opblock').first().waitFor();
    return page;
  };
  const operation = (page: Page, name: string) => page.getByRole('button', { name }).first();
  const scrollsSideways = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

  afterEach(async () => {
    const seen = pages.splice(0);
    for (const { page } of seen) await page.context().close();
    expect(seen.flatMap(({ complaints, foreign }) => [...complaints, ...foreign])).toEqual([]);
  });

  test('every operation of the document is shown', async () => {
    const { paths } = await (await fetch(site.url + DOCUMENT)).json();
    const described = Object.entries<object>(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((key) => key !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    const page = await openReference();
    const shown = await page.locator('.opblock-summary').evaluateAll((summaries) =>
      summaries.map((summary) => {
        const method = summary.querySelector('.opblock-summary-method')?.textContent;
        return `${method} ${summary.querySelector('[data-path]')?.getAttribute('data-path')}`;
      }),
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.toSorted()).toEqual(described.toSorted());
    expect([await page.locator('h1').count(), await page.locator('main').count()]).toEqual([1, 1]);
  });

  test('an operation is tried out with a token, which is gone with the page', async () => {
    const page = await openReference();
    await page.getByRole('button', { name: 'Authorize' }).click();
    expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(1); // no secret of a machine
    await page.getByRole('dialog').getByLabel('accessToken').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'List payments' }).click();
    await page.getByRole('button', { name: 'JavaScript' }).click();
    await page.getByText(`fetch('${site.url}/api/w5t/payments?status=completed`).waitFor();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByLabel('status').selectOption('');
    const answer = page.waitForResponse((response) => response.url().includes('/api/w5t/payments'));
    await page.getByRole('button', { name: 'Execute' }).click();
    expect((await answer).status()).toBe(200);
    await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    expect(await page.locator('.live-responses-table').textContent()).toContain('payment_reference');

    const kept = JSON.stringify(await page.context().storageState({ indexedDB: true }));
    const session = await page.evaluate(() => JSON.stringify(sessionStorage));
    expect(kept + session).not.toContain(token);
    await page.reload();
    await page.getByRole('button', { name: 'Authorize' }).click();
    expect(await page.getByLabel('accessToken').inputValue()).toBe('');
  });

  test('an address with an operation opens it', async () => {
    const page = await newPage();
    await page.goto(`${site.url}${PATH}#/Health/checkHealth`);
    await page.locator('.opblock.is-open [data-path="/api/health"]').waitFor();
  });

  test('on a phone nothing sticks out', async () => {
    const page = await openReference({ viewport: { width: 390, height: 844 } });
    expect(await scrollsSideways(page)).toBe(false);
    expect(await violationsOf(page)).toEqual([]);
    await operation(page, 'Create a payment').click();
    await page.getByText('Malformed JSON').first().waitFor();
    await page.getByRole('button', { name: 'Authorize' }).click();
    expect(await scrollsSideways(page)).toBe(false);
  });

  test('it follows the colour scheme', async () => {
    const page = await openReference({ colorScheme: 'dark' });
    const colours = () =>
      page
        .locator('.opblock')
        .first()
        .evaluate((block) => [getComputedStyle(block).backgroundColor, getComputedStyle(block).color]);
    await expect.poll(colours).toEqual(['rgb(18, 24, 36)', 'rgb(215, 220, 229)']);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(colours).toEqual(['rgb(255, 255, 255)', 'rgb(26, 31, 54)']);
  });

  test('without the document it says so, and tries again', async () => {
    const page = await browser.newPage();
    await page.route(`**${DOCUMENT}`, (route) => route.fulfill({ status: 503, body: '' }));
    await page.goto(site.url + PATH);
    await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor();
    await page.unroute(`**${DOCUMENT}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await operation(page, 'List payments').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).count()).toBe(0);
    await page.close();
  });

  test('without JavaScript it says where the document is', async () => {
    const page = await newPage({ javaScriptEnabled: false });
    await page.goto(site.url + PATH);
    expect(await page.locator('noscript p').isVisible()).toBe(true);
    expect(await page.getByRole('status').isVisible()).toBe(false);
    await page.getByRole('link', { name: DOCUMENT }).click();
    await page.waitForURL(site.url + DOCUMENT);
  });

  test('the start page leads to it, to a document with a policy of its own', async () => {
    const page = await newPage();
    await page.goto(site.url);
    const loaded = page.waitForResponse(site.url + PATH);
    await page.getByRole('link', { name: 'API reference' }).click();
    expect((await loaded).headers()['content-security-policy']).toContain('nonce-');
    await operation(page, 'List payments').waitFor();
  });

  test('no other page loads Swagger UI', async () => {
    const page = await newPage();
    const carriers: string[] = [];
    page.on('response', async (response) => {
      if (!/\.(js|css)$/.test(new URL(response.url()).pathname)) return;
      if (/swagger-ui/i.test(await response.text())) carriers.push(new URL(page.url()).pathname);
    });
    await page.goto(site.url);
    await page.goto(`${site.url}/admin/payments`);
    await page.getByLabel('E-mail').fill(STAFF.email);
    await page.getByLabel('Password', { exact: true }).fill(STAFF.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${site.url}/admin/payments`);
    await page.waitForLoadState('networkidle');
    expect(carriers).toEqual([]);
    await page.goto(site.url + PATH);
    await operation(page, 'List payments').waitFor();
    expect(new Set(carriers)).toEqual(new Set([PATH]));
  });
});
