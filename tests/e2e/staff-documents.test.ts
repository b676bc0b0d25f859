import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { visit } from './support/browser';
import {
  confirm,
  endSession,
  fillLine,
  hasFocus,
  line,
  press,
  signIn,
  tabTo,
  told,
  use,
} from './support/forms';
import { violationsOf } from './support/looks';
import { Fields, listServerActions, postAction } from './support/server-actions';
import { useSite } from './support/use-site';

const DOCUMENTS = '/admin/sales-documents';
const INVOICES = '/admin/invoices';

const site = useSite('company');

/** Connects the official MCP client to the site. @returns functions that call a tool and disconnect */
async function connectTools() {
  const client = new Client({ name: 'test-client', version: '1.0.0' });
  const headers = { authorization: `Bearer ${site.facts.toolsToken}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', site.url), { requestInit: { headers } }),
  );
  const call = async (name: string, args: Record<string, unknown>): Promise<unknown> =>
    (await client.callTool({ name, arguments: args })).structuredContent;
  return { call, close: () => client.close() };
}

async function draft(page: Page, kind = INVOICES) {
  await visit(page, `${site.url}${kind}/new?customer=K-DOC`);
  await fillLine(page, 1, 'Hosting', '10');
  await press(page, 'Save draft');
  await told(page, 'The draft is saved.');
  return new URL(page.url()).pathname;
}

test('the MCP tools show each step from a new customer to a paid invoice', async () => {
  const page = await site.open('/admin/customers/new');
  const tools = await connectTools();
  await page.getByLabel('Company').fill('Alpenblick Hosting');
  await press(page, 'Create customer');
  await told(page, 'The customer is created.');
  const customerPage = page.url();
  const found = {
    matches: [{ name: 'Alpenblick Hosting', customer_number: expect.stringMatching(/^K\d+$/) }],
  };
  const matches = await tools.call('find-customer-tool', { query: 'Alpenblick' });
  expect(matches).toMatchObject(found);
  const { customer_number } = (matches as typeof found).matches[0] ?? { customer_number: '' };
  const customer_id = Number(/customers\/(\d+)/.exec(customerPage)?.[1]);

  await page.getByRole('link', { name: 'New service' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Webhosting M');
  await page.getByLabel('Type').selectOption('hosting');
  await page.getByRole('textbox', { name: 'Price' }).fill('9,90');
  await press(page, 'Create service');
  await told(page, 'The service is created.');
  expect(await tools.call('list-services-tool', { customer_id })).toMatchObject({
    total: 1,
    data: [{ name: 'Webhosting M', price: 9.9, status: 'draft' }],
  });

  await visit(page, customerPage);
  await page.getByRole('link', { name: 'New offer' }).click();
  await page.waitForURL(`${site.url}${DOCUMENTS}/new?customer=${customer_number}`);
  expect(await page.getByRole('combobox', { name: 'Customer', exact: true }).inputValue()).toBe(
    customer_number,
  );
  await fillLine(page, 1, 'Dedicated server', '79,90');
  await press(page, 'Add line');
  await fillLine(page, 2, 'Discount', '-9.90');
  await page.getByText('€83.30').waitFor(); // The amount is 70.00 plus 19 % tax.
  await press(page, 'Save draft');
  await told(page, 'The draft is saved.');
  await page.getByRole('heading', { name: /^Offer AN-/ }).waitFor();
  const documents = () => tools.call('list-sales-documents-tool', { customer_id });
  expect(await documents()).toMatchObject({ data: [{ type: 'offer', status: 'draft', total: 83.3 }] });
  await confirm(page, 'Mark as sent');
  await told(page, 'The document is marked as sent. No e-mail was sent.');
  await page.getByText('Status: Draft → Sent').waitFor();
  await page.getByText('1 × Discount at -€9.90, 19 % tax').first().waitFor();
  await confirm(page, 'Mark as accepted');
  await told(page, 'The document is accepted.');
  expect(await documents()).toMatchObject({ data: [{ status: 'accepted' }] });
  await confirm(page, 'Create order confirmation', 'Create');
  await page.getByRole('heading', { name: /^Order confirmation AB-/ }).waitFor();
  await page.getByRole('cell', { name: 'Dedicated server' }).waitFor();
  expect(await documents()).toMatchObject({ total: 2 });
  await confirm(page, 'Mark as sent');
  await told(page, 'The document is marked as sent. No e-mail was sent.');
  await confirm(page, 'Create invoice', 'Create');
  await page.waitForURL(/\/admin\/invoices\/\d+\?notice=created$/);
  await confirm(page, 'Issue');
  await told(page, 'The invoice is issued. No e-mail was sent.');
  await page.getByText('Status: Draft → Sent').waitFor();
  const year = new Date().getUTCFullYear();
  await page.getByRole('heading', { name: new RegExp(`^Invoice ${year}-\\d{6}`) }).waitFor();
  const owed = () => tools.call('list-invoices-tool', { customer_id });
  expect(await owed()).toMatchObject({ data: [{ status: 'sent', total: 83.3, amount_due: 83.3 }] });
  await page.getByRole('link', { name: 'Record payment' }).click();
  expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('83.30');
  await page.getByLabel('Reference').fill('DOC-1');
  await press(page, 'Record payment');
  await told(page, 'The payment is recorded.');
  expect(await owed()).toMatchObject({ data: [{ status: 'paid', amount_paid: 83.3, amount_due: 0 }] });
  expect(await tools.call('get-customer-tool', { customer_number })).toMatchObject({
    unpaid_invoices: { count: 0 },
  });
  await tools.close();
});

test('a document of each kind can be opened within two clicks from the overview', async () => {
  const page = await site.open('/admin');
  for (const [list, kind] of [
    ['Invoices', ''],
    ['Credit notes', 'Credit note'],
    ['Credit notes', 'Cancellation'],
    ['Sales documents', 'Offer'],
    ['Sales documents', 'Order confirmation'],
  ] as const) {
    await visit(page, `${site.url}/admin`);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: list }).click();
    const pdf = page
      .getByRole('row')
      .filter({ hasText: kind })
      .getByRole('link', { name: /^PDF of / });
    const [file] = await Promise.all([page.waitForEvent('download'), pdf.last().click()]);
    expect(file.suggestedFilename()).toMatch(/\.pdf$/);
  }
});

test('the PDF link of an invoice without a document opens the page that names the missing fields', async () => {
  const page = await site.open('/admin');
  const path = await draft(page);
  await confirm(page, 'Issue');
  await told(page, 'The invoice is issued. No e-mail was sent.');
  await visit(page, `${site.url}${INVOICES}?number=%23${path.split('/').at(-1)}`);
  await page.getByRole('link', { name: /^PDF of / }).click();
  await page.waitForURL(site.url + path);
  await page.getByText('The invoice has no document yet.').waitFor();
});

test('links to files of a Stripe invoice lead to Stripe, or back to the invoice with a notice', async () => {
  const [invoice, own] = await site.inspect((db) =>
    rows<{ id: number; stripe: string | null }>(
      db,
      sql`select distinct on (stripe_invoice_id is null) id, stripe_invoice_id as stripe from invoices
        where status = 'paid' order by stripe_invoice_id is null, id`,
    ),
  );
  if (!invoice) throw new Error('the sample company has invoices of Stripe');
  const page = await site.open(`${INVOICES}/${invoice.id}`);
  const addresses = [];
  for (const name of ['PDF', 'page for the customer']) {
    const path = await page.getByRole('link', { name, exact: true }).getAttribute('href');
    const { status, headers } = await site.fetch(path ?? '');
    addresses.push([status, headers.get('location')]);
  }
  const atStripe = `https://pay.stripe.com/invoice/acct_local/${invoice.stripe}`;
  expect(addresses).toEqual([
    [303, `${atStripe}/pdf`],
    [303, atStripe],
  ]);
  await visit(page, `${site.url}${INVOICES}/${own?.id}/stripe`);
  await page.getByText('Stripe does not provide this file').waitFor();
  expect((await site.fetch(`${INVOICES}/${invoice.id}/stripe`, { as: null })).status).not.toBe(303);
});

