import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { visit } from './support/browser';
import { STAFF } from './support/company';
import {
  choose,
  confirm,
  endSession,
  field,
  fill,
  fillFilter,
  follow,
  hasFocus,
  inMenu,
  link,
  press,
  pressAndSee,
  rows,
  see,
  seeAlert,
  seeHeading,
  signIn,
  tabTo,
  told,
  valuesOf,
} from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company');

async function save(page: Page): Promise<void> {
  await press(page, 'Save', 'Your changes are saved.');
}

async function edit(page: Page): Promise<void> {
  await follow(page, 'Edit', /\/edit$/);
}

test('the list of invoices has pages and filters, and an invoice and its offer link to each other', async () => {
  const page = await site.open('/admin/invoices?customer=nobody');
  await see(page, 'No invoices found');
  await visit(page, `${site.url}/admin/invoices?page=9999`);
  await see(page, 'No more invoices');
  await visit(page, `${site.url}/admin/invoices`);
  await see(page, /^1–25 of [\d,]+ invoices$/);
  await follow(page, 'Next', /\?page=2$/);
  await see(page, /^26–50 of/);
  await fillFilter(page, 'Customer', 'k-desk');
  await page.waitForURL(/customer=k-desk/);
  await choose(page, 'Status', 'Overdue');
  await page.waitForURL(`${site.url}/admin/invoices?customer=k-desk&status=overdue`);
  await page.getByText('1–1 of 1 invoice', { exact: true }).waitFor();
  await rows(page).click();
  await seeHeading(page, /Invoice DESK-1/);
  expect(await page.locator('dl').first().textContent()).toMatch(/Total€119\.00.*Open€119\.00/);
  await follow(page, /Desk <i>/, /\/admin\/customers\/\d+$/);
  await page.goBack();
  await follow(page, /Record payment/, /\/admin\/payments\/new\?invoice=%23\d+$/);
  await page.goBack();
  await follow(page, /AN-DESK/, /\/admin\/sales-documents\/\d+$/);
  await seeHeading(page, /Offer AN-DESK/);
  await link(page, 'DESK-1, overdue').click();
  await seeHeading(page, /Invoice DESK-1/);
});

test('the page of an invoice shows what was paid outside Stripe and what was settled with the balance at Stripe', async () => {
  const page = await site.open('/admin/invoices?customer=k-desk&status=paid');
  await rows(page).click();
  await seeHeading(page, /Invoice DESK-0/);
  const facts = await page.locator('dl').first().textContent();
  expect(facts).toMatch(/Paid outside Stripe€89\.00Settled with the balance at Stripe€30\.00Open€0\.00$/);
  await see(page, '€89.00 was paid outside Stripe. €30.00 was settled with');
});

test('a service and its server link to each other, and the service links to its subscription', async () => {
  const page = await site.open('/admin/services?domain=DESK.ex');
  const inTable = (name: string) => page.getByRole('table', { name });
  await rows(page).click();
  await seeHeading(page, /desk\.example/);
  await inTable('Subscriptions').getByText('sub_desk').waitFor();
  await link(page, 'aa.desk.example').click();
  await seeHeading(page, /aa\.desk\.example/);
  await see(page, '192.0.2.9');
  await rows(inTable('Services')).click();
  await seeHeading(page, /desk\.example/);
  await rows(inTable('Subscriptions')).click();
  await seeHeading(page, /Subscription \d+/);
  const facts = await page.locator('dl').first().textContent();
  expect(facts).toMatch(/Ends on/);
  expect(facts).not.toMatch(/Next billing/); // It ends on the day of the next bill.
});

test('staff can confirm that a customer created from Stripe is new', async () => {
  const page = await site.open('/admin');
  await follow(page, /created from Stripe/, `${site.url}/admin/subscriptions/stripe-customers`);
  const listed = rows(page).filter({ hasText: 'Desk <i>' });
  await listed.click();
  await press(page, 'It is a new customer', 'It is linked to Desk <i>.');
  await see(page, 'Decision by staff');
  await visit(page, `${site.url}/admin/subscriptions/stripe-customers`);
  await rows(page).first().waitFor();
  expect(await listed.count()).toBe(0);
});

