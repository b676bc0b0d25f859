import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { customerServices, customers, invoices, payments } from '@/db/schema';
import { readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { useFiles } from '../support/run-command';

const base = useDatabase();
const { write, run } = useFiles();

const TABLES = {
  customers: [customers, customers.customer_number],
  services: [customerServices, customerServices.service_number],
  invoices: [invoices, invoices.number],
  payments: [payments, payments.payment_reference],
} as const;

const map = (...pairs: string[]) => pairs.flatMap((pair) => ['--map', pair]);
const WHMCS = ['--format', 'whmcs'];
const SET = ['--set', 'status=suspended', '--set', 'name=Flat', '--map', 'Product ID='];
const FROM_STRIPE = map('id=payment_reference', 'Created date (UTC)=payment_date');
const FROM_BANK = map('Buchungstag=payment_date', 'Verwendungszweck=payment_reference').concat(
  map('Rechnung=invoice_number', 'Betrag=amount', 'Währung=currency'),
);
const CUSTOMER = 'customer_number,company';
const CLIENT = 'Clients\nID,Company Name,Currency';
const SOLD = 'service_number,customer_number,service_type,name,price,start_date';
const PRICED = 'service_number,customer_number,service_type,name,currency,price';
const PRODUCT = 'ID,User ID,Domain Name,Product ID,Billing Cycle,Status,Recurring Amount';
const WHMCS_INVOICE = 'ID,User ID,Invoice Number,Creation Date,Subtotal,Credit,Tax,Total,Status';

/** The kind of record, the first line and the import options of each form of file. */
const FORMS = {
  customer: ['customers', `${CUSTOMER},phone,email,last_name,postal_code`, []],
  latin1: ['customers', CUSTOMER, []],
  encoding: ['customers', CUSTOMER, ['--encoding', 'windows-1252']],
  nameless: ['customers', `${CUSTOMER},,`, []],
  repeated: ['customers', `${CUSTOMER},K43`, map('K43=city')],
  client: ['customers', CLIENT, WHMCS],
  constant: ['customers', CLIENT, WHMCS.concat('--set', 'currency=eur')],
  service: ['services', SOLD, []],
  semicolons: ['services', SOLD.replaceAll(',', ';'), []],
  excel: ['services', `sep=;\r\n${PRICED.replaceAll(',', ';')}`, []],
  libreOffice: ['services', `\ufeff${PRICED}`, []],
  whmcs: ['services', `Services\n${PRODUCT}`, WHMCS],
  product: ['services', 'ID,User ID,Product ID,Recurring Amount', WHMCS.concat(SET)],
  stripe: ['payments', 'id,Invoice Number,Created date (UTC),Currency,Amount', FROM_STRIPE],
  bank: ['payments', 'Buchungstag;Rechnung;Währung;Verwendungszweck;Betrag;', FROM_BANK],
  invoice: ['invoices', 'number,customer_number,status,invoice_date,total,paid_at,currency', []],
  whmcsInvoice: ['invoices', WHMCS_INVOICE, WHMCS],
} satisfies Record<string, [keyof typeof TABLES, header: string, options: string[]]>;

/** The forms whose files are not written in UTF-8. */
const WINDOWS = ['latin1', 'excel', 'bank'];
const windows = (text: string) =>
  Buffer.from(text.replaceAll('€', '\u0080').replaceAll('’', '\u0092'), 'latin1');

const NEGATIVE = /must (not be negative|be greater than 0)/;
const BOTH = /is ambiguous: .* may be 1234 or 1\.234; say which with --decimal-comma or --decimal-point/;
const MIXED = /line 42 is not in UTF-8, the encoding of the other lines/;
const NEITHER = /is neither in UTF-8 nor in Windows-1252/;
const LINE_3 = /line 3 is neither in UTF-8 nor in Windows-1252/;
const SHORTENED = /was shortened to .* by a spreadsheet/;
const NULLED = /stands for an empty cell in database exports: leave the cell empty/;
const DOLLARS = /may be in USD, CAD, AUD or another currency: .* --set currency=usd/;
/** Lines with “ü” in UTF-8, written as the Latin-1 characters of its bytes. */
const UTF_8 = Array.from({ length: 40 }, (_, i) => `C-${i},M\u00c3\u00bcller ${i}\n`).join('');
const PAID = { status: 'paid', paid_at: null, currency: 'usd' };
const UNPAID = { total: '9.950', amount_paid: '2.000', amount_due: '7.950' };

type Outcome = object | RegExp; // fields of the record, or an error message

/** A line with an amount, as each program writes it. */
const LINES = {
  excel: 'KEY;F1;hosting;Müller;eur;AMOUNT',
  libreOffice: 'KEY,F1,hosting,Müller,eur,"AMOUNT"',
  whmcs: 'KEY,F1,a.example,3,Triennially,Active,"AMOUNT"',
  stripe: 'KEY,F-1,2026-03-01 00:00,eur,"AMOUNT"',
  bank: '01.03.2026;F-1;eur;KEY;AMOUNT;',
};
const AMOUNTS: [form: keyof typeof LINES, amount: string, Outcome][] = [
  ['excel', '1’234.50', { name: 'Müller', price: '1234.500' }],
  ['excel', '€9.90', { price: '9.900', currency: 'eur' }],
  ['excel', '#WERT!', /is #WERT!, an error of a spreadsheet/],
  ['libreOffice', '1.234,56', { name: 'Müller', price: '1234.560' }],
  ['libreOffice', '(5.00)', NEGATIVE],
  ['libreOffice', '1.234', BOTH],
  ['libreOffice', '$9.90', /is in USD, CAD, AUD or another currency, but the row is in EUR/],
  ['libreOffice', '9.90 USD', /is in USD, but the row is in EUR/],
  ['whmcs', '9.90 USD', { price: '9.900', currency: 'usd' }],
  ['whmcs', '$9.90', /may be in USD, CAD, AUD or another currency: add a column currency/],
  ['stripe', '€9.90', { amount: '9.900', currency: 'eur' }],
  ['stripe', '9.90 USD', /is in USD, but the row is in EUR/],
  ['bank', '1’234.50', { amount: '1234.500', currency: 'eur' }],
];
const withAmount = AMOUNTS.map(([form, amount, outcome], i): Case => {
  const line = LINES[form].replace('KEY', `K${100 + i}`).replace('AMOUNT', () => amount);
  return [form, `the amount ${amount}`, line, outcome];
});

type Case = [form: keyof typeof FORMS, content: string, lines: string, Outcome];
/** Files in which the expected record has a key of the letter K and a number. */
const CASES: Case[] = [
  ['latin1', 'a Windows-1252 line among UTF-8', `${UTF_8}K1,M\u00fcl`, MIXED],
  ['latin1', 'Windows-1252 text', 'K2,M\u00fcller \u0080', { company: 'Müller €' }],
  ['latin1', 'DOS text', 'K3,J\u0084ger', NEITHER],
  ['latin1', 'a euro sign in ISO-8859-15', 'K4,10 \u00a4 Laden', NEITHER],
  ['latin1', 'a DOS line that may be Windows-1252', 'X1,J\u0084ger\nK6,Stra\u00e1e', LINE_3],
  ['latin1', 'a Mac line that may be Windows-1252', 'X2,M\u009fller\nK7,K\u009aln', LINE_3],
  ['encoding', 'the option --encoding', 'K5,über', { company: 'Ã¼ber' }],
  ['nameless', 'a value in a column without a name', 'K8,A,,x', /has a value in column 4, which has no name/],
  ['repeated', 'its first line twice', `${CUSTOMER},K43`, /line 2 repeats the first line/],
  ['customer', 'the cell ="01067"', '"=""K30""",A,,,,"=""01067"""', { postal_code: '01067' }],
  ['customer', 'the phone number 5E+11', 'K32,A,5E+11,,,', SHORTENED],
  ['customer', 'the phone number 4.9e11', 'K32,A,4.9e11,,,', SHORTENED],
  ['customer', 'a lost character', 'K33,M\ufffdller,,,,', /another program could not read/],
  ['customer', 'an invisible character in a key', '\u200bK34\u2060,A,,,,', { company: 'A' }],
  ['customer', 'a space after a key', '"K35 ",A,,,,', { company: 'A' }],
  ['customer', 'spaces around an e-mail', 'K39,A,, k39@example.com\u00a0,,', { email: 'k39@example.com' }],
  ['customer', 'the phone number NULL', 'K41,A,NULL,,,', NULLED],
  ['customer', 'the phone number \\N', 'K41,A,\\N,,,', NULLED],
  ['customer', 'the phone number (NULL)', 'K41,A,(NULL),,,', NULLED],
  ['customer', 'the phone number NaN', 'K41,A,NaN,,,', NULLED],
  ['customer', 'the last name Null', 'K42,A,,,Null,', { last_name: 'Null' }],
  ['client', 'HTML entities', 'K15,A &amp; &#039;Co&#039;,GBP', { company: "A & 'Co'", currency: 'gbp' }],
  ['client', 'doubled quotes', 'K16,The ""Best"" Ltd,USD', { company: 'The "Best" Ltd', currency: 'usd' }],
  ['client', 'a currency number', 'K17,Seventeen,2', /is 2, the number of a currency in WHMCS/],
  ['constant', 'a constant for its column', 'K18,A,USD', /currency=…: the file already has this column/],
  ['product', '--set constants', 'K19,F1,7,1.00', { name: 'Flat', status: 'suspended' }],
  ['service', 'no currency', 'K20,F2,domain,Web,5,', { currency: 'usd' }],
  ['service', 'a price with $ and no currency', 'K21,F1,domain,Web,$5,', DOLLARS],
  ['service', 'a price with € and no currency', 'K22,F2,domain,Web,€5,', { currency: 'eur' }],
  ['service', 'a zero date', 'K23,F1,domain,Web,5,0000-00-00', { start_date: null }],
  ['service', 'the spreadsheet date 30.12.1899', 'K24,F1,domain,Web,5,30.12.1899', { start_date: null }],
  ['semicolons', 'the price ="9,90"', 'K31;F1;domain;Web;"=""9,90""";', { price: '9.900' }],
  ['invoice', 'the invoice date 0000-00-00', 'K27,F1,sent,0000-00-00,10,,eur', /invoice_date: is needed/],
  ['invoice', 'a zero time of payment', 'K29,F2,paid,2026-01-01,10,0000-00-00 00:00:00,', PAID],
  ['whmcsInvoice', 'decimal commas', '3,F1,K30,2026-01-01,"9,95","2,00","0,00","7,95",Unpaid', UNPAID],
];

beforeAll(async () => {
  const { id } = await createCustomer(base.db, { customer_number: 'F1', currency: 'eur' });
  await createCustomer(base.db, { customer_number: 'F2', currency: 'usd' });
  await createInvoice(base.db, { customer_id: id, number: 'F-1', total: '99999' });
});

test.each([...withAmount, ...CASES])(
  'importing a %s file with %s stores the expected record, or says why it stores none',
  async (...given) => {
    const [form, , lines, outcome] = given;
    const [kind, header, options] = FORMS[form];
    const text = `${header}\n${lines}\n`;
    write('f.csv', WINDOWS.includes(form) ? windows(text) : text);
    const { output } = await run(base.db, 'import', [kind, 'f.csv', ...options, '--yes']);
    const [table, column] = TABLES[kind];
    const [key = ''] = /\bK\d+\b/.exec(lines) ?? [];
    const found: unknown[] = await readRows(base.db, table, eq(column, key));
    if (outcome instanceof RegExp) {
      expect(output.join('\n')).toMatch(outcome);
      expect(found).toEqual([]);
    } else {
      expect(output.at(-1)).toMatch(/: 1 new, 0 changed, 0 unchanged, 0 rejected\.$/);
      expect(found).toMatchObject([outcome]);
    }
  },
);
