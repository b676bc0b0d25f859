import { sql } from 'drizzle-orm';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { rows } from '@/db/database';
import { visit } from './support/browser';
import { confirm, press, told, use } from './support/forms';
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

const share = (page: Page, number: string) => page.getByLabel(`Share of invoice ${number}`);

test('staff can record a transfer for two invoices in four clicks, then use its credit and pay back the rest', async () => {
  const page = await site.open(customerPage(), { own: true });
  const clicks = await countClicks(page);
  await page.getByRole('link', { name: 'Record transfer' }).click();
  await page.waitForURL(`${site.url}${customerPage()}/transfer`);
  await page.getByLabel('Amount in EUR').click();
  await page.keyboard.type('150');
  expect(await share(page, 'SEPA-1').inputValue()).toBe('119.00');
  expect(await share(page, 'SEPA-2').inputValue()).toBe('31.00');
  await page.keyboard.type('0');
  await page.getByText('€1,331.00 is left over and becomes customer credit.').waitFor();
  await page.keyboard.press('Backspace');
  await page.getByText('No credit is left over.').waitFor();
  await page.getByLabel('Reference').click();
  await page.keyboard.type('SEPA-E2E');
  await press(page, 'Record transfer');
  await told(page, 'The transfer is recorded.');
  expect(await clicks()).toBe(4);
  await page.getByText('SEPA-E2E/2').first().waitFor();
  expect(await violationsOf(page)).toEqual([]);

  await use(page, 'link', 'Correct');
  await page.getByLabel('Amount in EUR').fill('160');
  await press(page, 'Save');
  await told(page, 'The transfer is corrected.');
  const transferPage = new URL(page.url()).pathname;

  await visit(page, site.url + customerPage());
  await page.getByText('€10.00 credit from transfers').waitFor();
  expect(await violationsOf(page, 'all')).toEqual([]);
  await page.getByRole('link', { name: 'SEPA-2' }).first().click();
  await page.getByText('The customer has €10.00 credit.').waitFor();
  await page.getByLabel('Amount in EUR').fill('11');
  await press(page, 'Use credit');
  await page.getByText('Must be at most 10.00 EUR, which is the customer', { exact: false }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByLabel('Amount in EUR').fill('4');
  await press(page, 'Use credit');
  await told(page, 'The credit pays this invoice.');

  await visit(page, site.url + transferPage);
  await use(page, 'link', 'Pay back credit');
  await press(page, 'Record as paid back');
  await told(page, 'The credit is recorded as paid back.');
  await confirm(page, 'Withdraw', 'Make it credit again');
  await told(page, 'The amount is customer credit again.');
  await page.getByRole('link', { name: 'SEPA-E2E/2' }).first().click();
  await page.getByRole('link', { name: 'SEPA-E2E', exact: true }).waitFor();
  await visit(page, site.url + transferPage);
  await confirm(page, 'Delete', 'Delete transfer');
  await told(page, 'The transfer is deleted. Its invoices are open again.');
});

test('a typed share of a transfer stays unchanged while the other shares follow the amount', async () => {
  const page = await site.open(`${customerPage()}/transfer`);
  await page.getByLabel('Amount in EUR').fill('100');
  await share(page, 'SEPA-1').fill('60');
  expect(await share(page, 'SEPA-2').inputValue()).toBe('40.00');
  await page.getByLabel('Amount in EUR').fill('50');
  await page.getByText('The shares are €10.00 more than the amount.').waitFor();
  await page.getByLabel('Reference').fill('SEPA-WRONG');
  await press(page, 'Record transfer');
  await page
    .getByText('Must be at least 60.00 EUR, which is the sum of the shares', { exact: false })
    .waitFor();
  expect(await share(page, 'SEPA-1').inputValue()).toBe('60');
  expect(await page.getByLabel('Reference').inputValue()).toBe('SEPA-WRONG');
});

test('the form of a refund links to the credit note of its invoice', async () => {
  const page = await site.open(`/admin/payments/${site.facts.form.completed}/refund`);
  await page.getByRole('link', { name: 'issue a credit note' }).click();
  await page.waitForURL(/\/admin\/invoices\/\d+(\/credit)?$/);
});

test('staff can book all exact matches of a bank statement with one click, undo a booking and ignore the other entries', async () => {
  const page = await site.open(`/admin/bank/${site.facts.form.statement}`, { own: true });
  await page.getByText('The text names FORM-1.').waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await press(page, 'Book all exact matches');
  await told(page, 'The exact matches are booked.');
  await press(page, 'Ignore 1 outgoing');
  await page.getByText('All 2 entries in this period are explained.').waitFor();
  await page.waitForFunction(() => document.title !== '');
  expect(await violationsOf(page)).toEqual([]);
  await press(page, 'Undo');
  await told(page, 'The booking is undone. Its invoices are as they were before the booking.');
});

test('the customer who owes most is one click away from the overview', async () => {
  const page = await site.open('/admin', { own: true });
  const clicks = await countClicks(page);
  await page.getByRole('navigation').getByRole('link', { name: 'Overdue', exact: true }).click();
  await page.getByRole('heading', { name: 'Receivables', level: 1 }).waitFor();
  expect(await clicks()).toBe(1);
  const [most] = await site.inspect((db) =>
    rows<{ customer_number: string }>(
      db,
      sql`select c.customer_number from invoices i join customers c on c.id = i.customer_id
        where i.status in ('sent', 'overdue') and i.currency = 'eur' group by c.id order by sum(i.amount_due) desc limit 1`,
    ),
  );
  expect(await page.locator('tbody tr').first().textContent()).toContain(most?.customer_number);
});

/** Returns a CSV file of N26 with entries of these amounts and texts. */
function csvOf(entries: [amount: string, text: string][]) {
  const day = '2026-02-12';
  const lines = entries.map(([amount, text]) => `"${day}","${day}","Ada","","${text}","${amount}"`);
  const header =
    '"Booking Date","Value Date","Partner Name","Partner Iban","Payment Reference","Amount (EUR)"';
  return { name: 'n26.csv', mimeType: 'text/csv', buffer: Buffer.from([header, ...lines].join('\n')) };
}

test('staff can book ten exact matches of a bank statement in three clicks, and book and undo a return', async () => {
  const page = await site.open('/admin/bank', { own: true });
  const clicks = await countClicks(page);
  const file = page.getByLabel('File from your bank');
  const chosen = page.waitForEvent('filechooser');
  await file.click();
  const ten = Array.from({ length: 10 }, (_, at): [string, string] => [`${20 + at}.00`, `TEN-100${at}`]);
  await (await chosen).setFiles(csvOf(ten));
  await press(page, 'Upload');
  await told(page, 'The statement is uploaded.');
  await press(page, 'Book all exact matches');
  await told(page, 'The exact matches are booked.');
  expect(await clicks()).toBeLessThanOrEqual(3);
  await page.getByText('All 10 entries in this period are explained.').waitFor();

  await visit(page, `${site.url}/admin/bank`);
  await file.setInputFiles({ ...csvOf([]), buffer: Buffer.alloc(10_000_001, 32) });
  expect(await file.evaluate((input: HTMLInputElement) => input.validationMessage)).toContain('10 MB');
  site.allowComplaints(/422/);
  await file.setInputFiles({ ...csvOf([]), buffer: Buffer.from('no statement') });
  await press(page, 'Upload');
  await page.getByText('is neither CAMT.053 nor MT940', { exact: false }).waitFor();
  await file.setInputFiles(csvOf([['-29.00', 'Retoure TEN-1009']]));
  await press(page, 'Upload');
  await page.getByText('TEN-1009 open again', { exact: false }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await press(page, 'Book return');
  await told(page, 'The return is booked, and the invoices are open again.');
  await page.getByRole('link', { name: 'Returned payment' }).first().click();
  await page.getByText('Returned', { exact: false }).first().waitFor();
  await page.goBack();
  const returned = page.locator('tbody tr').filter({ hasText: 'Retoure TEN-1009' });
  await returned.getByRole('button', { name: 'Undo' }).click();
  await told(page, 'The booking is undone. Its invoices are as they were before the booking.');
  await page.getByRole('button', { name: 'Book return' }).waitFor();
});

test('staff can open a payment reminder from the overview, copy it, record it with one click, and undo the record', async () => {
  const page = await site.open('/admin', { own: true });
  await page.getByRole('link', { name: /customers? (is|are) due for a reminder/ }).click();
  await page.waitForURL(`${site.url}/admin/overdue/reminders`);
  const first = page.locator('tbody tr').first();
  await first.getByRole('link').first().click();
  await page.waitForURL(/\/admin\/overdue\/reminders\/\d+$/);
  const text = page
    .locator('[lang="en"], [lang="de"]')
    .filter({ hasText: /IBAN|Kundennummer|customer number/ })
    .last();
  const invoice = String(await page.locator('tbody tr strong').first().textContent());
  expect(await text.textContent()).toContain(invoice);
  expect(await page.getByRole('button', { name: 'Copy text' }).count()).toBe(1);
  expect(await violationsOf(page)).toEqual([]);
  await press(page, 'Mark as reminded');
  await told(page, 'The reminder is recorded for the invoices and the customer. No e-mail was sent.');
  await page.getByText('No invoice of this customer is due for a reminder.').waitFor();
  const last = page.getByText(/^Reminder \d on /);
  expect(await last.textContent()).toContain(invoice);
  await page.locator('main a[href^="/admin/customers/"]').first().click();
  await page
    .getByText(/^Reminded on \d{4}-\d\d-\d\d \(level \d\): /)
    .first()
    .waitFor();
  await page.goBack();
  await press(page, 'Withdraw');
  await told(page, 'The reminder is withdrawn.');
  expect(await page.locator('tbody tr strong').first().textContent()).toBe(invoice);
});
