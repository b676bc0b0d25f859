import type { Page } from 'playwright';
import { beforeAll, describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN } from './support/company';
import { EVERY_PAGE, factsWithUpload, fitsAt, pathOf, watchPages } from './support/every-page';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

describe('desktop and phone width', () => {
  let page: Page;
  let check: Awaited<ReturnType<typeof watchPages>>;
  let facts: Awaited<ReturnType<typeof factsWithUpload>>;

  beforeAll(async () => {
    page = await site.open('/admin', { own: true, keep: true });
    check = await watchPages(page, site.url);
    facts = await factsWithUpload(site);
  });

  test.each(EVERY_PAGE)(
    'the page %s passes axe, apart from its colours, and fits desktop and phone screens',
    async (of) => {
      if (of === '/admin/1') site.allowComplaints(/404/);
      const path = pathOf(facts, of);
      await check(path);
      const violations = await violationsOf(page, 'all but colours');
      expect.soft({ path, violations }).toEqual({ path, violations: [] });
      await fitsAt(page, path, 390);
      await fitsAt(page, path, 1440);
    },
  );
});

test('one page of each kind passes axe on a phone screen in light and dark mode', async () => {
  const page = await site.open('/admin', { viewport: { width: 390, height: 844 } });
  for (const of of [
    '/sign-in',
    '/admin',
    '/admin/payments',
    '/admin/customers/{wren}',
    '/admin/invoices/{form.invoice}/edit',
    '/admin/payments?from=wrong',
    '/admin/reconciliation/1',
  ]) {
    const path = pathOf(site.facts, of);
    await visit(page, site.url + path);
    for (const [colorScheme, rules] of [
      ['light', 'all'],
      ['dark', 'colours'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await violationsOf(page, rules);
      expect.soft({ path, colorScheme, violations }).toEqual({ path, colorScheme, violations: [] });
    }
    await fitsAt(page, path, 390);
  }
});