test('staff can confirm the selected links of Stripe customers at once, and the remaining one on its page', async () => {
  const page = await site.open('/admin');
  await link(page, /^\d+ Stripe customers share an e-mail address/).click();
  await seeHeading(page, /Links to confirm/);
  const proposed = page.getByRole('checkbox');
  expect(await proposed.count()).toBeGreaterThan(1);
  await proposed.first().uncheck();
  await press(page, 'Confirm selected', 'confirmed.');
  await expect.poll(() => proposed.count()).toBe(1);
  await page.getByRole('main').getByRole('link', { name: /^cus_/ }).click();
  await page.getByRole('button', { name: /same e-mail/ }).click();
  await see(page, 'Decision by staff');
});

test('the overview shows the money received in the chosen period and currency, and links counts to their lists', async () => {
  const page = await site.open('/admin');
  const chart = page.getByRole('list', { name: /^Money received by (day|week) over/ });
  const choice = (name: string) => page.getByRole('navigation', { name });
  const sum = async () => /[€$£¥F][\s\d,.]+ in all/.exec((await chart.getAttribute('aria-label')) ?? '')?.[0];
  await chart.waitFor();
  expect(await chart.getByRole('listitem').count()).toBe(30);
  const month = await sum();
  await choice('Period').getByRole('link', { name: '365 days' }).click();
  await expect.poll(() => chart.getByRole('listitem').count()).toBe(53);
  expect(await sum()).not.toBe(month);
  await choice('Currency').getByRole('link', { name: 'USD' }).click();
  await page.waitForURL(`${site.url}/admin?days=365&currency=usd`);
  await expect.poll(() => chart.getAttribute('aria-label')).toMatch(/over 365 days: .*US\$/);
  expect(await chart.getByRole('listitem').first().textContent()).toMatch(
    /^Week from \d+ \w+ \d{4}: US\$[\d,.]+, \d+ payments?/,
  );
  for (const [name, path] of [
    [/^Active\s*\d+$/, '/admin/subscriptions?status=active'],
    ['Overdue invoices', '/admin/overdue/invoices'],
  ] as const) {
    await page.getByRole('link', { name }).click();
    await page.waitForURL(site.url + path);
    await page.goBack();
  }
});

test('staff can create and edit a customer and a service', async () => {
  const page = await site.open('/admin/customers');
  const country = page.getByRole('combobox', { name: 'Country' });
  await follow(page, 'New customer', `${site.url}/admin/customers/new`);
  await fill(page, { Company: 'Neu & Söhne' });
  await country.fill('Austri');
  await page.getByRole('option', { name: 'Austria · AT' }).click();
  expect(await country.inputValue()).toBe('Austria');
  await field(page, 'Exempt from tax').check();
  await press(page, 'Create customer', 'The customer is created.');
  expect(page.url()).toMatch(/\/admin\/customers\/\d+\?notice=created$/);
  const number = (await page.locator('dt:text-is("Number") + dd').first().textContent()) ?? '';
  expect(number).toMatch(/^K\d+$/);
  await see(page, 'Austria', `Created by ${STAFF.email}`);

  await edit(page);
  expect(await country.inputValue()).toBe('Austria');
  expect(await field(page, 'Exempt from tax').isChecked()).toBe(true);
  await country.fill('Austrai');
  await pressAndSee(page, 'Save', 'Must be a country by its name or its two letters, such as Germany or DE.');
  expect(await country.inputValue()).toBe('Austrai');
  await country.fill('Austria');
  await fill(page, { City: 'Wien' });
  await field(page, 'Exempt from tax').uncheck();
  await save(page);
  await see(page, 'City: – → Wien', 'Tax exempt: true → false');

  await follow(page, 'New service', /\/services\/new\?customer=K\d+$/);
  expect(await page.getByRole('combobox', { name: 'Customer', exact: true }).inputValue()).toBe(number);
  await fill(page, { Name: 'Webhosting L', Price: '12,5' });
  await page.getByLabel('Type').selectOption('hosting');
  await field(page, 'Server').selectOption('form.example.net');
  await page.getByLabel('Status').selectOption('active');
  await press(page, 'Create service', 'The service is created.');
  await see(page, '€12.50');
  await edit(page);
  expect(await valuesOf(page, 'Price')).toEqual(['12.50']);
  await page.getByLabel('Interval').selectOption('year');
  await save(page);
  await see(page, 'a year');
});