describe('drafts of documents', () => {
  test('the form of a draft focuses the invalid field and keeps the typed values', async () => {
    const page = await site.open(`${DOCUMENTS}/new`);
    await page.getByLabel('Type').selectOption('order_confirmation');
    await page.getByRole('combobox', { name: 'Customer', exact: true }).fill('nobody');
    await fillLine(page, 1, 'One', '1.00');
    await press(page, 'Add line');
    await fillLine(page, 2, 'Two', '1,000');
    await press(page, 'Add line');
    await press(page, 'Remove line 1');
    await fillLine(page, 2, 'Three', '3');
    await press(page, 'Save draft');
    await line(page, 1).getByText('Can mean 1000 or 1: write 1000, or 1.00.').waitFor();
    await hasFocus(page, 'textbox', 'Price without tax');
    expect(await violationsOf(page, 'all')).toEqual([]);
    expect(await line(page, 1).getByLabel('Price without tax').inputValue()).toBe('1,000');
    expect(await line(page, 2).getByLabel('Text').inputValue()).toBe('Three');
    expect(await page.getByLabel('Type').inputValue()).toBe('order_confirmation');
    await line(page, 1).getByLabel('Price without tax').fill('1000');
    await press(page, 'Save draft');
    await page.getByText('Is not a known customer.').waitFor();
    await hasFocus(page, 'combobox', 'Customer');
  });

  test('choosing a customer in a draft sets the currency and the tax rate', async () => {
    const page = await site.open('/admin/customers/new');
    await page.getByLabel('Customer number').fill('K-FREE');
    await page.getByLabel('Company').fill('Freibrief Verein');
    await page.getByRole('combobox', { name: 'Currency' }).fill('chf');
    await page.getByLabel('Exempt from tax').check();
    await press(page, 'Create customer');
    await told(page, 'The customer is created.');
    await visit(page, `${site.url}${INVOICES}/new`);
    const rate = line(page, 1).getByLabel('Tax in %');
    expect(await rate.inputValue()).toBe('19');
    await page.getByRole('combobox', { name: 'Customer', exact: true }).fill('freibr');
    await page.getByRole('option', { name: 'K-FREE · Freibrief Verein' }).click();
    await page.getByText('0 % tax: The customer is exempt from tax.').waitFor();
    expect(await rate.inputValue()).toBe('0');
    expect(await page.getByRole('combobox', { name: 'Currency' }).inputValue()).toBe('CHF');
    await fillLine(page, 1, 'Membership', '1.500,00');
    await rate.fill('19');
    await told(page, 'The usual rate is 0 %, but line 1 has 19 %. Check it before you save.');
    expect(await violationsOf(page)).toEqual([]);
    await press(page, 'Save draft');
    await told(page, 'The draft is saved.');
    await page.getByText('The usual rate is 0 %, but line 1 has 19 %.').waitFor();
    await use(page, 'link', 'Edit');
    await page.getByText('Freibrief Verein').first().waitFor();
    await rate.fill('0');
    await press(page, 'Save draft');
    await told(page, 'Your changes are saved.');
    await page.getByText('The customer is exempt from tax.').waitFor();
    await page.getByText('CHF 1,500.00').first().waitFor();
  });

  test('lines of a draft can be added, moved and removed by keyboard alone', async () => {
    const page = await site.open(`${INVOICES}/new?customer=K-DOC`);
    const type = async (text: string, price: string) => {
      await page.keyboard.type(text);
      for (const _ of ['quantity', 'price']) await page.keyboard.press('Tab');
      await page.keyboard.type(price);
    };
    await tabTo(page, 'textbox', 'Text');
    await type('Second', '2');
    await tabTo(page, 'button', 'Add line');
    await page.keyboard.press('Enter');
    await hasFocus(page, 'textbox', 'Text', 1);
    await type('First', '1');
    await tabTo(page, 'button', 'Move line 2 up');
    await page.keyboard.press('Enter');
    await hasFocus(page, 'button', 'Move line 1 up');
    await page.keyboard.press('Enter'); // The line is already the first, so this changes nothing.
    await tabTo(page, 'button', 'Add line');
    await page.keyboard.press('Enter');
    await hasFocus(page, 'textbox', 'Text', 2);
    await tabTo(page, 'button', 'Remove line 3');
    await page.keyboard.press('Enter');
    await hasFocus(page, 'button', 'Add line');
    expect(await violationsOf(page)).toEqual([]);
    await tabTo(page, 'button', 'Save draft');
    await page.keyboard.press('Enter');
    await told(page, 'The draft is saved.');
    const rows = page.getByRole('table', { name: 'Lines' }).getByRole('row');
    expect(await rows.allTextContents()).toEqual([
      expect.stringContaining('Text'),
      expect.stringMatching(/^First/),
      expect.stringMatching(/^Second/),
    ]);
  });

  test('a conflict between two editors of a draft shows both versions', async () => {
    const page = await site.open(INVOICES);
    const other = await site.open(INVOICES);
    const path = await draft(page);
    await visit(other, `${site.url}${path}/edit`);
    await visit(page, `${site.url}${path}/edit`);
    await fillLine(page, 1, 'Hosting, first', '11');
    await page.getByLabel('Due').fill('2099-12-31');
    await press(page, 'Save draft');
    await told(page, 'Your changes are saved.');
    await fillLine(other, 1, 'Hosting, second', '12');
    await press(other, 'Add line');
    await fillLine(other, 2, 'More', '1');
    await press(other, 'Save draft');
    const alert = other.getByRole('alert').filter({ hasText: 'Someone else changed this in the meantime' });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(
      /Due: stored now: 2099-12-31; you had not changed it.*Lines: stored now: 1 × Hosting, first at 11\.00, 19 % tax; you typed: 1 × Hosting, second at 12, 19 % tax; 1 × More/,
    );
    expect(await violationsOf(other)).toEqual([]);
    expect(await line(other, 2).getByLabel('Text').inputValue()).toBe('More');
    await press(other, 'Save draft');
    await told(other, 'Your changes are saved.');
    await other.getByRole('cell', { name: 'Hosting, second' }).waitFor();
    await other.getByText('31 Dec 2099').first().waitFor();
  });

  test('a draft typed before the session expired is restored after signing in', async () => {
    const page = await site.open(`${DOCUMENTS}/new?customer=K-DOC`, { own: true });
    await fillLine(page, 1, 'One', '1');
    await press(page, 'Add line');
    await fillLine(page, 2, 'Two', '2');
    await endSession(page);
    await press(page, 'Save draft');
    await page.waitForURL(/\/sign-in\?next=/);
    await signIn(page);
    await told(page, 'What you typed is restored here.');
    expect(await page.getByRole('combobox', { name: 'Customer', exact: true }).inputValue()).toBe('K-DOC');
    expect(await line(page, 2).getByLabel('Text').inputValue()).toBe('Two');
    await page.getByText('€3.57').waitFor();
    await press(page, 'Save draft');
    await told(page, 'The draft is saved.');
    await page.getByRole('cell', { name: 'Two' }).waitFor();
  });

  test('deleting an already deleted draft from an outdated page reports it as deleted', async () => {
    const page = await site.open(INVOICES);
    for (const kind of [INVOICES, DOCUMENTS]) {
      const path = await draft(page, kind);
      const other = await site.open(path);
      await confirm(page, 'Delete', 'Delete draft');
      await told(page, 'The draft is deleted.');
      expect(new URL(page.url()).pathname).toBe(kind);
      await confirm(other, 'Delete', 'Delete draft');
      await told(other, 'The draft is deleted.');
    }
  });

  test('an outdated page can neither issue nor delete an invoice that was issued meanwhile', async () => {
    const page = await site.open(INVOICES);
    const path = await draft(page);
    const [sender, deleter] = [await site.open(path), await site.open(path)];
    await confirm(page, 'Issue');
    await told(page, 'The invoice is issued. No e-mail was sent.');
    for (const [old, button, answer] of [
      [sender, 'Issue', 'Issue'],
      [deleter, 'Delete', 'Delete draft'],
    ] as const) {
      await confirm(old, button, answer);
      await old.getByRole('alert').filter({ hasText: 'Someone else changed this' }).waitFor();
    }
    await use(page, 'link', 'Change due date');
    await page.getByRole('textbox', { name: 'Due' }).fill('2020-01-01');
    await press(page, 'Change due date');
    await page.getByText('Must not be before the date of the invoice.').waitFor();
    await page.getByRole('textbox', { name: 'Due' }).fill('2099-12-31');
    await press(page, 'Change due date');
    await told(page, 'Your changes are saved.');
    await page.getByText('31 Dec 2099').first().waitFor();
    await confirm(page, 'Cancel invoice');
    await told(page, 'The invoice is cancelled, and its cancellation is issued.');
    expect(await page.getByRole('button', { name: /Issue|Delete|Cancel/, includeHidden: true }).count()).toBe(
      0,
    );
  });
});

