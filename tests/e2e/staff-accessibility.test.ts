import { expect, test } from 'vitest';
import { ADMIN } from './support/company';
import { fitsAt, pathOf, watchPages } from './support/every-page';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

/** One page of each kind. The long test of the same name opens every page. */
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

test('one page of each kind passes axe in light and dark mode and fits phone and desktop screens', async () => {
  const page = await site.open('/admin', { viewport: { width: 390, height: 844 } });
  const check = await watchPages(page, site.url);
  for (const of of OF_EACH_KIND) {
    const path = pathOf(site.facts, of);
    await check(path);
    for (const [colorScheme, rules] of [
      ['light', 'all'],
      ['dark', 'colours'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await violationsOf(page, rules);
      expect.soft({ path, colorScheme, violations }).toEqual({ path, colorScheme, violations: [] });
    }
    await fitsAt(page, path, 1440);
    await fitsAt(page, path, 390);
  }
});
