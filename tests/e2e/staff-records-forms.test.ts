import type { BrowserContextOptions, Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import type { Database } from '@/db/database';
import {
  createCustomer,
  createInvoice,
  createSalesDocument,
  createServer,
  createService,
} from '../support/factories';
import { STAFF } from './support/company';
import { eventually } from './support/payment-pages';
import { signIn } from './support/staff';
import { useStaffPages } from './support/staff-pages';
import { violationsOf } from './support/violations';

let ids: Record<'customer' | 'alone' | 'server' | 'service' | 'invoice' | 'unpaid' | 'document', number>;
const site = useStaffPages({ fill: fillRecords });

/** K-FORM with a service on a server, and K-ALONE, to whom nothing refers. */
async function fillRecords(db: Database): Promise<void> {
  const { id: customer } = await createCustomer(db, { customer_number: 'K-FORM', company: 'Form & Co' });
  const { id: alone } = await createCustomer(db, { customer_number: 'K-ALONE', company: 'Alone' });
  const { id: server } = await createServer(db, { hostname: 'form.example.net' });
  const about = { customer_id: customer, server_id: server, service_number: 'S-FORM' };
  const { id: service } = await createService(db, about);
  const { id: invoice } = await createInvoice(db, { customer_id: customer, status: 'draft', number: null });
  const { id: unpaid } = await createInvoice(db, { customer_id: customer, number: 'FORM-1' });
  const { id: document } = await createSalesDocument(db, { customer_id: customer, status: 'draft' });
  ids = { customer, alone, server, service, invoice, unpaid, document };
}

const open = async (path: string, options?: BrowserContextOptions) => (await site.open(path, options)).page;
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const says = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).waitFor();
const isFocused = (page: Page, label: string) =>
  eventually(() => field(page, label).evaluate((one) => one === document.activeElement));
const endSession = (page: Page) =>
  page.context().addCookies([{ name: 'w5t.session_token', value: 'ended.signature', url: site.url }]);
const fact = (page: Page, name: string) =>
  page.locator('dt').filter({ hasText: name }).locator('xpath=following-sibling::dd[1]').first();

describe('a customer and a service', () => {
  test('are made and edited, and each page says what happened', async () => {
    const page = await open('/admin/customers');
    await page.getByRole('link', { name: 'New customer' }).click();
    await page.waitForURL(`${site.url}/admin/customers/new`);
    await field(page, 'Company').fill('Neu & Söhne');
    await field(page, 'Country').fill('at');
    await field(page, 'Exempt from tax').check();
    await press(page, 'Create customer');
    await says(page, 'The customer is created.');
    expect(page.url()).toMatch(/\/admin\/customers\/\d+\?notice=created$/);
    const number = await fact(page, 'Number').textContent();
    expect(number).toMatch(/^K\d+$/);
    await page.getByText('Austria').waitFor();
    await page.getByText(`Created by ${STAFF.email}`).waitFor();

    await page.getByRole('link', { name: 'Edit' }).click();
    await page.waitForURL(/\/edit$/);
    expect(await field(page, 'Exempt from tax').isChecked()).toBe(true);
    await field(page, 'City').fill('Wien');
    await field(page, 'Exempt from tax').uncheck();
    await press(page, 'Save');
    await says(page, 'Your changes are saved.');
    await page.getByText('City: – → Wien').waitFor();
    await page.getByText('Tax exempt: true → false').waitFor();

    await page.getByRole('link', { name: 'New service' }).click();
    await page.waitForURL(/\/services\/new\?customer=K\d+$/);
    expect(await page.getByLabel('Customer number').inputValue()).toBe(number);
    await page.getByLabel('Name').fill('Webhosting L');
    await page.getByLabel('Type').selectOption('hosting');
    await page.getByLabel('Server', { exact: true }).selectOption('form.example.net');
    await page.getByLabel('Status').selectOption('active');
    await page.getByLabel('Price').fill('12,5');
    await press(page, 'Create service');
    await says(page, 'The service is created.');
    await page.getByText('€12.50').first().waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.waitForURL(/\/edit$/);
    expect(await page.getByLabel('Price').inputValue()).toBe('12.50');
    await page.getByLabel('Interval').selectOption('year');
    await press(page, 'Save');
    await says(page, 'Your changes are saved.');
    await page.getByText('a year').first().waitFor();
  });

  test('a wrong field says so and takes the focus; what was typed stays, choices too', async () => {
    const page = await open('/admin/services/new?customer=nobody');
    await page.getByLabel('Name').fill('Web');
    await page.getByLabel('Type').selectOption('domain');
    await page.getByLabel('Interval').selectOption('once');
    await page.getByLabel('Price').fill('1,119');
    await field(page, 'Since').fill('2026-02-28');
    await press(page, 'Create service');
    await page.getByText('Must be a number.').waitFor();
    await eventually(() => page.getByLabel('Price').evaluate((one) => one === document.activeElement)).toBe(
      true,
    );
    expect(await page.getByLabel('Price').inputValue()).toBe('1,119');
    expect(await page.getByLabel('Type').inputValue()).toBe('domain');
    expect(await page.getByLabel('Interval').inputValue()).toBe('once');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Price').fill('9');
    await press(page, 'Create service');
    await page.getByText('Is not a known customer.').waitFor();
    expect(await field(page, 'Since').inputValue()).toBe('2026-02-28');
    expect(await page.getByLabel('Interval').inputValue()).toBe('once');
  });

  test('a number that another has is refused', async () => {
    const page = await open('/admin/customers/new');
    await field(page, 'Company').fill('Other');
    await field(page, 'Customer number').fill('k-form');
    await press(page, 'Create customer');
    await page.getByText('Is taken.').waitFor();
    await isFocused(page, 'Customer number').toBe(true);
  });

  test('works without scripts', async () => {
    const page = await open('/admin/customers/new', { javaScriptEnabled: false });
    await press(page, 'Create customer');
    await page.getByText('Or a name is needed.').waitFor();
    await field(page, 'Company').fill('Plain');
    await press(page, 'Create customer');
    await page.getByText('The customer is created.').waitFor();
  });
});

