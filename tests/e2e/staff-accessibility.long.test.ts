import type { Page } from 'playwright';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN } from './support/company';
import { EVERY_PAGE, factsWithUpload, fitsAt, MORE_STATES, pathOf, watchPages } from './support/every-page';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

/** Widths at which only the layout is checked. The markup is the same as at the two widths that axe checks. */
const BETWEEN = [1280, 1024, 820];

describe.each([1440, 390])('at %i px', (width) => {
  let page: Page;
  let check: Awaited<ReturnType<typeof watchPages>>;
  let facts: Awaited<ReturnType<typeof factsWithUpload>>;

  beforeAll(async () => {
    page = await site.open('/admin', { viewport: { width, height: 844 }, keep: true });
    check = await watchPages(page, site.url);
    facts = await factsWithUpload(site);
  });

  test.each([...EVERY_PAGE, ...MORE_STATES])('the page %s passes axe in light and dark mode', async (of) => {
    if (of === '/admin/1') site.allowComplaints(/404/);
    const path = pathOf(facts, of);
    await check(path);
    for (const [colorScheme, rules] of [
      ['light', 'all'],
      ['dark', 'colours'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await violationsOf(page, rules);
      expect.soft({ path, colorScheme, violations }).toEqual({ path, colorScheme, violations: [] });
    }
    for (const other of width === 1440 ? [...BETWEEN, width] : [width]) await fitsAt(page, path, other);
  });
});
