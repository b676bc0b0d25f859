import { sql } from 'drizzle-orm';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { rows } from '@/db/database';
import { visit } from './support/browser';
import {
  confirm,
  endSession,
  fill,
  fillLine,
  follow,
  hasFocus,
  line,
  link,
  press,
  pressAndSee,
  rows as rowsOf,
  see,
  seeAlert,
  seeHeading,
  signIn,
  tabTo,
  told,
  use,
  valuesOf,
} from './support/forms';
import { violationsOf } from './support/looks';
import { Fields, listServerActions, postAction } from './support/server-actions';
import { useSite } from './support/use-site';

const DOCUMENTS = '/admin/sales-documents';
const INVOICES = '/admin/invoices';

const site = useSite('company');

const customerOf = (page: Page) => page.getByRole('combobox', { name: 'Customer', exact: true });

const saveDraft = (page: Page, message = 'The draft is saved.') => press(page, 'Save draft', message);
const issue = (page: Page) => confirm(page, 'Issue', 'The invoice is issued. No e-mail was sent.');
const markAsSent = (page: Page) =>
  confirm(page, 'Mark as sent', 'The document is marked as sent. No e-mail was sent.');

/** Creates a draft. @returns the path of its page */
async function draft(page: Page, kind = INVOICES): Promise<string> {
  await visit(page, `${site.url}${kind}/new?customer=K-DOC`);
  await fillLine(page, 1, 'Hosting', '10');
  await saveDraft(page);
  return new URL(page.url()).pathname;
}

test('staff can turn an offer to a new customer into an order confirmation, and that into a paid invoice', async () => {
  const page = await site.open('/admin/customers/new');
  await fill(page, { Company: 'Alpenblick Hosting' });
  await press(page, 'Create customer', 'The customer is created.');
  const number = await page.locator('dt:text-is("Number") + dd').first().textContent();
  await follow(page, 'New offer', `${site.url}${DOCUMENTS}/new?customer=${number}`);
  expect(await customerOf(page).inputValue()).toBe(number);
  await fillLine(page, 1, 'Dedicated server', '79,90');
  await press(page, 'Add line');
  await fillLine(page, 2, 'Discount', '-9.90');
  await see(page, '€83.30'); // The amount is 70.00 plus 19 % tax.
  await saveDraft(page);
  await seeHeading(page, /^Offer AN-/);
  await markAsSent(page);
  await see(page, 'Status: Draft → Sent', '1 × Discount at -€9.90, 19 % tax');
  await confirm(page, 'Mark as accepted', 'The document is accepted.');
  await confirm(page, ['Create order confirmation', 'Create']);
  await seeHeading(page, /^Order confirmation AB-/);
  await page.getByRole('cell', { name: 'Dedicated server' }).waitFor();
  await markAsSent(page);
  await confirm(page, ['Create invoice', 'Create']);
  await page.waitForURL(/\/admin\/invoices\/\d+\?notice=created$/);
  await issue(page);
  await see(page, 'Status: Draft → Sent');
  await seeHeading(page, new RegExp(`^Invoice ${site.facts.today.slice(0, 4)}-\\d{6}`));
  const invoicePage = page.url();
  const facts = page.locator('dl').first();
  expect(await facts.textContent()).toMatch(/Total€83\.30.*Open€83\.30/);
  await link(page, 'Record payment').click();
  expect(await valuesOf(page, 'Amount in EUR')).toEqual(['83.30']);
  await fill(page, { Reference: 'DOC-1' });
  await press(page, 'Record payment', 'The payment is recorded.');
  await visit(page, invoicePage);
  expect(await facts.textContent()).toMatch(/Total€83\.30.*Open€0\.00/);
});

test('a PDF of each kind of document can be downloaded with two clicks from the overview', async () => {
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
    const row = page.getByRole('row').filter({ hasText: kind });
    const pdf = row.getByRole('link', { name: /^PDF of / });
    const [file] = await Promise.all([page.waitForEvent('download'), pdf.last().click()]);
    expect(file.suggestedFilename()).toMatch(/\.pdf$/);
  }
});

test('the PDF link of an invoice without a document opens the page of the invoice with a notice', async () => {
  const page = await site.open('/admin');
  const path = await draft(page);
  await issue(page);
  await visit(page, `${site.url}${INVOICES}?number=%23${path.split('/').at(-1)}`);
  await follow(page, /^PDF of /, site.url + path);
  await see(page, 'The invoice has no document yet.');
});

