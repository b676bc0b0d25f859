import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { invoiceLines, invoices, payments } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { bookEntries } from '@/lib/book-entries';
import { productRevenueCsv } from '@/lib/exports/product-revenue';
import { issueCreditNote } from '@/lib/invoices/credit-notes';
import { invoiceList } from '@/lib/invoices/list';
import { invoiceKind, invoiceSteps } from '@/lib/invoices/save-invoices';
import { paymentList } from '@/lib/payments/list';
import { saveRecord } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/steps';
import { unquotedLines } from '../support/csv';
import { readRow, useDatabase } from '../support/database';
import {
  createCustomer,
  createDispute,
  createInvoice,
  createPayment,
  createRefund,
  createStripeInvoice,
} from '../support/factories';
import { useFiles } from '../support/run-command';
import { watchedDatabase } from '../support/watched-database';

const base = useDatabase();

const files = useFiles();
const exportAccounting = (...args: string[]) => files.run(base.db, 'export', ['accounting', ...args]);

/** Returns the lines without quotes. Expects a byte order mark at the start and a line break at the end. */
async function linesOf(pieces: AsyncGenerator<string>): Promise<string[]> {
  let text = '';
  for await (const piece of pieces) text += piece;
  expect([text[0], text.slice(-2)]).toEqual(['\uFEFF', '\r\n']);
  return unquotedLines(text.slice(1, -2));
}
const paymentLines = (input: Record<string, string>) =>
  linesOf(paymentList.csv(base.db, paymentList.schema.parse(input)));
const invoiceLinesOf = (input: Record<string, string>) =>
  linesOf(invoiceList.csv(base.db, invoiceList.schema.parse(input)));

test('the CSV file of payments contains the customer, invoice and open dispute of each payment, without formulas', async () => {
  const header =
    'id,invoice_id,customer_id,amount,currency,payment_date,payment_reference,status,refunded_amount,source,' +
    'created_at,updated_at,disputed,invoice_number,customer_number,customer_name,transfer';
  const at = new Date('2026-03-10T08:00:00Z');
  const customer = await createCustomer(base.db, { customer_number: 'K-CSV', company: '=HYPERLINK("x")' });
  const invoice = await createInvoice(base.db, { number: '+49', customer_id: customer.id });
  const on = { invoice_id: invoice.id, customer_id: customer.id, created_at: at, updated_at: at };
  const payment = { ...on, amount: '0.5', refunded_amount: '0.2', payment_reference: '-1,"Müller"' };
  const { id } = await createPayment(base.db, payment);
  for (const status of ['won', 'under_review'] as const)
    await createDispute(base.db, { payment_id: id, status });
  expect(await paymentLines({ customer: 'K-CSV' })).toEqual([
    header,
    `${id},${invoice.id},${customer.id},0.5,eur,2026-03-10,'-1,"Müller",completed,0.2,api,` +
      `2026-03-10T08:00:00.000Z,2026-03-10T08:00:00.000Z,under_review,'+49,K-CSV,'=HYPERLINK("x"),`,
  ]);
  expect(await paymentLines({ reference: 'no such reference' })).toEqual([header]);
});

test('the CSV file of invoices contains the customer of each invoice, without formulas', async () => {
  const header =
    'id,number,status,invoice_date,due_date,currency,subtotal,tax,total,amount_paid,amount_due,paid_at,' +
    'stripe_invoice_id,refunded_amount,amount_credited,amount_off_stripe,balance_applied,written_off,customer_id,customer_number,customer_name';
  const { id: customer_id } = await createCustomer(base.db, { customer_number: 'K-INV', company: '=1+1' });
  const { id } = await createInvoice(base.db, { customer_id, number: '@1', due_date: '2026-04-01' });
  expect(await invoiceLinesOf({ customer: 'K-INV' })).toEqual([
    header,
    `${id},'@1,sent,2026-03-01,2026-04-01,eur,100,19,119,0,119,,,0,0,,,0,${customer_id},K-INV,'=1+1`,
  ]);
  expect(await invoiceLinesOf({ customer: 'nobody' })).toEqual([header]);
});

/** Posts all invoices and payments to the books on a day. */
async function bookAll(now: Date): Promise<void> {
  const ids = async (table: typeof invoices | typeof payments) =>
    (await base.db.select({ id: table.id }).from(table)).map(({ id }) => id);
  const all = { invoices: await ids(invoices), payments: await ids(payments) };
  await bookEntries(base.db, all, { now, timeZone: 'UTC' });
}