test('a customer can be created without JavaScript', async () => {
  const page = await site.open('/admin/customers/new', { javaScriptEnabled: false });
  await pressAndSee(page, 'Create customer', 'Must not be empty unless there is a name.');
  await fill(page, { Company: 'Plain' });
  await pressAndSee(page, 'Create customer', 'The customer is created.');
});

test('a server can be created by keyboard alone', async () => {
  const page = await site.open('/admin/servers/new');
  await field(page, 'Host name').focus();
  await page.keyboard.type('keys.example.net');
  await tabTo(page, 'textbox', 'IPv4 addresses');
  await page.keyboard.type('192.0.2.4 192.0.2');
  await tabTo(page, 'textbox', 'Cores');
  await page.keyboard.type('16');
  await page.keyboard.press('Enter');
  await see(page, 'Must be IPv4 addresses.');
  await hasFocus(page, 'textbox', 'IPv4 addresses');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('.5');
  await tabTo(page, 'textbox', /^Storage/);
  await page.keyboard.press('Enter');
  await told(page, 'The server is created.');
  await see(page, '192.0.2.4, 192.0.2.5');
});

test('staff can suspend a service, and its page then shows the status change and offers to resume it', async () => {
  const page = await site.open(`/admin/services/${site.facts.form.service}`);
  await press(page, 'Cancel service');
  const dialog = page.getByRole('dialog', { name: 'Cancel this service?' });
  await dialog.waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await confirm(page, 'Suspend', 'The service is suspended.');
  await see(page, 'Status: Active → Suspended');
  const suspend = page.getByRole('button', { name: 'Suspend', exact: true, includeHidden: true });
  expect(await suspend.count()).toBe(0);
  await inMenu(page, 'button', 'Resume').waitFor({ state: 'attached' });
});

test('a status change of a server from an outdated page is refused', async () => {
  const page = await site.open(`/admin/servers/${site.facts.form.server}`);
  const other = await site.open(`/admin/servers/${site.facts.form.server}`);
  await confirm(other, 'Start maintenance', 'The server is in maintenance.');
  await confirm(page, 'Decommission');
  await seeAlert(page, 'nothing was saved');
  await inMenu(page, 'button', 'Back to active').waitFor({ state: 'attached' });
});

test('only a customer without other records can be deleted', async () => {
  const page = await site.open(`/admin/customers/${site.facts.form.customer}`);
  await see(page, 'Other records refer to this customer, so it cannot be deleted.');
  expect(await page.getByRole('button', { name: 'Delete', includeHidden: true }).count()).toBe(0);
  await visit(page, `${site.url}/admin/customers/${site.facts.form.alone}`);
  await confirm(page, ['Delete', 'Delete customer'], 'The customer is deleted.');
  expect(new URL(page.url()).pathname).toBe('/admin/customers');
});

test('a note on a customer appears in the timeline with its author, and a typed note survives an expired session', async () => {
  const path = `/admin/customers/${site.facts.form.customer}`;
  const page = await site.open(path, { own: true });
  const note = page.getByRole('textbox', { name: 'Note' });
  await note.fill('  ');
  await pressAndSee(page, 'Add note', 'Must not be empty.');
  await note.fill('Called.\nWill pay on Friday.');
  await press(page, 'Add note', 'The note is added.');
  const entry = page.locator('#timeline li').first();
  await expect.poll(() => entry.textContent()).toContain(`Note by ${STAFF.email}`);
  expect(await entry.textContent()).toContain('Called.\nWill pay on Friday.');
  expect(await note.inputValue()).toBe('');
  await note.fill('Paid.');
  await endSession(page);
  await press(page, 'Add note');
  await signIn(page);
  await page.waitForURL(site.url + path);
  await expect.poll(() => note.inputValue()).toBe('Paid.');
});
