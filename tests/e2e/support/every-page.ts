import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { visit } from './browser';
import { cutTexts, violationsOf } from './looks';
import { listAdminRoutes } from './server-actions';
import type { useSite } from './use-site';

type Site = ReturnType<typeof useSite>;
type Facts = Site['facts'] & { upload?: string };

/** The maximum size of the JavaScript that a page may load, in compressed bytes. */
const MAX_SCRIPT = 250_000;

/**
 * The largest sum of layout shifts that a page may have. A slow browser paints the buttons of a row while it parses
 * them. Each parsed button moves the others, by up to 0.01 in total. On a phone, a button that begins a new line moves
 * the content below it by up to 0.04. Up to 0.1 counts as good (web.dev/articles/cls).
 */
const MAX_SHIFT = 0.05;

/** URLs of pages that need a certain record. `pathOf` fills in placeholders such as `{form.invoice}`. */
const OF_RECORDS: Record<string, string> = {
  '/admin/webhooks/1': '/admin/webhooks/{failedEvent}',
  '/admin/subscriptions/stripe-customers/1': '/admin/subscriptions/stripe-customers/{stripeCustomer}',
  '/admin/invoices/1/edit': '/admin/invoices/{form.invoice}/edit',
  '/admin/invoices/1/due-date': '/admin/invoices/{form.unpaid}/due-date',
  '/admin/invoices/1/credit': '/admin/invoices/{form.unpaid}/credit',
  '/admin/sales-documents/1/edit': '/admin/sales-documents/{form.document}/edit',
  '/admin/imports/1': '/admin/imports/{upload}',
  '/admin/staff/1': '/admin/staff/{adminId}',
  '/admin/staff/1/password': '/admin/staff/{adminId}/password',
  '/admin/staff/1/invitation': '/admin/staff/{adminId}/invitation',
  '/admin/payments/1/edit': '/admin/payments/{form.pending}/edit',
  '/admin/customers/1/transfer': '/admin/customers/{form.spread}/transfer',
  '/admin/bank/1': '/admin/bank/{form.statement}',
  '/admin/payments/transfers/1': '/admin/payments/transfers/{form.transfer}',
  '/admin/payments/transfers/1/edit': '/admin/payments/transfers/{form.transfer}/edit',
  '/admin/payments/transfers/1/pay-back': '/admin/payments/transfers/{form.transfer}/pay-back',
  '/admin/payments/1/refund': '/admin/payments/{form.completed}/refund',
};

/**
 * All pages under `/admin`, the sign-in page and the home page, as templates for `pathOf`. `/admin/1` tests the 404
 * page.
 */
export const EVERY_PAGE = [
  ...listAdminRoutes('1').flatMap(({ kind, path }) => (kind === 'page' ? [OF_RECORDS[path] ?? path] : [])),
  '/sign-in',
  '/',
];

/** Further URLs of filtered lists, of other records, and of pages that show an error or a message. */
export const MORE_STATES = [
  '/admin/search?q=a',
  '/admin/webhooks?outcome=failed',
  '/admin/customers?q=nobody&country=Germania',
  '/admin/customers/{wren}',
  '/admin/customers/{form.spread}/statement?from=2026-01-01',
  '/admin/customers/{wren}/statement?from=wrong',
  '/admin/customers/1?notice=conflict',
  '/admin/customers/1/merge?to=2',
  '/admin/invoices?status=overdue&customer=nobody',
  '/admin/invoices?status=refunded_in_part',
  '/admin/invoices?sort=-open&status=open',
  '/admin/overdue/invoices?age=1-14&sort=-open',
  '/admin/overdue/reminders?level=2',
  '/admin/overdue/reminders/{form.spread}?language=en',
  '/admin/invoices/{form.invoice}',
  '/admin/payments?from=wrong',
  '/admin/payments?status=disputed',
  '/admin/payments?status=refunded_in_part',
  '/admin/payments/new?invoice=%23{paid.invoice}',
  '/admin/subscriptions/{unlinked.subscriptionId}?item={unlinked.itemId}',
  '/admin/subscriptions/stripe-customers/{stripeCustomer}?q=m',
  '/admin/subscriptions/stripe-customers/{stripeCustomer}?to=1',
  '/admin/services/new?customer=K10001',
  '/admin/sales-documents/{form.document}',
  '/admin/reports/postings?month=2026-02&record=invoice&currency=eur',
  '/admin/reports/customers?month=2026-02&measure=mrr&currency=eur',
  '/admin/bank?account=DE02',
  '/admin/payments/{paidBack.inPart.id}?check=done',
  '/admin/payments/{paidBack.disputed.id}?check=done',
  '/admin/payments/{paidBack.silent.id}?check=done',
  '/admin/invoices/{paidBack.inPart.invoiceId}',
  '/admin/customers/{paidBack.disputed.customerId}',
];