test('forged form fields cannot set the status or number of an invoice', async () => {
  const page = await site.open(INVOICES);
  const id = Number((await draft(page)).split('/').at(-1));
  await confirm(page, 'Issue');
  await told(page, 'The invoice is issued. No e-mail was sent.');
  const built = listServerActions('1');
  const call = async (name: string, args: unknown[]) => {
    const action = built.find((one) => one.name === `app/admin/_components/forms/record/actions.ts#${name}`);
    if (!action) throw new Error(`${name} is not built`);
    const answer = await postAction(site.url, action, args, { cookie: await site.cookie() });
    return answer.headers.get('x-action-redirect')?.split(';')[0] ?? answer.status;
  };
  const state = { typed: {}, problems: {}, opened: null, theirs: null, isAnswer: false };
  const lines = {
    'lines.0.text': 'A',
    'lines.0.quantity': '1',
    'lines.0.unit_price': '1',
    'lines.0.tax_rate': '0',
  };
  const forged = {
    customer_number: 'K-DOC',
    currency: 'EUR',
    status: 'paid',
    number: 'FORGED',
    amount_paid: '1',
    ...lines,
  };
  const made = await call('save', ['new_invoice', null, state, new Fields(forged)]);
  expect(made).toMatch(/\/admin\/invoices\/\d+\?notice=created$/);
  await visit(page, site.url + made);
  await page.getByRole('button', { name: 'Issue' }).waitFor(); // The invoice is still a draft, without a number.
  expect(await page.getByText('FORGED').count()).toBe(0);
  for (const version of [0, 1]) {
    expect(await call('step', ['invoice', id, version, 'send'])).toMatch(
      /notice=(precondition|validation)_failed/,
    );
    expect(await call('remove', ['invoice', id, version])).toMatch(/notice=(precondition|validation)_failed/);
    const opened = JSON.stringify({ version, typed: {} });
    const changed = new Fields({ ...forged, opened });
    // The status is 200 because the form shows the error.
    expect(await call('save', ['invoice', id, state, changed])).toBe(200);
  }
  expect(await call('step', ['invoice', id, 1, 'constructor'])).toMatch(/notice=validation_failed/);
  for (const args of [
    ['nothing', id, 0, 'send'],
    ['constructor', id, 0, 'send'],
    ['invoice', 'x', 0, 'send'],
    ['invoice', 99_999_999_999, 0, 'send'],
    ['invoice', id, { gt: 0 }, 'send'],
  ]) {
    expect([args, await call('step', args)]).toEqual([args, 404]);
    expect([args, await call('remove', args.slice(0, 3))]).toEqual([args, 404]);
  }
  expect(await call('save', ['invoice', '1 or 1', state, new Fields(forged)])).toBe(404);
  expect(await call('save', ['toString', null, state, new Fields(forged)])).toBe(404);
  await visit(page, `${site.url}${INVOICES}/${id}`);
  await page.getByRole('cell', { name: 'Hosting' }).waitFor();
});