test('two people edit one record: the second is told and loses nothing', async () => {
  const path = `/admin/customers/${ids.customer}/edit`;
  const [mine, theirs] = [await open(path), await open(path)];
  await field(theirs, 'City').fill('Graz');
  await field(theirs, 'Street').fill('Ring 1');
  await press(theirs, 'Save');
  await says(theirs, 'Your changes are saved.');
  await field(mine, 'City').fill('Linz');
  await field(mine, 'Phone').fill('0732');
  await press(mine, 'Save');
  const alert = mine.getByRole('alert').filter({ hasText: 'Somebody else changed this meanwhile' });
  await alert.waitFor();
  expect(await alert.textContent()).toContain('City: stored now: Graz; you typed: Linz');
  expect(await alert.textContent()).toContain('Street: stored now: Ring 1; you had not changed it');
  expect(await violationsOf(mine)).toEqual([]);
  const held = ['City', 'Phone', 'Street'].map((label) => field(mine, label).inputValue());
  expect(await Promise.all(held)).toEqual(['Linz', '0732', 'Ring 1']);
  await press(mine, 'Save');
  await says(mine, 'Your changes are saved.');
  await mine.getByText('City: Graz → Linz').waitFor();
});

test('an expired session loses nothing that was typed', async () => {
  const page = await open(`/admin/customers/${ids.customer}/edit`);
  await field(page, 'E-mail').fill('new@form.example');
  await endSession(page);
  await press(page, 'Save');
  await page.waitForURL(/\/sign-in\?next=/);
  await signIn(page);
  await page.waitForURL(`${site.url}/admin/customers/${ids.customer}/edit`);
  await says(page, 'What you typed is restored here.');
  expect(await field(page, 'E-mail').inputValue()).toBe('new@form.example');
  await press(page, 'Save');
  await says(page, 'Your changes are saved.');
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.waitForURL(/\/edit$/);
  expect(await field(page, 'E-mail').inputValue()).toBe('new@form.example');
  expect(await page.getByText('is restored here').count()).toBe(0);
});

