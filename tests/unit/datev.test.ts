import { expect, test } from 'vitest';
import type { Entry } from '@/lib/exports/accounting-csv';
import { type AccountingSettings, PRESETS } from '@/lib/exports/accounting-settings';
import {
  COLUMNS,
  headerLine,
  type InvoiceTax,
  postingLine,
  taxesOfTotals,
  toPosting,
  toWindows1252,
} from '@/lib/exports/datev';

const settings: AccountingSettings = {
  ...{ consultant_number: '1001', client_number: '7', fiscal_year_month: 1, account_length: 4 },
  accounts: PRESETS.skr03,
};
const HOME = { country: 'DE', small_business: false };
const ENTRY: Entry = {
  ...{ id: 1, record: 'invoice', invoice_id: 5, payment_id: null, transfer_id: null, reverses: null },
  ...{ booked_on: '2026-10-07', original_date: '2026-10-07', due_date: null },
  ...{ customer_number: 'K-00123', customer_name: 'Müller GmbH', customer_country: 'DE' },
  ...{ customer_vat_id: null, invoice_number: 'R2026-17', credit_note_number: null },
  ...{ payment_reference: null, method: null },
  ...{ tax_rate: '19', net: '100', tax: '19', gross: '119', currency: 'eur', created_at: new Date(0) },
};
type Accounts = AccountingSettings['accounts'];
const S19: InvoiceTax[] = [{ rate: 19, category: 'S' }];
const S7: InvoiceTax = { rate: 7, category: 'S' };
const untaxed = (category: InvoiceTax['category']): InvoiceTax => ({ rate: 0, category });
const posted = (entry: Partial<Entry>, taxes = S19, accounts: Accounts = PRESETS.skr03) => {
  const basis = { settings: { ...settings, accounts }, company: HOME, shared: new Map() };
  return toPosting({ ...ENTRY, ...entry }, taxes, basis);
};

const MONEY = { tax_rate: null, net: null, tax: null };
const SWISS = {
  ...{ customer_country: 'CH', customer_vat_id: 'CHE123456789MWST', tax_rate: '0', gross: '80' },
};
const ABROAD = { customer_country: 'AT', customer_vat_id: 'ATU 00000001', tax_rate: '0', gross: '80' };

test.each<[string, Partial<Entry>, InvoiceTax[], string]>([
  ['an invoice', {}, S19, '119,00 S 1410 8400'],
  ['a cancelled invoice', { gross: '-119', reverses: 1 }, S19, '119,00 H 1410 8400'],
  ['an invoice at 7 %', { tax_rate: '7', gross: '7.5' }, [S7], '7,50 S 1410 8300'],
  ['an invoice under reverse charge', ABROAD, [untaxed('AE')], '80,00 S 1410 8336'],
  ['an invoice under reverse charge outside the EU', SWISS, [untaxed('AE')], '80,00 S 1410 8338'],
  ['an untaxed invoice without a stored category', ABROAD, [], '80,00 S 1410 8336'],
  ['a credit', { ...MONEY, record: 'credit', gross: '-19' }, S19, '19,00 H 1410 8400'],
  ['a write-off', { ...MONEY, record: 'write_off', gross: '-119' }, S19, '119,00 H 1410 2406'],
  ['a payment by Stripe', { ...MONEY, record: 'payment', method: 'stripe' }, [], '119,00 H 1410 1360'],
  ['a payment by staff', { ...MONEY, record: 'payment', method: 'staff' }, [], '119,00 H 1410 1200'],
  ['a refund', { ...MONEY, record: 'refund', method: 'stripe', gross: '-5' }, [], '5,00 S 1410 1360'],
  ['a used balance', { ...MONEY, record: 'balance' }, [], '119,00 H 1410 1700'],
  ['an amount paid elsewhere', { ...MONEY, record: 'paid_elsewhere' }, [], '119,00 H 1410 1590'],
])('%s is posted to the DATEV accounts for its kind', (_, entry, taxes, expected) => {
  const found = posted(entry, taxes);
  const text = 'amount' in found && `${found.amount} ${found.side} ${found.account} ${found.contra}`;
  expect(text).toBe(expected);
});