describe('files of many rows', () => {
  let customer: string;
  // These rows fill more than two batches. They have few different amounts and days, so many of them have equal sort
  // keys.
  const MANY = 2100;

  beforeAll(async () => {
    const { id, customer_id } = await createInvoice(base.db, { invoice_date: '2026-01-01', total: '1' });
    customer = `#${customer_id}`;
    const [day, of] = [sql`date '2026-01-01' + i % 3`, sql`generate_series(1, ${MANY}::int) i`];
    await base.db.execute(sql`insert into payments
        (invoice_id, customer_id, amount, payment_date, payment_reference, source)
      select ${id}::int, ${customer_id}::int, 1 + i % 7, ${day}, 'MANY-' || i, 'import' from ${of}`);
    await base.db.execute(sql`insert into invoices
        (customer_id, number, invoice_date, status, subtotal, tax, total, amount_due)
      select ${customer_id}::int, 'MANY-' || i, ${day}, 'sent', 1, 0, 1, 1 from ${of}`);
  });

  test.each([
    ['payments', '-date', 5, paymentLines, MANY],
    ['payments', 'amount', 3, paymentLines, MANY],
    ['payments', 'reference', 6, paymentLines, MANY],
    ['invoices', '-date', 3, invoiceLinesOf, MANY + 1],
  ] as const)(
    'the CSV file of more than 2,000 %s sorted by %s contains each row once, in order',
    async (...given) => {
      const [, sort, column, read, count] = given;
      const lines = (await read({ customer, sort })).slice(1).map((line) => line.split(','));
      expect(new Set(lines.map(([id]) => id)).size).toBe(count);
      const isByDate = sort === '-date';
      const keys = lines.map((line) => (line[column] ?? '') + (isByDate ? line[0]?.padStart(10) : ''));
      expect(keys).toHaveLength(count);
      expect(keys).toEqual(isByDate ? keys.toSorted().reverse() : keys.toSorted());
    },
  );

  test('generating a CSV file stops when its reader disconnects, and fails if the database connection is lost', async () => {
    let transactions = 0;
    const counting = watchedDatabase(base.db, {
      transaction() {
        transactions += 1;
        if (transactions === 4) throw new Error('the connection is gone');
      },
    });
    const filters = paymentList.schema.parse({ customer });
    const left = paymentList.csv(counting, filters);
    await left.next();
    await left.return(undefined);
    expect(transactions).toBe(1);
    const broken = paymentList.csv(counting, filters);
    await broken.next();
    await broken.next();
    await expect(broken.next()).rejects.toThrow('the connection is gone');
  });

  test('an accounting export of more than 4,000 rows is written to a file', async () => {
    await bookAll(new Date('2026-01-31T12:00:00Z'));
    expect(await exportAccounting('--month', '2026-01', '--out', 'a.csv')).toEqual({ code: 0, output: [] });
    expect(files.read('a.csv').split('\r\n')).toHaveLength(1 + MANY + MANY + 1 + 1);
  });
});

const HEADER =
  'record,event,date,original_date,customer_number,customer_name,customer_country,customer_vat_id,' +
  'invoice_number,credit_note_number,due_date,tax_rate,net,tax,gross,currency,payment_reference,method';