test('file links of a Stripe invoice lead staff to Stripe, and such a link of another invoice shows a notice', async () => {
  const [invoice, own] = await site.inspect((db) =>
    rows<{ id: number; stripe: string | null }>(
      db,
      sql`select distinct on (stripe_invoice_id is null) id, stripe_invoice_id as stripe from invoices
        where status = 'paid' order by stripe_invoice_id is null, id`,
    ),
  );
  const page = await site.open(`${INVOICES}/${invoice?.id}`);
  const atStripe = `https://pay.stripe.com/invoice/acct_local/${invoice?.stripe}`;
  for (const [name, target] of [
    ['PDF', `${atStripe}/pdf`],
    ['page for the customer', atStripe],
  ] as const) {
    const { status, headers } = await site.fetch((await link(page, name).getAttribute('href')) ?? '');
    expect([status, headers.get('location')]).toEqual([303, target]);
  }
  await visit(page, `${site.url}${INVOICES}/${own?.id}/stripe`);
  await see(page, 'Stripe does not provide this file');
  expect((await site.fetch(`${INVOICES}/${invoice?.id}/stripe`, { as: null })).status).not.toBe(303);
});

test('a draft can be saved from a form larger than what Next accepts by default', async () => {
  const page = await site.open(`${INVOICES}/new?customer=K-DOC`);
  await fillLine(page, 1, 'Hosting', '10');
  await page.locator('form:has(fieldset)').evaluate((form) => {
    const padding = Object.assign(document.createElement('input'), { type: 'hidden', name: 'padding' });
    padding.value = 'x'.repeat(1_500_000);
    form.append(padding);
  });
  await saveDraft(page);
});

test('the form of a draft focuses the invalid field and keeps the typed values', async () => {
  const page = await site.open(`${DOCUMENTS}/new`);
  await page.getByLabel('Type').selectOption('order_confirmation');
  await customerOf(page).fill('nobody');
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
  expect(await valuesOf(line(page, 1), 'Price without tax')).toEqual(['1,000']);
  expect(await valuesOf(line(page, 2), 'Text')).toEqual(['Three']);
  expect(await valuesOf(page, 'Type')).toEqual(['order_confirmation']);
  await fill(line(page, 1), { 'Price without tax': '1000' });
  await pressAndSee(page, 'Save draft', 'Is not a known customer.');
  await hasFocus(page, 'combobox', 'Customer');
  expect(await valuesOf(page, 'Type')).toEqual(['order_confirmation']);
});

test('the chosen customer sets the currency and the tax rate of a draft, and another tax rate causes a warning', async () => {
  const page = await site.open(`${INVOICES}/new`);
  const rate = line(page, 1).getByLabel('Tax in %');
  expect(await rate.inputValue()).toBe('19');
  await customerOf(page).fill('freibr');
  await page.getByRole('option', { name: 'K-FREE · Freibrief Verein' }).click();
  await see(page, '0 % tax: The customer is exempt from tax.');
  expect(await rate.inputValue()).toBe('0');
  expect(await page.getByRole('combobox', { name: 'Currency' }).inputValue()).toBe('CHF');
  await fillLine(page, 1, 'Membership', '1.500,00');
  await rate.fill('19');
  await told(page, 'The usual rate is 0 %, but line 1 has 19 %. Check it before you save.');
  expect(await violationsOf(page)).toEqual([]);
  await saveDraft(page);
  await see(page, 'The usual rate is 0 %, but line 1 has 19 %.');
  await use(page, 'link', 'Edit');
  await see(page, 'Freibrief Verein');
  await rate.fill('0');
  await saveDraft(page, 'Your changes are saved.');
  await see(page, 'The customer is exempt from tax.', 'CHF 1,500.00');
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
  expect(await rowsOf(page.getByRole('table', { name: 'Lines' })).allTextContents()).toEqual([
    expect.stringMatching(/^First/),
    expect.stringMatching(/^Second/),
  ]);
});

test('a conflict between two editors of a draft shows both versions, and the next save merges them', async () => {
  const page = await site.open(INVOICES);
  const other = await site.open(INVOICES);
  const path = await draft(page);
  await visit(other, `${site.url}${path}/edit`);
  await visit(page, `${site.url}${path}/edit`);
  await fillLine(page, 1, 'Hosting, first', '11');
  await fill(page, { Due: '2099-12-31' });
  await saveDraft(page, 'Your changes are saved.');
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
  expect(await valuesOf(line(other, 2), 'Text')).toEqual(['More']);
  await saveDraft(other, 'Your changes are saved.');
  await other.getByRole('cell', { name: 'Hosting, second' }).waitFor();
  await see(other, '31 Dec 2099');
});

test('a draft typed before the session expired is restored once after signing in', async () => {
  const path = `${DOCUMENTS}/new?customer=K-DOC`;
  const page = await site.open(path, { own: true });
  await fillLine(page, 1, 'One', '1');
  await press(page, 'Add line');
  await fillLine(page, 2, 'Two', '2');
  await endSession(page);
  await press(page, 'Save draft');
  await page.waitForURL(/\/sign-in\?next=/);
  await signIn(page);
  await page.waitForURL(site.url + path);
  await told(page, 'What you typed is restored here.');
  expect(await customerOf(page).inputValue()).toBe('K-DOC');
  expect(await valuesOf(line(page, 2), 'Text')).toEqual(['Two']);
  await see(page, '€3.57');
  await saveDraft(page);
  await page.getByRole('cell', { name: 'Two' }).waitFor();
  await visit(page, site.url + path);
  expect(await valuesOf(line(page, 1), 'Text')).toEqual(['']);
  expect(await page.getByText('is restored here').count()).toBe(0);
});

