import { expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN } from './support/company';
import { fitsAt, listEveryPage, watchPages } from './support/every-page';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

test('every staff page can be used by everybody, fits a desk and a phone, stands still and is light', {
  timeout: 180_000,
}, async () => {
  const page = await site.open('/admin', { own: true });
  const check = await watchPages(page, site.url);
  for (const path of await listEveryPage(site)) {
    await check(path);
    expect.soft({ path, violations: await violationsOf(page) }).toEqual({ path, violations: [] });
    await fitsAt(page, path, 390);
    await fitsAt(page, path, 1440);
  }
  site.allowComplaints(/404/); // of the page that does not exist
});

test('pages of each kind can be used by everybody on a phone in the dark', async () => {
  const page = await site.open('/admin', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  const { form, wren } = site.facts;
  for (const path of [
    '/sign-in',
    '/admin',
    '/admin/payments',
    `/admin/customers/${wren}`,
    `/admin/invoices/${form.invoice}/edit`,
    '/admin/payments?from=wrong',
    '/admin/reconciliation/1',
  ]) {
    await visit(page, site.url + path);
    expect.soft({ path, violations: await violationsOf(page) }).toEqual({ path, violations: [] });
    await fitsAt(page, path, 390);
  }
});
