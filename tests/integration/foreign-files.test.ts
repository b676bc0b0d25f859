import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { customerServices, customers, invoices, payments } from '@/db/schema';
import { readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { useFiles } from '../support/run-command';

const base = useDatabase();
const { write, run } = useFiles();

/** The expected outcome of an import: fields of the record, or a pattern of the error message. */
type Outcome = Record<string, unknown> | RegExp;
interface ForeignFile {
  name: string;
  kind: 'customers' | 'services' | 'invoices' | 'payments';
  key: string;
  content: string | Buffer;
  options?: string[];
  outcome: Outcome;
}

const windows = (text: string) =>
  Buffer.from(text.replaceAll('€', '\u0080').replaceAll('’', '\u0092').replaceAll('−', '\u0096'), 'latin1');
const csv = (delimiter: string, lines: string[][], end = '\r\n') =>
  lines.map((cells) => cells.map(quote(delimiter)).join(delimiter) + end).join('');
const quote = (delimiter: string) => (cell: string) =>
  /["\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;

const SERVICE = ['service_number', 'customer_number', 'service_type', 'name', 'price', 'currency'];
const WHMCS = ['ID', 'User ID', 'Domain Name', 'Product ID', 'Recurring Amount', 'Billing Cycle', 'Status'];
const STRIPE = ['id', 'Invoice Number', 'Amount', 'Currency', 'Created date (UTC)'];
const BANK = ['Buchungstag', 'Verwendungszweck', 'Rechnung', 'Betrag', 'Währung', ''];
const map = (...pairs: string[]) => pairs.flatMap((pair) => ['--map', pair]);
const FROM_STRIPE = map('id=payment_reference', 'Created date (UTC)=payment_date');
const FROM_BANK = map('Buchungstag=payment_date', 'Verwendungszweck=payment_reference').concat(
  map('Rechnung=invoice_number', 'Betrag=amount', 'Währung=currency'),
);

/** For each program, a function that returns a file with one amount in its format. */
const WRITERS: Record<string, (cell: string, key: string) => Omit<ForeignFile, 'name' | 'key' | 'outcome'>> =
  {
    Excel: (cell, key) => ({
      kind: 'services',
      content: windows(`sep=;\r\n${csv(';', [SERVICE, [key, 'F1', 'hosting', 'Müller', cell, 'eur']])}`),
    }),
    LibreOffice: (cell, key) => ({
      kind: 'services',
      content: `\ufeff${csv(',', [SERVICE, [key, 'F1', 'hosting', 'Müller', cell, 'eur']], '\n')}`,
    }),
    WHMCS: (cell, key) => ({
      kind: 'services',
      content: `Services\n${csv(',', [WHMCS, [key, 'F1', 'a.example', '3', cell, 'Triennially', 'Active']], '\n')}`,
      options: ['--format', 'whmcs'],
    }),
    Stripe: (cell, key) => ({
      kind: 'payments',
      content: csv(',', [STRIPE, [key, 'F-1', cell, 'eur', '2026-03-01 00:00']], '\n'),
      options: FROM_STRIPE,
    }),
    'a bank': (cell, key) => ({
      kind: 'payments',
      content: windows(csv(';', [BANK, ['01.03.2026', key, 'F-1', cell, 'eur', '']])),
      options: FROM_BANK,
    }),
  };

const NEGATIVE = /must (not be negative|be greater than 0)/;
const BOTH = /is ambiguous: .* may be 1234 or 1\.234; say which with --decimal-comma or --decimal-point/;
const AMOUNTS: [string, number | RegExp][] = [
  ['5.00', 5],
  ['.50', 0.5],
  ['1.234,56', 1234.56],
  ['1’234.50', 1234.5],
  ['1\u00a0234,50', 1234.5],
  ['€9.90', 9.9],
  ['(5.00)', NEGATIVE],
  ['1.234', BOTH],
  ['$9.90', /is in USD, CAD, AUD or another currency, but the row is in EUR/],
  ['9.90 USD', /is in USD, but the row is in EUR/],
  ['5,-', /must be a number such as 1234\.56 or 1\.234,56/],
  ['#WERT!', /is #WERT!, an error of a spreadsheet/],
];

/** The expected outcomes that differ if a file has no currency column. */
const WITHOUT_CURRENCY: Record<string, Outcome> = {
  '$9.90': /may be in USD, CAD, AUD or another currency: add a column currency/,
  '9.90 USD': { price: '9.900', currency: 'usd' },
};

const spelled = Object.entries(WRITERS).flatMap(([program, file]) =>
  AMOUNTS.map(([cell, read], i): ForeignFile => {
    const key = `${program.slice(-4).trim()}-${i}`;
    const made = file(cell, key);
    const amount = made.kind === 'services' ? 'price' : 'amount';
    const told = program === 'WHMCS' ? (WITHOUT_CURRENCY[cell] ?? read) : read;
    const outcome = typeof told === 'number' ? { [amount]: told.toFixed(3), currency: 'eur' } : told;
    return { name: `a file of ${program} with ${cell}`, key, ...made, outcome };
  }),
);

const CUSTOMER = 'customer_number,company';
const service = (rest: string, header = '') =>
  `service_number,customer_number,service_type,name,price${header}\n${rest}\n`;
const INVOICE = 'number,customer_number,status,invoice_date,total,paid_at,currency';

const one = (
  name: string,
  kind: ForeignFile['kind'],
  content: string | Buffer,
  outcome: Outcome,
  options: string[] = [],
): ForeignFile => ({
  name,
  kind,
  content,
  outcome,
  options,
  key: /\bK\d+\b/.exec(content.toString('latin1').replaceAll('\0', ''))?.[0] ?? '',
});

const many = Array.from({ length: 40 }, (_, i) => `C-${i},Müller ${i}`);
const rest: ForeignFile[] = [
  one(
    'a UTF-8 file with a Windows-1252 line',
    'customers',
    Buffer.concat([Buffer.from(`${CUSTOMER}\n${many.join('\n')}\nK1,M`), Buffer.from([0xfc, 0x6c, 0x0a])]),
    /line 42 is not in UTF-8, the encoding of the other lines/,
  ),
  one(
    'the spreadsheet date 30.12.1899',
    'services',
    service('K24,F1,domain,Web,5,30.12.1899', ',start_date'),
    {
      start_date: null,
    },
  ),
  one(
    'a DOS file',
    'customers',
    Buffer.from(`${CUSTOMER}\nK3,J\u0084ger\n`, 'latin1'),
    /is neither in UTF-8 nor in Windows-1252/,
  ),
  one(
    'a file with the option --encoding',
    'customers',
    windows(`${CUSTOMER}\nK5,Ã¼ber\n`),
    { company: 'Ã¼ber' },
    ['--encoding', 'windows-1252'],
  ),
  one(
    'a value in a column without a name',
    'customers',
    `${CUSTOMER},,\nK8,Eight,,x\n`,
    /has a value in column 4, which has no name/,
  ),
  one(
    'a WHMCS file with HTML entities',
    'customers',
    'Clients\nID,Company Name,Currency\nK15,Smith &amp; &#039;Co&#039;,GBP\n',
    { company: "Smith & 'Co'", currency: 'gbp' },
    ['--format', 'whmcs'],
  ),
  one(
    'a WHMCS file with doubled quotes',
    'customers',
    'Clients\nID,Company Name,Currency\nK16,The ""Best"" Ltd,USD\n',
    { company: 'The "Best" Ltd', currency: 'usd' },
    ['--format', 'whmcs'],
  ),
  one(
    'a WHMCS file with a currency number',
    'customers',
    'Clients\nID,Company Name,Currency\nK17,Seventeen,2\n',
    /is 2, the number of a currency in WHMCS/,
    ['--format', 'whmcs'],
  ),
  one(
    'a file with a constant for its column',
    'customers',
    'Clients\nID,Company Name,Currency\nK18,Eighteen,USD\n',
    /--set currency=…: the file already has this column/,
    ['--format', 'whmcs', '--set', 'currency=eur'],
  ),
  one(
    'a WHMCS file with --set constants',
    'services',
    'ID,User ID,Product ID,Recurring Amount\nK19,F1,7,1.00\n',
    { name: 'Flat', status: 'suspended' },
    ['--format', 'whmcs', '--set', 'status=suspended', '--set', 'name=Flat', '--map', 'Product ID='],
  ),
  one('a service without a currency', 'services', service('K20,F2,domain,Web,5'), { currency: 'usd' }),
  one(
    'a price with $ and no currency',
    'services',
    service('K21,F1,domain,Web,$5'),
    /may be in USD, CAD, AUD or another currency: .* --set currency=usd/,
  ),
  one('a price with € and no currency', 'services', service('K22,F2,domain,Web,€5'), {
    currency: 'eur',
  }),
  one('a service with a zero date', 'services', service('K23,F1,domain,Web,5,0000-00-00', ',start_date'), {
    start_date: null,
  }),
  one(
    'an invoice with a zero date',
    'invoices',
    `${INVOICE}\nK27,F1,sent,0000-00-00,10,,eur\n`,
    /column invoice_date: is needed/,
  ),
  one(
    'a paid invoice with a zero date',
    'invoices',
    `${INVOICE}\nK29,F2,paid,2026-01-01,10,0000-00-00 00:00:00,\n`,
    { status: 'paid', paid_at: null, currency: 'usd' },
  ),
  one(
    'a file with cells such as ="01067"',
    'customers',
    `${CUSTOMER},postal_code\n"=""K30""",A,"=""01067"""\n`,
    { customer_number: 'K30', postal_code: '01067' },
  ),
  one(
    'a file with a price such as ="9,90"',
    'services',
    'service_number;customer_number;service_type;name;price\nK31;F1;domain;Web;"=""9,90"""\n',
    { price: '9.900' },
  ),
  ...['5E+11', '4.9e11'].map((cell) =>
    one(
      `a file with the phone number ${cell}`,
      'customers',
      `${CUSTOMER},phone\nK32,A,${cell}\n`,
      /was shortened to .* by a spreadsheet/,
    ),
  ),
  one(
    'a file with a lost character',
    'customers',
    `${CUSTOMER}\nK33,M\ufffdller\n`,
    /has a character that another program could not read/,
  ),
  one('an invisible character in a key', 'customers', `${CUSTOMER}\n\u200bK34\u2060,A\n`, {
    customer_number: 'K34',
  }),
  one('spaces around an e-mail address', 'customers', `${CUSTOMER},email\nK39,A, k39@example.com\u00a0\n`, {
    email: 'k39@example.com',
  }),
  ...['NULL', '\\N', '(NULL)', 'NaN'].map((cell) =>
    one(
      `a database file with the cell ${cell}`,
      'customers',
      `${CUSTOMER},phone\nK41,A,${cell}\n`,
      /stands for an empty cell in database exports: leave the cell empty/,
    ),
  ),
  one("a file with the last name 'Null'", 'customers', `${CUSTOMER},last_name\nK42,A,Null\n`, {
    last_name: 'Null',
  }),
  one(
    'a file that repeats its first line',
    'customers',
    `${CUSTOMER},K35\n${CUSTOMER},K35\n`,
    /line 2 repeats the first line/,
    ['--map', 'K35=city'],
  ),
  one(
    'a file in ISO-8859-15 with a euro sign',
    'customers',
    Buffer.from(`${CUSTOMER}\nK36,10 \u00a4 Laden\n`, 'latin1'),
    /is neither in UTF-8 nor in Windows-1252/,
  ),
  one(
    'a DOS line that may be Windows-1252',
    'customers',
    Buffer.from(`${CUSTOMER}\nX1,J\u0084ger\nK37,Stra\u00e1e\n`, 'latin1'),
    /line 3 is neither in UTF-8 nor in Windows-1252/,
  ),
  one(
    'a Mac line that may be Windows-1252',
    'customers',
    Buffer.from(`${CUSTOMER}\nX2,M\u009fller\nK38,K\u009aln\n`, 'latin1'),
    /line 3 is neither in UTF-8 nor in Windows-1252/,
  ),
  one(
    'a WHMCS invoice with decimal commas',
    'invoices',
    'ID,User ID,Invoice Number,Creation Date,Subtotal,Credit,Tax,Total,Status\n30,F1,K30,2026-01-01,"9,95","2,00","0,00","7,95",Unpaid\n',
    { total: '9.950', amount_paid: '2.000', amount_due: '7.950' },
    ['--format', 'whmcs'],
  ),
];

const all = [...spelled, ...rest];
const TABLES = {
  customers: [customers, customers.customer_number],
  services: [customerServices, customerServices.service_number],
  invoices: [invoices, invoices.number],
  payments: [payments, payments.payment_reference],
} as const;

async function find({ kind, key }: ForeignFile): Promise<unknown[]> {
  const [table, column] = TABLES[kind];
  return readRows(base.db, table, eq(column, key));
}

describe('files of other programs', () => {
  beforeAll(async () => {
    const { id } = await createCustomer(base.db, { customer_number: 'F1', currency: 'eur' });
    await createCustomer(base.db, { customer_number: 'F2', currency: 'usd' });
    await createInvoice(base.db, { customer_id: id, number: 'F-1', total: '99999' });
  });

  test.each(all)('importing $name has the outcome $outcome', async (file) => {
    write('f.csv', file.content);
    const { output } = await run(base.db, 'import', [file.kind, 'f.csv', ...(file.options ?? []), '--yes']);
    const found = await find(file);
    if (file.outcome instanceof RegExp) {
      expect(output.join('\n')).toMatch(file.outcome);
      expect(found).toEqual([]);
    } else {
      expect(output.at(-1)).toMatch(/: 1 new, 0 changed, 0 unchanged, 0 rejected\.$/);
      expect(found).toMatchObject([file.outcome]);
    }
  });
});
