import { expect, test } from 'vitest';
import { DOCUMENT, openReference, operation, PATH } from './support/api-reference';
import { watchForeignRequests } from './support/browser';
import { useSite } from './support/use-site';

const site = useSite('company');

test('the API reference shows exactly the operations of the OpenAPI document under one h1, and is not cached', async () => {
  const { paths } = await (await fetch(site.url + DOCUMENT)).json();
  const described = Object.entries<object>(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => key !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect((await fetch(site.url + PATH)).headers.get('cache-control')).toContain('no-store');
  const page = await openReference(site);
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

test('an access token typed into the API reference authorizes a request, is not stored, and is gone after a reload', async () => {
  const page = await openReference(site);
  await page.getByRole('button', { name: 'Authorize' }).click();
  // The dialog asks only for the API token, not for the secrets of the cron job or the webhook.
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

test('the API reference loads Swagger UI from its own host, and the start page and the payment list do not load it', async () => {
  const page = await site.open('/', { own: true });
  const foreign = watchForeignRequests(page, site.url);
  const carriers: string[] = [];
  const read: Promise<void>[] = [];
  page.on('response', (response) => {
    if (!/\.(js|css)$/.test(new URL(response.url()).pathname)) return;
    const path = new URL(page.url()).pathname;
    read.push(response.text().then((text) => void (/swagger-ui/i.test(text) && carriers.push(path))));
  });
  /** Waits until all files of the page have been read, because they cannot be read after a navigation. */
  const readAll = async () => {
    await page.waitForLoadState('networkidle');
    await Promise.all(read);
  };
  await readAll();
  await page.goto(site.url);
  await readAll();
  await page.goto(`${site.url}/admin/payments`);
  await readAll();
  expect(carriers).toEqual([]);
  await page.goto(site.url + PATH);
  await operation(page, 'List payments').waitFor();
  await readAll();
  expect([new Set(carriers), foreign]).toEqual([new Set([PATH]), []]);
});