test('a server is made with the keyboard alone', async () => {
  const page = await open('/admin/servers/new');
  const tabTo = async (label: string) => {
    for (let i = 0; i < 40; i += 1) {
      if (await field(page, label).evaluate((one) => one === document.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`${label} cannot be reached`);
  };
  await page.getByLabel('Host name').focus();
  await page.keyboard.type('keys.example.net');
  await tabTo('IPv4 addresses');
  await page.keyboard.type('192.0.2.4 192.0.2');
  await tabTo('Cores');
  await page.keyboard.type('16');
  await page.keyboard.press('Enter');
  await page.getByText('Must be IPv4 addresses.').waitFor();
  await isFocused(page, 'IPv4 addresses').toBe(true);
  await page.keyboard.press('Control+End');
  await page.keyboard.type('.5');
  await tabTo('Storage');
  await page.keyboard.press('Enter');
  await says(page, 'The server is created.');
  await page.getByText('192.0.2.4, 192.0.2.5').first().waitFor();
});

describe('steps', () => {
  test('are asked for, taken and told', async () => {
    const page = await open(`/admin/services/${ids.service}`);
    await press(page, 'Cancel service');
    const dialog = page.getByRole('dialog', { name: 'Cancel this service?' });
    await dialog.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await press(page, 'Suspend');
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await says(page, 'The service is suspended.');
    await page.getByText('Status: Active → Suspended').waitFor();
    expect(await page.getByRole('button', { name: 'Suspend', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).waitFor();
  });

  test('from a page that is no longer true are refused', async () => {
    const page = await open(`/admin/servers/${ids.server}`);
    const other = await open(`/admin/servers/${ids.server}`);
    await press(other, 'Start maintenance');
    await other.getByRole('dialog').getByRole('button', { name: 'Start maintenance' }).click();
    await says(other, 'The server is in maintenance.');
    await press(page, 'Decommission');
    await page.getByRole('dialog').getByRole('button', { name: 'Decommission' }).click();
    await page.getByRole('alert').filter({ hasText: 'nothing was saved' }).waitFor();
    await page.getByRole('button', { name: 'Back to active' }).waitFor();
  });

  test('only what nothing refers to is deleted', async () => {
    const page = await open(`/admin/customers/${ids.customer}`);
    await page.getByText('Other records refer to this customer, so it cannot be deleted.').waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    const alone = await open(`/admin/customers/${ids.alone}`);
    await press(alone, 'Delete');
    await alone.getByRole('dialog').getByRole('button', { name: 'Delete customer' }).click();
    await says(alone, 'The customer is deleted.');
    expect(new URL(alone.url()).pathname).toBe('/admin/customers');
  });
});

test('a note stands in the timeline under its author', async () => {
  const page = await open(`/admin/customers/${ids.customer}`);
  await page.getByRole('textbox', { name: 'Note' }).fill('  ');
  await press(page, 'Add note');
  await page.getByText('Must not be empty.').waitFor();
  await page.getByRole('textbox', { name: 'Note' }).fill('Called.\nWill pay on Friday.');
  await press(page, 'Add note');
  await says(page, 'The note is added.');
  const entry = page.locator('#timeline li').first();
  await eventually(() => entry.textContent()).toContain(`Note by ${STAFF.email}`);
  expect(await entry.textContent()).toContain('Called.\nWill pay on Friday.');
  expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('');
  // What the page says of this note is no answer to the next one.
  await page.getByRole('textbox', { name: 'Note' }).fill('Paid.');
  await endSession(page);
  await press(page, 'Add note');
  await signIn(page);
  await page.waitForURL(`${site.url}/admin/customers/${ids.customer}`);
  await eventually(() => page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('Paid.');
});

test.each([390, 1280])('every form fits %i px and can be used by everybody', async (width) => {
  const page = await open('/admin', { viewport: { width, height: 844 } });
  for (const path of [
    '/customers/new',
    `/customers/${ids.customer}`,
    `/customers/${ids.customer}/edit`,
    '/services/new?customer=K-FORM',
    `/services/${ids.service}`,
    `/services/${ids.service}/edit`,
    '/servers/new',
    `/servers/${ids.server}`,
    `/servers/${ids.server}/edit`,
    '/invoices/new?customer=K-FORM',
    `/invoices/${ids.invoice}`,
    `/invoices/${ids.invoice}/edit`,
    `/invoices/${ids.unpaid}/due-date`,
    '/sales-documents/new?customer=K-FORM',
    `/sales-documents/${ids.document}`,
    `/sales-documents/${ids.document}/edit`,
  ]) {
    await page.goto(`${site.url}/admin${path}`);
    await page.locator('[id^="S:"]').first().waitFor({ state: 'detached' });
    const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
    expect([path, scrollWidth, await violationsOf(page)]).toEqual([path, width, []]);
  }
});
