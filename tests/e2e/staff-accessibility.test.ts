import { test } from 'vitest';
import { ADMIN } from './support/company';
import { checkLooks, pathOf, watchPages } from './support/every-page';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

/** One page of each kind. `staff-accessibility.long.test.ts` opens every page. */
const OF_EACH_KIND = [
  '/sign-in',
  '/admin',
  '/admin/payments',
  '/admin/customers/{wren}',
  '/admin/customers/new',
  '/admin/invoices/{form.invoice}/edit',
  '/admin/payments?from=wrong',
  '/admin/reconciliation/1',
  '/admin/settings/accounting',
];

test('one page of each kind passes axe, fits phone and desktop screens, and keeps the limits for layout shifts and scripts', async () => {
  const page = await site.open('/admin', { viewport: { width: 390, height: 844 } });
  const check = await watchPages(page, site.url);
  for (const of of OF_EACH_KIND) {
    const path = pathOf(site.facts, of);
    await check(path);
    await checkLooks(page, path, [1440, 390]);
  }
});
