import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oldWords } from '../architecture/source-rules';
import { createInvoice, createPayment, createRefund, createSalesDocument } from '../support/factories';
import { listAdminRoutes } from './support/admin-routes';
import { visit } from './support/browser';
import { ADMIN, fillAdmin } from './support/company';
import { cutTexts } from './support/cut-texts';
import { useStaffPages } from './support/staff-pages';
import { fillStripe, type StripeAccount } from './support/stripe-account';
import { COLOUR_RULES, violationsOf } from './support/violations';

/** Bytes of JavaScript that a page may load, compressed. */
const MAX_SCRIPT = 250_000;

/**
 * How much may move. A slow browser paints what it has parsed so far, and then a row of buttons that ends at the right
 * moves with each button parsed. That sums up to some thousandths; a tenth counts as good (web.dev/articles/cls).
 */
const MAX_SHIFT = 0.01;

/** Widths at which pages are measured without being loaded anew; their markup is that of the two that axe looks at. */
const BETWEEN = [1280, 1024, 820];

let account: StripeAccount;
let adminId: string;
let drafts: Record<'invoice' | 'unpaid' | 'document' | 'pending' | 'completed', number>;
let uploadId: string;
const site = useStaffPages({
  who: ADMIN,
  env: () => account.env,
  async fill(db) {
    account = await fillStripe(db);
    adminId = await fillAdmin(db);
    await createRefund(db, { issued_at: new Date() }); // of no payment
    const invoice = await createInvoice(db, { status: 'draft', number: null });
    const unpaid = await createInvoice(db, { number: 'A11Y' });
    const document = await createSalesDocument(db, { status: 'draft' });
    const { id: pending } = await createPayment(db, { status: 'pending' });
    const { id: completed } = await createPayment(db);
    drafts = { invoice: invoice.id, unpaid: unpaid.id, document: document.id, pending, completed };
  },
});
beforeAll(async () => {
  const answer = await fetch(`${site.url}/api/uploads?kind=customers&name=customers.csv`, {
    method: 'POST',
    headers: { cookie: site.cookie, origin: site.url },
    body: readFileSync('docs/examples/customers.csv'),
  });
  ({ id: uploadId } = (await answer.json()) as { id: string });
});
afterAll(() => account?.stripe.close());

/** Every page there is, found by the file system, and some in another state. */
function paths(): string[] {
  const ids = new Map([
    ['/admin/webhooks/1', `/admin/webhooks/${account.failedEvent}`],
    ['/admin/subscriptions/stripe-customers/1', stripeCustomer()],
    ['/admin/invoices/1/edit', `/admin/invoices/${drafts.invoice}/edit`],
    ['/admin/invoices/1/due-date', `/admin/invoices/${drafts.unpaid}/due-date`],
    ['/admin/sales-documents/1/edit', `/admin/sales-documents/${drafts.document}/edit`],
    ['/admin/imports/1', `/admin/imports/${uploadId}`],
    ['/admin/staff/1', `/admin/staff/${adminId}`],
    ['/admin/staff/1/password', `/admin/staff/${adminId}/password`],
    ['/admin/staff/1/invitation', `/admin/staff/${adminId}/invitation`],
    ['/admin/payments/1/edit', `/admin/payments/${drafts.pending}/edit`],
    ['/admin/payments/1/refund', `/admin/payments/${drafts.completed}/refund`],
  ]);
  const pages = listAdminRoutes('1').filter(({ kind }) => kind === 'page');
  return [
    ...pages.map(({ path }) => ids.get(path) ?? path),
    '/sign-in',
    '/',
    '/admin/search?q=a',
    '/admin/invoices?status=overdue&customer=nobody',
    '/admin/payments?from=wrong',
    '/admin/payments/new?invoice=%231',
    `/admin/subscriptions/${account.unlinked.subscriptionId}?item=${account.unlinked.itemId}`,
    `${stripeCustomer()}?to=1`,
    '/admin/services/new?customer=K10001',
    `/admin/invoices/${drafts.invoice}`,
    `/admin/sales-documents/${drafts.document}`,
    '/admin/customers/1?notice=conflict',
    '/admin/customers/1/merge?to=2',
    '/admin/payments?status=disputed',
    '/admin/payments?status=refunded_in_part',
    '/admin/invoices?status=refunded_in_part',
    ...Object.values(account.paidBack).map(({ id }) => `/admin/payments/${id}?check=done`),
    `/admin/invoices/${account.paidBack.inPart.invoiceId}`,
    `/admin/customers/${account.paidBack.disputed.customerId}`,
    '/admin/nowhere',
  ];
}

const stripeCustomer = () => `/admin/subscriptions/stripe-customers/${account.stripeCustomer}`;

describe.each([1440, 390])('every page at %i px', (width) => {
  test('can be used by everybody, fits, stands still and is light', { timeout: 600_000 }, async () => {
    const { page, complaints } = await site.open('/admin', { viewport: { width, height: 844 } });
    await watchShifts(page);
    const scripts = await watchScripts(page);
    for (const path of paths()) {
      scripts.clear();
      await visit(page, site.url + path);
      await page.waitForLoadState('networkidle');
      const { scrollWidth, shifted } = await page.evaluate(() => ({
        scrollWidth: document.documentElement.scrollWidth,
        shifted: (window as Shifted).shifted ?? 0,
      }));
      const [text = ''] = await page.locator('body').allInnerTexts();
      expect({ path, words: text.split('\n').flatMap(oldWords) }).toEqual({ path, words: [] });
      const loaded = [...scripts.values()].reduce((sum, size) => sum + size, 0);
      const standsStill = shifted <= MAX_SHIFT;
      expect({ path, scrollWidth, shifted, standsStill }).toEqual({
        path,
        scrollWidth: width,
        shifted,
        standsStill: true,
      });
      expect({ path, loaded, isLight: loaded <= MAX_SCRIPT }).toEqual({ path, loaded, isLight: true });
      // The markup of both is the same.
      for (const [colorScheme, rules] of [['light'], ['dark', COLOUR_RULES]] as const) {
        await page.emulateMedia({ colorScheme });
        const found = { path, colorScheme, violations: await violationsOf(page, rules) };
        expect(found).toEqual({ path, colorScheme, violations: [] });
      }
      await fitsAt(page, path, width);
      for (const other of width === 1440 ? BETWEEN : []) {
        await page.setViewportSize({ width: other, height: 844 });
        await fitsAt(page, path, other);
      }
      await page.setViewportSize({ width, height: 844 });
    }
    complaints.splice(0); // the browser reports the page that is not there
  });
});

/** No date, amount or badge is cut off, and nothing makes the page scroll sideways. */
async function fitsAt(page: Page, path: string, width: number): Promise<void> {
  const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
  const found = { path, width, scrollWidth, cut: await cutTexts(page) };
  expect(found).toEqual({ path, width, scrollWidth: width, cut: [] });
}

type Shifted = typeof window & { shifted?: number };

/** Sums up what moves without having been touched. */
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

/** The scripts of a page and how many bytes of each came over the wire; without a cache some come twice. */
async function watchScripts(page: Page): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const urls = new Map<string, string>();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  devtools.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.mimeType.includes('javascript')) urls.set(requestId, response.url);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const url = urls.get(requestId);
    if (url) sizes.set(url, encodedDataLength);
  });
  return sizes;
}
