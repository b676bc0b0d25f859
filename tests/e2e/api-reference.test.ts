import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { watchForeignRequests } from './support/browser';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const PATH = '/docs/api';
const DOCUMENT = '/api/openapi.json';

const site = useSite('company');

test('the API reference is served publicly with a content security policy', async () => {
  const { status, headers } = await fetch(site.url + PATH);
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toContain("'strict-dynamic'");
  expect(headers.get('cache-control')).toContain('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

/** Opens the API reference as a visitor and waits for its operations. */
async function openReference(options = {}) {
  const page = await site.open(PATH, { as: null, ...options });
  await page.locator('.opblock').first().waitFor();
  return page;
}
const operation = (page: Page, name: string) => page.getByRole('button', { name }).first();
const scrollsSideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

test('the API reference shows every operation of the OpenAPI document', async () => {
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

test('the API reference forgets a typed access token on reload', async () => {
  const page = await openReference();
  await page.getByRole('button', { name: 'Authorize' }).click();
  // the dialog asks for the API token only, not for secrets of the cron job or the webhook
  expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(1);
  await page.getByRole('dialog').getByLabel('accessToken').fill(site.facts.token);
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
  expect(kept + session).not.toContain(site.facts.token);
  await page.reload();
  await page.getByRole('button', { name: 'Authorize' }).click();
  expect(await page.getByLabel('accessToken').inputValue()).toBe('');
});

test('a link to an API operation opens that operation in the API reference', async () => {
  const page = await site.open(`${PATH}#/Health/checkHealth`);
  await page.locator('.opblock.is-open [data-path="/api/health"]').waitFor();
});

test('the API reference does not scroll sideways on a phone screen', async () => {
  const page = await openReference({ viewport: { width: 390, height: 844 } });
  expect(await scrollsSideways(page)).toBe(false);
  expect(await violationsOf(page)).toEqual([]);
  await operation(page, 'Create a payment').click();
  await page.getByText('Malformed JSON').first().waitFor();
  await page.getByRole('button', { name: 'Authorize' }).click();
  expect(await scrollsSideways(page)).toBe(false);
});

test('the API reference switches between light and dark with the browser’s colour scheme', async () => {
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

test('the API reference offers a retry when the OpenAPI document cannot be loaded', async () => {
  site.allowComplaints(/503/);
  const page = await site.open('/');
  await page.route(`**${DOCUMENT}`, (route) => route.fulfill({ status: 503, body: '' }));
  await page.goto(site.url + PATH);
  await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor();
  await page.unroute(`**${DOCUMENT}`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await operation(page, 'List payments').waitFor();
  expect(await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).count()).toBe(0);
});

test('the API reference links to the OpenAPI document when JavaScript is disabled', async () => {
  const page = await site.open(PATH, { javaScriptEnabled: false });
  expect(await page.locator('noscript p').isVisible()).toBe(true);
  expect(await page.getByRole('status').isVisible()).toBe(false);
  await page.getByRole('link', { name: DOCUMENT }).click();
  await page.waitForURL(site.url + DOCUMENT);
});

test('the link from the start page loads the API reference with a content security policy nonce', async () => {
  const page = await site.open('/');
  const loaded = page.waitForResponse(site.url + PATH);
  await page.getByRole('link', { name: 'API reference' }).click();
  expect((await loaded).headers()['content-security-policy']).toContain('nonce-');
  await operation(page, 'List payments').waitFor();
});

test('Swagger UI is loaded only on the API reference page', async () => {
  const page = await site.open('/', { own: true });
  const foreign = watchForeignRequests(page, site.url);
  const carriers: string[] = [];
  page.on('response', async (response) => {
    if (!/\.(js|css)$/.test(new URL(response.url()).pathname)) return;
    if (/swagger-ui/i.test(await response.text())) carriers.push(new URL(page.url()).pathname);
  });
  await page.goto(site.url);
  await page.goto(`${site.url}/admin/payments`);
  await page.waitForLoadState('networkidle');
  expect(carriers).toEqual([]);
  await page.goto(site.url + PATH);
  await operation(page, 'List payments').waitFor();
  expect([new Set(carriers), foreign]).toEqual([new Set([PATH]), []]);
});