/**
 * Replaces the placeholders in a page's path with the facts of the site.
 *
 * @throws Error if the site does not have one of the facts
 */
export function pathOf(facts: Facts, page: string): string {
  return page.replace(/\{([\w.]+)\}/g, (_, fact: string) => {
    const value = fact.split('.').reduce<unknown>((of, key) => (of as Record<string, unknown>)?.[key], facts);
    if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`the site has no ${fact}`);
    return String(value);
  });
}

/** Uploads a file. @returns the facts of the site and the id of the upload */
export async function factsWithUpload(site: Site): Promise<Facts> {
  const answer = await site.fetch('/api/uploads?kind=customers&name=customers.csv', {
    method: 'POST',
    headers: { origin: site.url },
    body: readFileSync('docs/examples/customers.csv'),
  });
  const { id: upload } = (await answer.json()) as { id: string };
  return { ...site.facts, upload };
}

/** Watches the layout shifts and scripts of a page. @returns a function that opens a path and checks both limits */
export async function watchPages(page: Page, url: string): Promise<(path: string) => Promise<void>> {
  await watchShifts(page);
  const scripts = await watchScripts(page);
  return async (path) => {
    scripts.forget();
    await visit(page, url + path);
    await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle, { timeout: 2000 })));
    const shifted = await page.evaluate(() => (window as Shifted).shifted ?? 0);
    const standsStill = shifted <= MAX_SHIFT;
    expect.soft({ path, shifted, standsStill }).toEqual({ path, shifted, standsStill: true });
    const loaded = await scripts.loaded();
    expect.soft({ path, loaded, isLight: loaded <= MAX_SCRIPT }).toEqual({ path, loaded, isLight: true });
  };
}

/** Expects no clipped date, amount or badge and no sideways scrolling at this width. */
export async function fitsAt(page: Page, path: string, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 844 });
  const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
  const found = { path, width, scrollWidth, cut: await cutTexts(page) };
  expect.soft(found).toEqual({ path, width, scrollWidth: width, cut: [] });
}

/** Expects a page to pass axe, in dark mode only its colour rules, and to fit these widths. */
export async function checkLooks(page: Page, path: string, widths: number[]): Promise<void> {
  for (const [colorScheme, rules] of [
    ['light', 'all'],
    ['dark', 'colours'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const violations = await violationsOf(page, rules);
    expect.soft({ path, colorScheme, violations }).toEqual({ path, colorScheme, violations: [] });
  }
  for (const width of widths) await fitsAt(page, path, width);
}

type Shifted = typeof window & { shifted?: number };

/** Adds up the layout shifts of a page in `window.shifted`. */
async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) {
        const shown = window as Shifted;
        shown.shifted = (shown.shifted ?? 0) + entry.value;
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

/**
 * Adds up the script bytes of a page. Each script counts with its transferred size, even if it later comes from a
 * cache.
 */
async function watchScripts(page: Page) {
  const sizes = new Map<string, number>();
  const scripts = new Map<string, string>();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  const open = new Set<string>();
  devtools.on('Network.requestWillBeSent', ({ requestId, request, type }) => {
    if (type !== 'Script') return;
    scripts.set(requestId, request.url);
    open.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const url = scripts.get(requestId);
    if (url) sizes.set(url, Math.max(encodedDataLength, sizes.get(url) ?? 0));
    open.delete(requestId);
  });
  return {
    forget() {
      scripts.clear();
      open.clear();
    },
    async loaded(): Promise<number> {
      await expect.poll(() => open.size).toBe(0);
      return [...new Set(scripts.values())].reduce((sum, url) => sum + (sizes.get(url) ?? Infinity), 0);
    },
  };
}
