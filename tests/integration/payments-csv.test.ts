import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { payments } from '@/db/schema';
import { paymentsCsv } from '@/lib/payments/payments-csv';
import { staffFilters } from '@/lib/payments/staff-filters';
import { useDatabase } from '../support/database';
import { createCustomer, createDispute, createInvoice, createPayment } from '../support/factories';
import { watchedDatabase } from '../support/watched-database';

const database = useDatabase();
const csvOf = (input: Record<string, string>) => paymentsCsv(database.db, staffFilters.parse(input));

async function textOf(pieces: AsyncGenerator<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

const HEADER =
  'id,invoice_id,customer_id,amount,currency,payment_date,payment_reference,status,refunded_amount,source,created_at,updated_at,disputed,invoice_number,customer_number,customer_name\r\n';

test('is RFC 4180 in UTF-8, and no text of it is a formula', async () => {
  const { db } = database;
  const at = new Date('2026-03-10T08:00:00Z');
  const customer = await createCustomer(db, { customer_number: 'K-CSV', company: '=HYPERLINK("x")' });
  const invoice = await createInvoice(db, { number: '+49', customer_id: customer.id });
  const references = ['plain', '-1+2', '@cmd', 'a,"b"', 'Müller €'];
  const ids: number[] = [];
  for (const [i, payment_reference] of references.entries()) {
    const payment = await createPayment(db, {
      invoice_id: invoice.id,
      customer_id: customer.id,
      amount: String(i + 0.5),
      payment_reference,
      created_at: at,
      updated_at: at,
    });
    ids.push(payment.id);
  }
  const row = (i: number, reference: string) =>
    `${ids[i]},${invoice.id},${customer.id},${i + 0.5},eur,2026-03-10,${reference},completed,0,api,` +
    `2026-03-10T08:00:00.000Z,2026-03-10T08:00:00.000Z,,'+49,K-CSV,"'=HYPERLINK(""x"")"\r\n`;
  expect(await textOf(csvOf({ customer: 'K-CSV', sort: 'amount' }))).toBe(
    `\uFEFF${HEADER}${row(0, 'plain')}${row(1, "'-1+2")}${row(2, "'@cmd")}${row(3, '"a,""b"""')}${row(4, 'Müller €')}`,
  );
});

test('names the status of a dispute that is open', async () => {
  const { db } = database;
  const { id } = await createPayment(db, { payment_reference: 'DISPUTED', refunded_amount: '2.5' });
  await createDispute(db, { payment_id: id, status: 'won' });
  await createDispute(db, { payment_id: id, status: 'under_review' });
  const [, line = ''] = (await textOf(csvOf({ reference: 'DISPUTED' }))).split('\r\n');
  expect([line.split(',')[8], line.split(',')[12]]).toEqual(['2.5', 'under_review']);
});

test.each([
  ['a\rb', '"a\rb"'],
  ['a\nb', '"a\nb"'],
  ['a\r\nb', '"a\r\nb"'],
  ['\r=A1', '"\'\r=A1"'],
])('keeps %j in its cell', async (company, cell) => {
  const { db } = database;
  const customer = await createCustomer(db, { company });
  const invoice = await createInvoice(db, { customer_id: customer.id });
  await createPayment(db, { invoice_id: invoice.id, customer_id: customer.id });
  const text = await textOf(csvOf({ customer: customer.customer_number }));
  expect(text.slice(text.indexOf('\r\n') + 2)).toMatch(new RegExp(`^[^\r\n]*,${cell}\r\n$`));
});

test('of nothing is the header alone', async () => {
  expect(await textOf(csvOf({ reference: 'no such reference' }))).toBe(`\uFEFF${HEADER}`);
});

test.each(['-date', 'amount', 'reference'])(
  'holds every payment once, over many batches, by %s',
  async (sort) => {
    const { db } = database;
    await insertMany(`BULK-${sort}-`, 2500);
    const text = await textOf(csvOf({ reference: `BULK-${sort}-`, sort }));
    const found = text.split('\r\n').slice(1, -1);
    expect(found).toHaveLength(2500);
    expect(new Set(found.map((line) => line.split(',')[0])).size).toBe(2500);
    const column = { '-date': 5, amount: 3, reference: 6 }[sort] ?? 0;
    const values = found.map((line) => line.split(',')[column] ?? '');
    const by = (a: string, b: string) => (sort === 'amount' ? Number(a) - Number(b) : a < b ? -1 : 1);
    const sorted = values.toSorted(by);
    expect(values).toEqual(sort === '-date' ? sorted.reverse() : sorted);
    await db.delete(payments).where(sql`payment_reference like ${`BULK-${sort}-%`}`);
  },
);

test('stops reading when nobody takes more, and fails where a batch fails', async () => {
  const { db } = database;
  await insertMany('STOP-', 2500);
  let transactions = 0;
  const counting = watchedDatabase(db, {
    transaction() {
      transactions += 1;
      if (transactions === 4) throw new Error('the connection is gone');
    },
  });
  const filters = staffFilters.parse({ reference: 'STOP-' });
  const left = paymentsCsv(counting, filters);
  await left.next();
  await left.return(undefined);
  expect(transactions).toBe(1);
  const broken = paymentsCsv(counting, filters);
  await broken.next();
  await broken.next();
  await expect(broken.next()).rejects.toThrow('the connection is gone');
});

/** Payments of few amounts and few days, so that ties are many. */
async function insertMany(prefix: string, count: number): Promise<void> {
  const { db } = database;
  const invoice = await createInvoice(db);
  await db.execute(sql`
    insert into payments (invoice_id, customer_id, amount, payment_date, payment_reference, source)
    select ${invoice.id}::int, ${invoice.customer_id}::int, 1 + i % 7, date '2026-01-01' + i % 3,
      ${prefix}::text || lpad(i::text, 5, '0'), 'import'
    from generate_series(1, ${count}::int) i`);
}
