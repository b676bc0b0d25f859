import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { STAFF } from './support/company';
import {
  choose,
  confirm,
  endSession,
  fillFilter,
  hasFocus,
  inMenu,
  press,
  signIn,
  tabTo,
  told,
} from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const site = useSite('company');

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor();
const rows = (page: Page) => page.locator('tbody tr');
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

describe('lists of records', () => {
  test('the list of invoices can be filtered by customer and status', async () => {
    const page = await site.open('/admin/invoices');
    await page.getByText(/^1–25 of [\d,]+ invoices$/).waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL(/\?page=2$/);
    await page.getByText(/^26–50 of/).waitFor();
    await fillFilter(page, 'Customer', 'k-desk');
    await page.waitForURL(/customer=k-desk/);
    await choose(page, 'Status', 'Overdue');
    await page.waitForURL(`${site.url}/admin/invoices?customer=k-desk&status=overdue`);
    await page.getByText('1–1 of 1 invoice', { exact: true }).waitFor();
    await rows(page).click();
    await heading(page, /Invoice DESK-1/);
    expect(await page.locator('dl').first().textContent()).toMatch(/Total€119\.00.*Open€119\.00/);
    for (const [link, path] of [
      ['Desk <i>', /\/admin\/customers\/\d+$/],
      ['AN-DESK', /\/admin\/sales-documents\/\d+$/],
      ['Record payment', /\/admin\/payments\/new\?invoice=%23\d+$/],
    ] as const) {
      await page.getByRole('link', { name: link }).click();
      await page.waitForURL(path);
      await page.goBack();
      await heading(page, /Invoice DESK-1/);
    }
  });

  test('the page of an invoice explains that the invoice was paid outside Stripe', async () => {
    const page = await site.open('/admin/invoices?customer=k-desk&status=paid');
    await rows(page).click();
    await heading(page, /Invoice DESK-0/);
    const facts = await page.locator('dl').first().textContent();
    expect(facts).toMatch(/Paid outside Stripe€89\.00Settled with the balance at Stripe€30\.00Open€0\.00$/);
    await page.getByText('€89.00 was paid outside Stripe. €30.00 was settled with').waitFor();
  });

  test('the list of invoices shows a message if no invoice matches the filter', async () => {
    const page = await site.open('/admin/invoices?customer=nobody');
    await page.getByText('No invoices found').waitFor();
    await visit(page, `${site.url}/admin/invoices?page=9999`);
    await page.getByText('No more invoices').waitFor();
  });
});

test('a service and its server link to each other', async () => {
  const page = await site.open('/admin/services?domain=DESK.ex');
  await rows(page).click();
  await heading(page, /desk\.example/);
  await page.getByRole('table', { name: 'Subscriptions' }).getByText('sub_desk').waitFor();
  await page.getByRole('link', { name: 'aa.desk.example' }).click();
  await heading(page, /aa\.desk\.example/);
  await page.getByText('192.0.2.9').waitFor();
  await page.getByRole('table', { name: 'Services' }).locator('tbody tr').click();
  await heading(page, /desk\.example/);
  await page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr').click();
  await heading(page, /Subscription \d+/);
});

test('servers are listed in alphabetical order of their host names', async () => {
  const page = await site.open('/admin/servers');
  await rows(page).first().waitFor();
  const names = await page.locator('tbody td:first-child').allTextContents();
  expect(names[0]).toBe('aa.desk.example');
  expect(names).toEqual(names.toSorted());
});

test('the page of an offer links to the invoice made from it', async () => {
  const page = await site.open('/admin/sales-documents?customer=K-DESK&type=offer');
  await rows(page).click();
  await heading(page, /Offer AN-DESK/);
  await page.getByRole('link', { name: 'DESK-1, overdue' }).click();
  await heading(page, /Invoice DESK-1/);
});