test('the accounting export of a month contains its invoices by tax rate, balances, payments and refunds', async () => {
  const { db } = base;
  const { id: customer_id } = await createCustomer(db, { customer_number: 'K1', company: '=Weiß, "AG"' });
  const on = { customer_id, invoice_date: '2026-10-01', due_date: '2026-10-15' };
  const sums = { subtotal: '0.3', tax: '0.02', total: '0.32' };
  const lined = await createInvoice(db, { ...on, ...sums, number: 'R1' });
  const line = { invoice_id: lined.id, quantity: '1' };
  await db.insert(invoiceLines).values([
    { ...line, position: 1, text: 'Hosting', unit_price: '0.1', tax_rate: '19' },
    { ...line, position: 2, text: 'Book', unit_price: '0.2', tax_rate: '0' },
  ]);
  const yen = { currency: 'jpy', subtotal: '1000', tax: '100', total: '1100' };
  await createInvoice(db, { ...on, ...yen, number: 'R2', invoice_date: '2026-10-31', status: 'cancelled' });
  await createInvoice(db, { ...on, number: null, status: 'draft' });
  await createInvoice(db, { ...on, number: 'R0', invoice_date: '2026-09-30' });
  await createInvoice(db, { ...on, number: 'R3', invoice_date: '2026-11-01' });
  const atStripe = { ...on, invoice_date: '2026-10-02', status: 'paid', amount_due: '0' } as const;
  const fromCredit = { ...atStripe, amount_paid: '89', balance_applied: '30' };
  await createInvoice(db, { ...fromCredit, number: 'S1', stripe_invoice_id: 'in_credit' });
  const withDebt = { ...atStripe, amount_paid: '139', balance_applied: '-20' };
  await createInvoice(db, { ...withDebt, number: 'S2', stripe_invoice_id: 'in_debt' });
  const paid = { invoice_id: lined.id, customer_id, payment_date: '2026-10-31', amount: '0.32' };
  await createPayment(db, { ...paid, payment_reference: 'P1', source: 'stripe' });
  await createPayment(db, { ...paid, payment_reference: 'P2', status: 'failed' });
  const old = { ...paid, payment_date: '2026-08-01', status: 'refunded', amount: '5' } as const;
  const earlier = await createPayment(db, { ...old, payment_reference: 'P0', refunded_amount: '5' });
  const payment_id = earlier.id;
  await createRefund(db, { payment_id, amount: '2', issued_at: new Date('2026-09-30T12:00:00Z') });
  await createRefund(db, { payment_id, amount: '2.5', issued_at: new Date('2026-10-31T23:30:00Z') });
  const issued_at = new Date('2026-10-31T23:40:00Z');
  await createDispute(db, { payment_id, status: 'lost', amount: '4', issued_at });

  await bookAll(new Date('2026-10-31T23:59:00Z'));
  const { code, output } = await exportAccounting('--month', '2026-10');
  expect(code).toBe(0);
  const linesOfMonth = (lines: string[]) =>
    unquotedLines(lines.join('').replace('\ufeff', '').replaceAll('\r', '\r\n').slice(0, -2));
  expect(linesOfMonth((await exportAccounting('--month', '1999-12')).output)).toEqual([HEADER]);
  const of = `K1,'=Weiß, "AG",,`;
  expect(linesOfMonth(output)).toEqual([
    HEADER,
    `invoice,issued,2026-10-01,2026-10-01,${of},R1,,2026-10-15,19,0.10,0.02,0.12,eur,,`,
    `invoice,issued,2026-10-01,2026-10-01,${of},R1,,2026-10-15,0,0.20,0.00,0.20,eur,,`,
    `invoice,issued,2026-10-02,2026-10-02,${of},S1,,2026-10-15,,100.00,19.00,119.00,eur,,`,
    `invoice,issued,2026-10-02,2026-10-02,${of},S2,,2026-10-15,,100.00,19.00,119.00,eur,,`,
    `invoice,issued,2026-10-31,2026-09-30,${of},R0,,2026-10-15,,100.00,19.00,119.00,eur,,`,
    `balance,balance_used,2026-10-02,2026-10-02,${of},S1,,,,,,30.00,eur,,`,
    `balance,balance_increased,2026-10-02,2026-10-02,${of},S2,,,,,,-20.00,eur,,`,
    `payment,collected,2026-10-31,2026-10-31,${of},R1,,,,,,0.32,eur,P1,stripe`,
    `payment,collected,2026-10-31,2026-08-01,${of},R1,,,,,,5.00,eur,P0,api`,
    `refund,refunded,2026-10-31,2026-10-31,${of},R1,,,,,,-2.50,eur,P0,api`,
    `refund,refunded,2026-10-31,2026-09-30,${of},R1,,,,,,-2.00,eur,P0,api`,
    `refund,refunded,2026-10-31,2026-10-31,${of},R1,,,,,,-0.50,eur,P0,api`,
  ]);
});

test.each([
  ['kwd', '1', '1.235', '1.235'],
  ['jpy', '0.5', '99', '50'],
])(
  'the product revenue in %s counts %s × %s as %s, as the invoice does',
  async (currency, quantity, unit_price, net) => {
    const day = currency === 'kwd' ? '2031-02-01' : '2031-03-01';
    const sums = { subtotal: net, tax: '0', total: net, amount_due: net };
    const { id } = await createInvoice(base.db, { currency, invoice_date: day, ...sums });
    const line = { text: 'Traffic', tax_rate: '0', tax_category: 'Z' } as const;
    await base.db.insert(invoiceLines).values({ ...line, invoice_id: id, position: 1, quantity, unit_price });
    const now = new Date(`${day}T12:00:00Z`);
    await bookEntries(base.db, { invoices: [id], payments: [] }, { now, timeZone: 'UTC' });
    const [, ...products] = await linesOf(productRevenueCsv(base.db, [day]));
    expect(products).toEqual([`${day.slice(0, 7)},${currency},Traffic,1,${net}`]);
  },
);

