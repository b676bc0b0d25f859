import type { Page } from 'playwright';
import { beforeAll, describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN } from './support/company';
import {
  checkLooks,
  EVERY_PAGE,
  factsWithUpload,
  fitsAt,
  MORE_STATES,
  pathOf,
  watchPages,
} from './support/every-page';
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

  test.each([...EVERY_PAGE, ...MORE_STATES])(
    'the page %s passes axe in light and dark mode, fits the screen, and keeps the limits for layout shifts and scripts',
    async (of) => {
      if (of === '/admin/1') site.allowComplaints(/404/);
      const path = pathOf(facts, of);
      await check(path);
      await checkLooks(page, path, width === 1440 ? [...BETWEEN, width] : [width]);
    },
  );
});

// These are the breakpoints of Mantine and of our style sheets, and the width from which lists are tables. Each is
// tested together with one pixel less and one pixel more.
const edges = [576, 768, 992, 1024, 1100, 1200, 1408].flatMap((edge) => [edge - 1, edge, edge + 1]);

test('at widths from 320 to 1,920 pixels, pages fit with reachable navigation, and lists are tables from 1,100 pixels', async () => {
  const page = await site.open('/admin', { own: true });
  const navigation = page.getByRole('navigation', { name: 'Main' });
  for (const path of ['/admin', '/admin/invoices', `/admin/invoices/${site.facts.form.invoice}`]) {
    await visit(page, site.url + path);
    for (const width of [320, 390, ...edges, 1920]) {
      await fitsAt(page, path, width);
      const burger = page.getByRole('button', { name: 'Navigation' });
      const isNarrow = await burger.isVisible();
      if (isNarrow) await burger.click();
      const account = page.getByRole('button', { name: /^Account of/ });
      const reached = {
        navigation: await navigation.isVisible(),
        account: (await account.boundingBox())?.y ?? Infinity,
      };
      expect.soft({ path, width, isNarrow, ...reached }).toEqual({
        path,
        width,
        isNarrow: width < 768,
        navigation: true,
        account: expect.toSatisfy((y: number) => y < 844),
      });
      if (isNarrow) await burger.click();
      if (path !== '/admin/invoices') continue;
      // The side bar and padding take about 300 px, and lists are tables from about 800 px.
      expect.soft([width, await page.locator('main table').isVisible()]).toEqual([width, width >= 1100]);
    }
  }
});