test('staff can confirm that a customer created from Stripe is new', async () => {
  const page = await site.open('/admin');
  await page.getByRole('link', { name: /created from Stripe/ }).click();
  await page.waitForURL(`${site.url}/admin/subscriptions/stripe-customers`);
  await rows(page).filter({ hasText: 'Desk <i>' }).click();
  await page.getByRole('button', { name: 'It is a new customer' }).click();
  await page.getByRole('status').filter({ hasText: 'It is linked to Desk <i>.' }).waitFor();
  await page.getByText('Decision by staff').waitFor();
  await visit(page, `${site.url}/admin/subscriptions/stripe-customers`);
  await rows(page).first().waitFor();
  expect(await rows(page).filter({ hasText: 'Desk <i>' }).count()).toBe(0);
});

test('staff can confirm several proposed links of Stripe customers at once', async () => {
  const page = await site.open('/admin');
  await page.getByRole('link', { name: /^\d+ Stripe customers share an e-mail address/ }).click();
  await heading(page, /Links to confirm/);
  const proposed = page.getByRole('checkbox');
  const count = await proposed.count();
  expect(count).toBeGreaterThan(1);
  await proposed.first().uncheck();
  await page.getByRole('button', { name: 'Confirm selected' }).click();
  await page.getByRole('status').filter({ hasText: 'confirmed.' }).waitFor();
  await expect.poll(() => proposed.count()).toBe(1);
  await page.getByRole('main').getByRole('link', { name: /^cus_/ }).click();
  await page.getByRole('button', { name: /same e-mail/ }).click();
  await page.getByText('Decision by staff').waitFor();
});

describe('the overview page', () => {
  test('the overview shows the money received in the chosen period and currency', async () => {
    const page = await site.open('/admin');
    const chart = page.getByRole('list', { name: /^Money received by (day|week) over/ });
    const sum = async () =>
      /[€$£¥F][\s\d,.]+ in all/.exec((await chart.getAttribute('aria-label')) ?? '')?.[0];
    await chart.waitFor();
    expect(await chart.getByRole('listitem').count()).toBe(30);
    const month = await sum();
    await page.getByRole('navigation', { name: 'Period' }).getByRole('link', { name: '365 days' }).click();
    await expect.poll(() => chart.getByRole('listitem').count()).toBe(53);
    expect(await sum()).not.toBe(month);
    await page.getByRole('navigation', { name: 'Currency' }).getByRole('link', { name: 'USD' }).click();
    await page.waitForURL(`${site.url}/admin?days=365&currency=usd`);
    await expect.poll(() => chart.getAttribute('aria-label')).toMatch(/over 365 days: .*US\$/);
    expect(await chart.getByRole('listitem').first().textContent()).toMatch(
      /^Week from \d+ \w+ \d{4}: US\$[\d,.]+, \d+ payments?/,
    );
  });

  test('the counts on the overview link to their lists', async () => {
    const page = await site.open('/admin');
    await page.getByRole('link', { name: /^Active\s*\d+$/ }).click();
    await page.waitForURL(`${site.url}/admin/subscriptions?status=active`);
    await page.goBack();
    await page.getByRole('link', { name: 'Overdue invoices' }).click();
    await page.waitForURL(`${site.url}/admin/overdue/invoices`);
  });
});

