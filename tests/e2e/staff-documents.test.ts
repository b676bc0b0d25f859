import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { createCustomer } from '../support/factories';
import { visit } from './support/browser';
import { useStaffPages } from './support/staff-pages';

const DOCUMENTS = '/admin/sales-documents';
const INVOICES = '/admin/invoices';

const staff = useStaffPages({
  async fill(db) {
    await createCustomer(db, { customer_number: 'K-DOC', company: 'Weiß & Söhne' });
  },
});

const line = (page: Page, n: number) => page.getByRole('group', { name: `Line ${n}`, exact: true });
async function fillLine(page: Page, n: number, text: string, price: string, quantity = '1') {
  await line(page, n).getByLabel('Text').fill(text);
  await line(page, n).getByLabel('Quantity').fill(quantity);
  await line(page, n).getByLabel('Price without tax').fill(price);
}
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
async function confirm(page: Page, button: string, answer: string) {
  await press(page, button);
  await page.getByRole('dialog').getByRole('button', { name: answer, exact: true }).click();
}
const told = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

test('an offer becomes an order confirmation, that an invoice, and the invoice is paid', async () => {
  const { page } = await staff.open(DOCUMENTS);
  await page.getByRole('link', { name: 'New document' }).click();
  await page.waitForURL(`${staff.url}${DOCUMENTS}/new`);
  await page.getByLabel('Customer').fill('K-DOC');
  await fillLine(page, 1, 'Dedicated server', '79,90');
  await press(page, 'Add line');
  await fillLine(page, 2, 'Discount', '-9.90');
  await page.getByText('€83.30').waitFor(); // 70 and 19 %
  await press(page, 'Save draft');
  await told(page, 'The draft is saved.');
  await page.getByRole('heading', { name: /^Offer AN-/ }).waitFor();
  await confirm(page, 'Mark as sent', 'Yes, mark as sent');
  await told(page, 'The status is changed.');
  await confirm(page, 'Accepted', 'Yes, accepted');
  await confirm(page, 'Make order confirmation', 'Yes, make it');
  await page.getByRole('heading', { name: /^Order confirmation AB-/ }).waitFor();
  await page.getByRole('cell', { name: 'Dedicated server' }).waitFor();
  await confirm(page, 'Mark as sent', 'Yes, mark as sent');
  await confirm(page, 'Make invoice', 'Yes, make it');
  await page.waitForURL(/\/admin\/invoices\/\d+\?notice=created$/);
  await confirm(page, 'Send', 'Send invoice');
  await told(page, 'The invoice is sent.');
  const year = new Date().getUTCFullYear();
  await page.getByRole('heading', { name: new RegExp(`^Invoice ${year}-\\d{6}`) }).waitFor();
  await page.getByRole('link', { name: 'Record payment' }).click();
  expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('83.30');
  await page.getByLabel('Reference').fill('DOC-1');
  await press(page, 'Record payment');
  await told(page, 'The payment is recorded.');
  await visit(page, `${staff.url}${INVOICES}?customer=K-DOC&status=paid`);
  await page.getByRole('row').filter({ hasText: '€83.30' }).waitFor();
});

describe('a draft', () => {
  const draft = async (page: Page) => {
    await visit(page, `${staff.url}${INVOICES}/new?customer=K-DOC`);
    await fillLine(page, 1, 'Hosting', '10');
    await press(page, 'Save draft');
    await told(page, 'The draft is saved.');
    return new URL(page.url()).pathname;
  };

  test('says what is wrong at its field and keeps all that was typed', async () => {
    const { page } = await staff.open(`${DOCUMENTS}/new`);
    await page.getByLabel('Type').selectOption('order_confirmation');
    await page.getByLabel('Customer').fill('nobody');
    await fillLine(page, 1, 'One', '1.00');
    await press(page, 'Add line');
    await fillLine(page, 2, 'Two', '1,000');
    await press(page, 'Add line');
    await press(page, 'Remove line 1');
    await fillLine(page, 2, 'Three', '3');
    await press(page, 'Save draft');
    await line(page, 1).getByText('Must be a number.').waitFor();
    expect(await line(page, 1).getByLabel('Price without tax').inputValue()).toBe('1,000');
    expect(await line(page, 2).getByLabel('Text').inputValue()).toBe('Three');
    expect(await page.getByLabel('Type').inputValue()).toBe('order_confirmation');
    await line(page, 1).getByLabel('Price without tax').fill('1000');
    await press(page, 'Save draft');
    await page.getByText('Is no customer of ours.').waitFor();
    expect(await page.getByLabel('Customer').evaluate((field) => field === document.activeElement)).toBe(
      true,
    );
  });

  test('of two people who edit it the second is told, and loses nothing', async () => {
    const { page } = await staff.open(INVOICES);
    const { page: other } = await staff.open(INVOICES);
    const path = await draft(page);
    await visit(other, `${staff.url}${path}/edit`);
    await visit(page, `${staff.url}${path}/edit`);
    await fillLine(page, 1, 'Hosting, first', '11');
    await press(page, 'Save draft');
    await told(page, 'The draft is saved.');
    await fillLine(other, 1, 'Hosting, second', '12');
    await press(other, 'Save draft');
    await other.getByText('Somebody else has changed this since you opened it.').waitFor();
    expect(await line(other, 1).getByLabel('Text').inputValue()).toBe('Hosting, second');
    await visit(other, staff.url + path);
    await other.getByRole('cell', { name: 'Hosting, first' }).waitFor();
  });

  test('that is sent can be due later, and be cancelled', async () => {
    const { page } = await staff.open(INVOICES);
    await draft(page);
    await confirm(page, 'Send', 'Send invoice');
    await told(page, 'The invoice is sent.');
    await page.getByRole('link', { name: 'Change due date' }).click();
    await page.getByRole('textbox', { name: 'Due' }).fill('2020-01-01');
    await press(page, 'Change due date');
    await page.getByText('Must not be before the date of the invoice.').waitFor();
    await page.getByRole('textbox', { name: 'Due' }).fill('2099-12-31');
    await press(page, 'Change due date');
    await told(page, 'The due date is changed.');
    await page.getByText('31 Dec 2099').waitFor();
    await confirm(page, 'Cancel invoice', 'Cancel invoice');
    await told(page, 'The invoice is cancelled.');
  });
});
