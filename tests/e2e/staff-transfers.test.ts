import { and, eq, sql } from 'drizzle-orm';
import type { Page, Route } from 'playwright';
import { expect, test } from 'vitest';
import { invoices } from '@/db/schema';
import { visit } from './support/browser';
import {
  confirm,
  fill,
  follow,
  link,
  press,
  pressAndSee,
  rows,
  section,
  see,
  told,
  use,
  valuesOf,
} from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company');

const customerPage = () => `/admin/customers/${site.facts.form.spread}`;

/** Counts the mouse clicks on a page. @returns a function that returns the number so far */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => sessionStorage.setItem('clicks', '0'));
  await page.addInitScript(() => {
    document.addEventListener(
      'click',
      ({ detail }) => {
        // `detail` is 0 for a click by keyboard or by a script.
        if (detail > 0) sessionStorage.setItem('clicks', `${Number(sessionStorage.getItem('clicks')) + 1}`);
      },
      true,
    );
  });
  await page.reload();
  return () => page.evaluate(() => Number(sessionStorage.getItem('clicks')));
}

/** Submits a form of a page, and loads the page again before it gets the server's answer. */
async function loseAnswer(page: Page, submit: () => Promise<void>): Promise<void> {
  const address = page.url();
  let isAnswered = false;
  const answer = async (route: Route) => {
    await route.fetch({ maxRedirects: 0 });
    isAnswered = true;
  };
  await page.route(address, answer, { times: 1 });
  await submit();
  await expect.poll(() => isAnswered).toBe(true);
  await visit(page, address);
}

const shares = ['Share of invoice SEPA-1', 'Share of invoice SEPA-2'] as const;

test('staff can record a transfer for two invoices in four clicks, correct it, use and pay back its credit, and delete it', async () => {
  const page = await site.open(customerPage(), { own: true });
  const clicks = await countClicks(page);
  await follow(page, 'Record transfer', `${site.url}${customerPage()}/transfer`);
  await page.getByLabel('Amount in EUR').click();
  await page.keyboard.type('150');
  expect(await valuesOf(page, ...shares)).toEqual(['119.00', '31.00']);
  await page.keyboard.type('0');
  await see(page, '€1,331.00 is left over and becomes customer credit.');
  await page.keyboard.press('Backspace');
  await see(page, 'No credit is left over.');
  await page.getByLabel('Reference').click();
  await page.keyboard.type('SEPA-E2E');
  await press(page, 'Record transfer', 'The transfer is recorded.');
  expect(await clicks()).toBe(4);
  await see(page, 'SEPA-E2E/2');
  expect(await violationsOf(page)).toEqual([]);

  await use(page, 'link', 'Correct');
  await fill(page, { 'Amount in EUR': '160' });
  await press(page, 'Save', 'The transfer is corrected.');
  const transferPage = new URL(page.url()).pathname;

  await visit(page, site.url + customerPage());
  await see(page, '€10.00 credit from transfers');
  expect(await violationsOf(page, 'all')).toEqual([]);
  await page.getByRole('link', { name: 'SEPA-2' }).first().click();
  await see(page, 'The customer has €10.00 credit.');
  await fill(page, { 'Amount in EUR': '11' });
  await pressAndSee(page, 'Use credit', 'Must be at most 10.00 EUR, which is the customer');
  expect(await violationsOf(page)).toEqual([]);
  await fill(page, { 'Amount in EUR': '1' });
  await loseAnswer(page, () => page.getByRole('button', { name: 'Use credit' }).click());
  await see(page, 'The customer has €9.00 credit.');
  expect(await page.getByText('is restored here').count()).toBe(0);
  await fill(page, { 'Amount in EUR': '3' });
  await press(page, 'Use credit', 'The credit pays this invoice.');

  await visit(page, site.url + transferPage);
  await use(page, 'link', 'Pay back credit');
  await press(page, 'Record as paid back', 'The credit is recorded as paid back.');
  await confirm(page, ['Withdraw', 'Make it credit again'], 'The amount is customer credit again.');
  await page.getByRole('link', { name: 'SEPA-E2E/2' }).first().click();
  await link(page, 'SEPA-E2E').waitFor();
  await visit(page, site.url + transferPage);
  await confirm(page, ['Delete', 'Delete transfer'], 'The transfer is deleted. Its invoices are open again.');
});

test('a typed share of a transfer stays unchanged while the other shares follow the amount', async () => {
  const page = await site.open(`${customerPage()}/transfer`);
  await fill(page, { 'Amount in EUR': '100', [shares[0]]: '60' });
  expect(await valuesOf(page, shares[1])).toEqual(['40.00']);
  await fill(page, { 'Amount in EUR': '50' });
  await see(page, 'The shares are €10.00 more than the amount.');
  await fill(page, { Reference: 'SEPA-WRONG' });
  await pressAndSee(page, 'Record transfer', 'Must be at least 60.00 EUR, which is the sum of the shares');
  expect(await valuesOf(page, shares[0], 'Reference')).toEqual(['60', 'SEPA-WRONG']);
});

test('the form of a refund has a link for issuing a credit note of its invoice', async () => {
  const page = await site.open(`/admin/payments/${site.facts.form.completed}/refund`);
  await follow(page, 'issue a credit note', /\/admin\/invoices\/\d+(\/credit)?$/);
});

/** Returns a CSV file in the format of the bank N26, with entries of these amounts and texts. */
function csvOf(entries: [amount: string, text: string][]) {
  const days = '"2026-02-12","2026-02-12"';
  const lines = entries.map(([amount, text]) => `${days},"Ada","","${text}","${amount}"`);
  const header =
    '"Booking Date","Value Date","Partner Name","Partner Iban","Payment Reference","Amount (EUR)"';
  return { name: 'n26.csv', mimeType: 'text/csv', buffer: Buffer.from([header, ...lines].join('\n')) };
}