describe('forms of records', () => {
  test('staff can create and edit a customer and a service', async () => {
    const page = await site.open('/admin/customers');
    await page.getByRole('link', { name: 'New customer' }).click();
    await page.waitForURL(`${site.url}/admin/customers/new`);
    await field(page, 'Company').fill('Neu & Söhne');
    await page.getByRole('combobox', { name: 'Country' }).fill('Austri');
    await page.getByRole('option', { name: 'Austria · AT' }).click();
    expect(await page.getByRole('combobox', { name: 'Country' }).inputValue()).toBe('Austria');
    await field(page, 'Exempt from tax').check();
    await press(page, 'Create customer');
    await told(page, 'The customer is created.');
    expect(page.url()).toMatch(/\/admin\/customers\/\d+\?notice=created$/);
    const number = await page.locator('dt:text-is("Number") + dd').first().textContent();
    expect(number).toMatch(/^K\d+$/);
    await page.getByText('Austria').waitFor();
    await page.getByText(`Created by ${STAFF.email}`).waitFor();

    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.waitForURL(/\/edit$/);
    expect(await field(page, 'Exempt from tax').isChecked()).toBe(true);
    await field(page, 'City').fill('Wien');
    await field(page, 'Exempt from tax').uncheck();
    await press(page, 'Save');
    await told(page, 'Your changes are saved.');
    await page.getByText('City: – → Wien').waitFor();
    await page.getByText('Tax exempt: true → false').waitFor();

    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    expect(await page.getByRole('combobox', { name: 'Country' }).inputValue()).toBe('Austria');
    await page.getByRole('combobox', { name: 'Country' }).fill('Austrai');
    await press(page, 'Save');
    await page
      .getByText('Must be a country by its name or its two letters, such as Germany or DE.')
      .waitFor();
    expect(await page.getByRole('combobox', { name: 'Country' }).inputValue()).toBe('Austrai');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('link', { name: 'Cancel' }).click();

    await page.getByRole('link', { name: 'New service' }).click();
    await page.waitForURL(/\/services\/new\?customer=K\d+$/);
    expect(await page.getByRole('combobox', { name: 'Customer', exact: true }).inputValue()).toBe(number);
    await page.getByLabel('Name').fill('Webhosting L');
    await page.getByLabel('Type').selectOption('hosting');
    await page.getByLabel('Server', { exact: true }).selectOption('form.example.net');
    await page.getByLabel('Status').selectOption('active');
    await page.getByLabel('Price').fill('12,5');
    await press(page, 'Create service');
    await told(page, 'The service is created.');
    await page.getByText('€12.50').first().waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.waitForURL(/\/edit$/);
    expect(await page.getByLabel('Price').inputValue()).toBe('12.50');
    await page.getByLabel('Interval').selectOption('year');
    await press(page, 'Save');
    await told(page, 'Your changes are saved.');
    await page.getByText('a year').first().waitFor();
  });

  test('the form of a service focuses the invalid field and keeps the typed values', async () => {
    const page = await site.open('/admin/services/new?customer=nobody');
    await page.getByLabel('Name').fill('Web');
    await page.getByLabel('Type').selectOption('domain');
    await page.getByLabel('Interval').selectOption('once');
    await page.getByLabel('Price').fill('1,119');
    await field(page, 'Since').fill('2026-02-28');
    await press(page, 'Create service');
    await page.getByText('Can mean 1119 or 1.119: write 1119, or 1.1190.').waitFor();
    await hasFocus(page, 'textbox', 'Price');
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

  test('a customer can be created without JavaScript', async () => {
    const page = await site.open('/admin/customers/new', { javaScriptEnabled: false });
    await press(page, 'Create customer');
    await page.getByText('Must not be empty unless there is a name.').waitFor();
    await field(page, 'Company').fill('Plain');
    await press(page, 'Create customer');
    await page.getByText('The customer is created.').waitFor();
  });
});

test('a customer form typed before the session expired is restored after signing in', async () => {
  const page = await site.open(`/admin/customers/${site.facts.form.customer}/edit`, { own: true });
  await field(page, 'E-mail').fill('new@form.example');
  await endSession(page);
  await press(page, 'Save');
  await page.waitForURL(/\/sign-in\?next=/);
  await signIn(page);
  await page.waitForURL(`${site.url}/admin/customers/${site.facts.form.customer}/edit`);
  await told(page, 'What you typed is restored here.');
  expect(await field(page, 'E-mail').inputValue()).toBe('new@form.example');
  await press(page, 'Save');
  await told(page, 'Your changes are saved.');
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await page.waitForURL(/\/edit$/);
  expect(await field(page, 'E-mail').inputValue()).toBe('new@form.example');
  expect(await page.getByText('is restored here').count()).toBe(0);
});

test('a server can be created by keyboard alone', async () => {
  const page = await site.open('/admin/servers/new');
  await page.getByLabel('Host name').focus();
  await page.keyboard.type('keys.example.net');
  await tabTo(page, 'textbox', 'IPv4 addresses');
  await page.keyboard.type('192.0.2.4 192.0.2');
  await tabTo(page, 'textbox', 'Cores');
  await page.keyboard.type('16');
  await page.keyboard.press('Enter');
  await page.getByText('Must be IPv4 addresses.').waitFor();
  await hasFocus(page, 'textbox', 'IPv4 addresses');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('.5');
  await tabTo(page, 'textbox', /^Storage/);
  await page.keyboard.press('Enter');
  await told(page, 'The server is created.');
  await page.getByText('192.0.2.4, 192.0.2.5').first().waitFor();
});

describe('status changes and notes', () => {
  test('the page of a suspended service shows the status change', async () => {
    const page = await site.open(`/admin/services/${site.facts.form.service}`);
    await press(page, 'Cancel service');
    const dialog = page.getByRole('dialog', { name: 'Cancel this service?' });
    await dialog.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await confirm(page, 'Suspend');
    await told(page, 'The service is suspended.');
    await page.getByText('Status: Active → Suspended').waitFor();
    expect(
      await page.getByRole('button', { name: 'Suspend', exact: true, includeHidden: true }).count(),
    ).toBe(0);
    await inMenu(page, 'button', 'Resume').waitFor({ state: 'attached' });
  });

  test('a status change of a server from an outdated page is refused', async () => {
    const page = await site.open(`/admin/servers/${site.facts.form.server}`);
    const other = await site.open(`/admin/servers/${site.facts.form.server}`);
    await confirm(other, 'Start maintenance');
    await told(other, 'The server is in maintenance.');
    await confirm(page, 'Decommission');
    await page.getByRole('alert').filter({ hasText: 'nothing was saved' }).waitFor();
    await inMenu(page, 'button', 'Back to active').waitFor({ state: 'attached' });
  });

  test('only a customer without other records can be deleted', async () => {
    const page = await site.open(`/admin/customers/${site.facts.form.customer}`);
    await page.getByText('Other records refer to this customer, so it cannot be deleted.').waitFor();
    expect(await page.getByRole('button', { name: 'Delete', includeHidden: true }).count()).toBe(0);
    const alone = await site.open(`/admin/customers/${site.facts.form.alone}`);
    await confirm(alone, 'Delete', 'Delete customer');
    await told(alone, 'The customer is deleted.');
    expect(new URL(alone.url()).pathname).toBe('/admin/customers');
  });
});

test('a note on a customer appears in the timeline with its author', async () => {
  const page = await site.open(`/admin/customers/${site.facts.form.customer}`, { own: true });
  await page.getByRole('textbox', { name: 'Note' }).fill('  ');
  await press(page, 'Add note');
  await page.getByText('Must not be empty.').waitFor();
  await page.getByRole('textbox', { name: 'Note' }).fill('Called.\nWill pay on Friday.');
  await press(page, 'Add note');
  await told(page, 'The note is added.');
  const entry = page.locator('#timeline li').first();
  await expect.poll(() => entry.textContent()).toContain(`Note by ${STAFF.email}`);
  expect(await entry.textContent()).toContain('Called.\nWill pay on Friday.');
  expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('');
  // A note that was typed before the session expired is restored after signing in.
  await page.getByRole('textbox', { name: 'Note' }).fill('Paid.');
  await endSession(page);
  await press(page, 'Add note');
  await signIn(page);
  await page.waitForURL(`${site.url}/admin/customers/${site.facts.form.customer}`);
  await expect.poll(() => page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('Paid.');
});
