import { describe, expect, test } from 'vitest';
import { ADMIN } from './support/company';
import { fitsAt, listEveryPage, watchPages } from './support/every-page';
import { COLOUR_RULES, violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

/** Widths at which pages are only measured: their markup is that of the two that axe looks at. */
const BETWEEN = [1280, 1024, 820];

describe.each([1440, 390])('every page at %i px', (width) => {
  test('every staff page can be used by everybody, fits, stands still and is light, in light and in dark', {
    timeout: 600_000,
  }, async () => {
    const page = await site.open('/admin', { viewport: { width, height: 844 } });
    const check = await watchPages(page, site.url);
    for (const path of await listEveryPage(site)) {
      await check(path);
      for (const [colorScheme, rules] of [['light'], ['dark', COLOUR_RULES]] as const) {
        await page.emulateMedia({ colorScheme });
        const violations = await violationsOf(page, rules);
        expect.soft({ path, colorScheme, violations }).toEqual({ path, colorScheme, violations: [] });
      }
      for (const other of width === 1440 ? [...BETWEEN, width] : [width]) await fitsAt(page, path, other);
    }
    site.allowComplaints(/404/); // of the page that does not exist
  });
});