const several = (what: string) => ({ leftOut: expect.stringContaining(`several ${what}`) });
test.each<[string, Partial<Entry>, InvoiceTax[], object]>([
  ['in another currency', { currency: 'chf' }, S19, { leftOut: 'Invoice R2026-17: its currency is CHF.' }],
  ['with a rate without account', { tax_rate: '20' }, [], { missing: 'a line “S 20” in Revenue accounts' }],
  ['without a tax rate', { tax_rate: null }, [], { leftOut: expect.stringContaining('fit no tax rate') }],
  ['that credits two tax rates', { ...MONEY, record: 'credit' }, [...S19, S7], several('tax rates')],
  ['of two categories', { tax_rate: '0' }, [untaxed('E'), untaxed('Z')], several('tax categories')],
])('an accounting entry %s is left out of the DATEV file with a reason', (_, entry, taxes, expected) => {
  expect(posted(entry, taxes)).toEqual(expected);
});

test.each([
  ['K-00123', '10123'],
  ['42', '10042'],
  ['K-999999', null],
  ['K-60001', null], // The account 70001 belongs to a creditor.
  ['ACME', null],
])('the customer %s has the DATEV debtor account %s', (customer_number, account) => {
  const { debtor: _, ...others } = PRESETS.skr03;
  const found = posted({ customer_number }, S19, { ...others, 'debtor base': '10000' });
  expect('account' in found ? found.account : null).toBe(account);
});

test('a DATEV posting contains the document number, a text of at most 60 characters, the BU key and the VAT ID', () => {
  const accounts = { ...PRESETS.skr03, 'revenue AE 0': '8000 94' };
  const entry = { ...ABROAD, invoice_number: 'R_2026 17ä', customer_name: 'x'.repeat(80), reverses: 2 };
  expect(posted(entry, [untaxed('AE')], accounts)).toMatchObject({
    ...{ contra: '8000', key: '94', vatId: 'ATU00000001', document: 'R-2026-17-' },
    text: `Storno Rechnung ${'x'.repeat(44)}`,
  });
});

test('the DATEV posting of a cancellation document contains the document’s number and the word Storno', () => {
  expect(posted({ gross: '-119', credit_note_number: 'GS-2026-0001' })).toMatchObject({
    ...{ side: 'H', document: 'GS-2026-0001', text: 'Storno Rechnung Müller GmbH' },
  });
});

test.each([
  ['100', '19', [{ rate: 19, category: 'S' }]],
  ['100', '0', [{ rate: 0, category: null }]],
  ['100', '12', []],
  ['0.02', '0.00', [{ rate: 0, category: null }]],
])('the tax rates found from an invoice’s subtotal %s and tax %s are %j', (subtotal, tax, expected) => {
  expect(taxesOfTotals(subtotal, tax, [19, 7])).toEqual(expected);
});

test('the header of a DATEV file has 31 fields, and a posting has the 125 columns of version 13', () => {
  const now = new Date('2026-11-02T08:09:10.123Z');
  const header = headerLine({ ...settings, fiscal_year_month: 7 }, '2026-02', now);
  expect(header.split(';')).toHaveLength(31);
  expect(header).toMatch(
    /^"EXTF";700;21;"Buchungsstapel";13;20261102080910123;;"";"";"";1001;7;20250701;4;20260201;20260228;/,
  );
  const found = posted({});
  const cells = 'amount' in found ? postingLine(found).split(';') : [];
  expect([COLUMNS.length, cells.length]).toEqual([125, 125]);
  const start = ['119,00', '"S"', '"EUR"', '', '', '', '1410', '8400', '""', '0710', '"R2026-17"', '', ''];
  expect(cells.slice(0, 14)).toEqual([...start, '"Rechnung Müller GmbH"']);
});

test('a DATEV file is encoded in Windows-1252', () => {
  expect(Buffer.from(toWindows1252('aÄß€ő株')).toString('hex')).toBe('61c4df806f3f');
});
