import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { DOCUMENT, openReference, operation, PATH } from './support/api-reference';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company');

const scrollsSideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

test('a link to an API operation opens that operation in the API reference', async () => {
  const page = await site.open(`${PATH}#/Health/checkHealth`);
  await page.locator('.opblock.is-open [data-path="/api/health"]').waitFor();
});

test('the API reference passes axe and does not scroll sideways on a phone screen', async () => {
  const page = await openReference(site, { viewport: { width: 390, height: 844 } });
  expect(await scrollsSideways(page)).toBe(false);
  expect(await violationsOf(page, 'all')).toEqual([]);
  await operation(page, 'Create a payment').click();
  await page.getByText('Malformed JSON').first().waitFor();
  await page.getByRole('button', { name: 'Authorize' }).click();
  expect(await scrollsSideways(page)).toBe(false);
});

test('the API reference switches between light and dark with the browser’s colour scheme', async () => {
  const page = await openReference(site, { colorScheme: 'dark' });
  const colours = () =>
    page
      .locator('.opblock')
      .first()
      .evaluate((block) => [getComputedStyle(block).backgroundColor, getComputedStyle(block).color]);
  await expect.poll(colours).toEqual(['rgb(18, 24, 36)', 'rgb(215, 220, 229)']);
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(colours).toEqual(['rgb(255, 255, 255)', 'rgb(26, 31, 54)']);
});

test('a retry loads the API reference after the OpenAPI document could not be loaded', async () => {
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