test('deleting an already deleted draft from an outdated page reports it as deleted', async () => {
  const page = await site.open(INVOICES);
  for (const kind of [INVOICES, DOCUMENTS]) {
    const path = await draft(page, kind);
    const other = await site.open(path);
    await confirm(page, ['Delete', 'Delete draft'], 'The draft is deleted.');
    expect(new URL(page.url()).pathname).toBe(kind);
    await confirm(other, ['Delete', 'Delete draft'], 'The draft is deleted.');
  }
});

test('an issued invoice can get another due date and be cancelled, but not be issued or deleted from an outdated page', async () => {
  const page = await site.open(INVOICES);
  const path = await draft(page);
  await use(page, 'link', 'Edit');
  await fill(page, { Date: '2099-01-01', Due: '2099-12-30' });
  await saveDraft(page, 'Your changes are saved.');
  await confirm(page, 'Issue');
  await seeAlert(page, 'Invoice date: must not be in the future when the invoice is issued.');
  await see(
    page,
    'Its date is 1 Jan 2099, and it is due on 30 Dec 2099. To change this, edit the draft first.',
  );
  await press(page, 'Cancel');
  await use(page, 'link', 'Edit');
  await fill(page, { Date: '2026-01-01' });
  await saveDraft(page, 'Your changes are saved.');
  const [sender, deleter] = [await site.open(path), await site.open(path)];
  await issue(page);
  for (const [old, button, answer] of [
    [sender, 'Issue', 'Issue'],
    [deleter, 'Delete', 'Delete draft'],
  ] as const) {
    await confirm(old, [button, answer]);
    await old.getByRole('alert').filter({ hasText: 'Someone else changed this' }).waitFor();
  }
  await use(page, 'link', 'Change due date');
  await fill(page, { Due: '2020-01-01' });
  await pressAndSee(page, 'Change due date', 'Must not be before the date of the invoice.');
  await fill(page, { Due: '2099-12-31' });
  await press(page, 'Change due date', 'Your changes are saved.');
  await see(page, '31 Dec 2099');
  await confirm(page, 'Cancel invoice', 'The invoice is cancelled, and its cancellation is issued.');
  const changes = page.getByRole('button', { name: /Issue|Delete|Cancel/, includeHidden: true });
  expect(await changes.count()).toBe(0);
});

test('the server actions for records refuse invalid arguments and changes of an issued invoice', async () => {
  const page = await site.open(INVOICES);
  const id = Number((await draft(page)).split('/').at(-1));
  await issue(page);
  const built = listServerActions('1');
  const call = async (name: string, ...args: unknown[]) => {
    const action = built.find((one) => one.name === `app/admin/_components/forms/record/actions.ts#${name}`);
    if (!action) throw new Error(`${name} is not built`);
    const answer = await postAction(site.url, action, args, { cookie: await site.cookie() });
    const redirect = answer.headers.get('x-action-redirect')?.split(';')[0];
    return redirect ?? /"problem":"(.*?)"/.exec(await answer.text())?.[1] ?? answer.status;
  };
  for (const args of [
    ['nothing', id, 0],
    ['constructor', id, 0],
    ['invoice', 'x', 0],
    ['invoice', 99_999_999_999, 0],
    ['invoice', id, { gt: 0 }],
  ]) {
    const answers = [await call('step', ...args, 'send'), await call('remove', ...args)];
    expect([args, ...answers]).toEqual([args, 404, 404]);
  }
  for (const name of ['constructor', 'send'])
    expect(await call('step', 'invoice', id, 1, name)).toBe('Status: does not allow this step: sent.');
  expect(await call('remove', 'invoice', id, 1)).toBe(
    'The invoice was issued: cancel it instead of deleting it.',
  );
  const state = { typed: {}, problems: {}, opened: null, theirs: null, isAnswer: false };
  const forged = new Fields({
    ...{ customer_number: 'K-DOC', currency: 'EUR', opened: JSON.stringify({ version: 1, typed: {} }) },
    ...{ 'lines.0.text': 'A', 'lines.0.quantity': '1', 'lines.0.unit_price': '1', 'lines.0.tax_rate': '0' },
  });
  expect(await call('save', 'invoice', '1 or 1', state, forged)).toBe(404);
  expect(await call('save', 'toString', null, state, forged)).toBe(404);
  // The status is 200 because the form shows the error.
  expect(await call('save', 'invoice', id, state, forged)).toBe(200);
  await page.reload();
  await page.getByRole('cell', { name: 'Hosting' }).waitFor();
});