test('staff can book ten exact matches of a bank statement in three clicks, ignore the rest, undo a booking, and book a return', async () => {
  const page = await site.open('/admin/bank', { own: true });
  const clicks = await countClicks(page);
  const file = page.getByLabel('File from your bank');
  const chosen = page.waitForEvent('filechooser');
  await file.click();
  const ten = Array.from({ length: 10 }, (_, at): [string, string] => [`${20 + at}.00`, `TEN-100${at}`]);
  await (await chosen).setFiles(csvOf([...ten, ['-10.00', 'Paper']]));
  await press(page, 'Upload', 'The statement is uploaded.');
  await see(page, 'The text names TEN-1000.');
  await press(page, 'Book all exact matches', '10 exact matches are booked.');
  expect(await clicks()).toBeLessThanOrEqual(3);
  await pressAndSee(page, 'Ignore 1 outgoing', 'All 11 entries in this period are explained.');
  await page.waitForFunction(() => document.title !== '');
  expect(await violationsOf(page)).toEqual([]);
  const undo = async (text: string) => {
    await rows(page).filter({ hasText: text }).getByRole('button', { name: 'Undo' }).click();
    await told(page, 'The booking is undone. Its invoices are as they were before the booking.');
  };
  await undo('TEN-1000');

  await visit(page, `${site.url}/admin/bank`);
  await file.setInputFiles({ ...csvOf([]), buffer: Buffer.alloc(10_000_001, 32) });
  expect(await file.evaluate((input: HTMLInputElement) => input.validationMessage)).toContain('10 MB');
  site.allowComplaints(/422/);
  await file.setInputFiles({ ...csvOf([]), buffer: Buffer.from('no statement') });
  await pressAndSee(page, 'Upload', 'is neither CAMT.053 nor MT940');
  await file.setInputFiles(csvOf([['-29.00', 'Retoure TEN-1009']]));
  await pressAndSee(page, 'Upload', 'TEN-1009 open again');
  expect(await violationsOf(page)).toEqual([]);
  await press(page, 'Book return', 'The return is booked, and the invoices are open again.');
  await page.getByRole('link', { name: 'Returned payment' }).first().click();
  await see(page, 'Returned');
  await page.goBack();
  await undo('Retoure TEN-1009');
  await page.getByRole('button', { name: 'Book return' }).waitFor();
});

test('staff can open a payment reminder from the overview, record it with one click, and withdraw the record', async () => {
  const page = await site.open('/admin', { own: true });
  await follow(page, /customers? (is|are) due for a reminder/, `${site.url}/admin/overdue/reminders`);
  await rows(page).first().getByRole('link').first().click();
  await page.waitForURL(/\/admin\/overdue\/reminders\/\d+$/);
  const text = page
    .locator('[lang="en"], [lang="de"]')
    .filter({ hasText: /IBAN|Kundennummer|customer number/ })
    .last();
  const firstInvoice = page.locator('tbody tr strong').first();
  const invoice = String(await firstInvoice.textContent());
  expect(await text.textContent()).toContain(invoice);
  expect(await page.getByRole('button', { name: 'Copy text' }).count()).toBe(1);
  expect(await violationsOf(page)).toEqual([]);
  await press(page, 'Mark as reminded');
  await told(page, 'The reminder is recorded for the invoices and the customer. No e-mail was sent.');
  await see(page, 'No invoice of this customer is due for a reminder.');
  expect(await page.getByText(/^Reminder \d on /).textContent()).toContain(invoice);
  await page.locator('main a[href^="/admin/customers/"]').first().click();
  await see(page, /^Reminded on \d{4}-\d\d-\d\d \(level \d\): /);
  await page.goBack();
  await press(page, 'Withdraw', 'The reminder is withdrawn.');
  expect(await firstInvoice.textContent()).toBe(invoice);
});

test('a reminder links to the invoice that credit can pay, and says that credit cannot pay Stripe’s invoices', async () => {
  const [stripes] = await site.inspect((db) =>
    db
      .select({ customer: invoices.customer_id })
      .from(invoices)
      .where(and(eq(invoices.status, 'overdue'), eq(invoices.uncollectible, false)))
      .groupBy(invoices.customer_id)
      .having(sql`bool_and(${invoices.stripe_invoice_id} is not null and ${invoices.currency} = 'eur')`)
      .orderBy(sql`min(${invoices.due_date})`)
      .limit(1),
  );
  const page = await site.open('/admin');
  const keepCredit = async (customer: number | undefined) => {
    await visit(page, `${site.url}/admin/customers/${customer}/transfer`);
    await fill(page, { 'Amount in EUR': '1', Reference: `UNUSED-${customer}` });
    for (const share of await page.getByLabel(/^Share of/).all()) await share.fill('0');
    await press(page, 'Record transfer', 'The transfer is recorded');
    await visit(page, `${site.url}/admin/overdue/reminders/${customer}`);
  };
  await keepCredit(stripes?.customer);
  await see(page, 'The customer has €1.00 credit. It cannot pay invoices that Stripe manages.');
  await keepCredit(site.facts.form.spread);
  await see(
    page,
    'The customer has €1.00 credit. Use it on the page of invoice SEPA-1 before you send the reminder.',
  );
  await page.getByRole('alert').getByRole('link', { name: 'SEPA-1', exact: true }).click();
  await section(page, 'Credit of the customer').waitFor();
});