test('the product revenue keeps the sign of each line, and contains no line of a cancelled invoice', async () => {
  const { db } = base;
  const on = { invoice_date: '2031-04-01', amount_due: '0' };
  const sums = { subtotal: '-20', tax: '0', total: '-20' };
  const downgrade = await createStripeInvoice(
    db,
    { ...on, ...sums },
    { amount: '-20', discount: '0', taxes: [] },
  );
  const issued = await createInvoice(db, { ...on, subtotal: '95', tax: '18.65', total: '113.65' });
  const cancelled = await createInvoice(db, { ...on, subtotal: '0', tax: '0', total: '0' });
  const rows = [
    [issued, 'Hosting', '100', '19'],
    [issued, 'Discount', '-5', '7'],
    [cancelled, 'Setup', '10', '19'],
    [cancelled, 'Voucher', '-10', '19'],
  ] as const;
  await db.insert(invoiceLines).values(
    rows.map(([{ id: invoice_id }, text, unit_price, tax_rate], i) => {
      return { invoice_id, position: i + 1, text, quantity: '1', unit_price, tax_rate };
    }),
  );
  const book = async (...booked: { id: number }[]) => {
    const at = { now: new Date('2031-04-02T12:00:00Z'), timeZone: 'UTC' };
    await bookEntries(db, { invoices: booked.map(({ id }) => id), payments: [] }, at);
  };
  await book(downgrade, issued, cancelled);
  await db.update(invoices).set({ status: 'cancelled' }).where(eq(invoices.id, cancelled.id));
  await book(cancelled);
  const [, ...products] = await linesOf(productRevenueCsv(db, ['2031-04-01']));
  expect(products).toEqual([
    '2031-04,eur,Hosting,1,100.00',
    '2031-04,eur,Discount,1,-5.00',
    '2031-04,eur,Webhosting L,1,-20.00',
  ]);
});

test('the cancellation of a partly credited invoice reduces only the product revenue that was not credited before', async () => {
  const { customer_number } = await createCustomer(base.db);
  const writer = { actor: commandActor('test'), now: new Date('2031-05-02T12:00:00Z'), timeZone: 'UTC' };
  const line = { quantity: 1, tax_rate: 19 };
  const lines = [
    { ...line, text: 'Hosting', unit_price: 100 },
    { ...line, text: 'Domain', unit_price: 20 },
    { ...line, text: 'Book', unit_price: 8, tax_rate: 7 },
  ];
  const { id } = await saveRecord(base.db, invoiceKind, { values: { customer_number, lines } }, writer);
  await takeStep(base.db, invoiceSteps, 'send', { id, version: 0 }, writer);
  const seen = async () => ({ id, version: (await readRow(base.db, invoices, id)).version });
  await issueCreditNote(
    base.db,
    await seen(),
    { reason: 'Agreed', lines: [{ position: 1, amount: 90 }] },
    writer,
  );
  await takeStep(base.db, invoiceSteps, 'cancel', await seen(), writer);
  const [, ...products] = await linesOf(productRevenueCsv(base.db, ['2031-05-01']));
  expect(products).toEqual(['2031-05,eur,Hosting,0,90.00']);
});

test('the accounting export of December 9999 contains the last day of the month', async () => {
  const { db } = base;
  const { id, customer_id } = await createInvoice(db, { number: 'LAST', invoice_date: '9999-12-31' });
  await createInvoice(db, { number: 'BEFORE', invoice_date: '9999-11-30' });
  const at = new Date('9999-12-31T23:00:00Z');
  const paid = { invoice_id: id, customer_id, payment_date: '9999-12-01', payment_reference: 'LAST' };
  const payment = await createPayment(db, { ...paid, status: 'refunded', refunded_amount: '1' });
  await createRefund(db, { payment_id: payment.id, amount: '1', issued_at: at });
  await bookAll(new Date('9999-11-30T12:00:00Z'));
  const { code, output } = await exportAccounting('--month', '9999-12');
  expect(code).toBe(0);
  expect(output.slice(1).map((line) => line.split(',')[0])).toEqual(['"invoice"', '"payment"', '"refund"']);
});

test('an accounting export is refused unless the option --month has a valid month', async () => {
  for (const args of [[], ['--month', '2026-13'], ['--month', '2026-1'], ['--month', '0000-01']]) {
    const refused = { code: 1, output: ['--month must be a month such as 2026-10.'] };
    expect([args, await exportAccounting(...args)]).toEqual([args, refused]);
  }
});
