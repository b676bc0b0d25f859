import { text } from 'node:stream/consumers';
import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { creditNotes, customers } from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { DEMO_COMPANY } from '@/db/seed/company';
import { commandActor } from '@/lib/audit/audit-log';
import { type Company, saveCompany } from '@/lib/documents/company';
import { getStatementFile } from '@/lib/documents/statement';
import { readStatements, type Statement, statementCsv } from '@/lib/documents/statement-entries';
import { listBalances, listCustomerCredits } from '@/lib/invoices/customer-balances';
import { listTransferCredits } from '@/lib/payments/queries';
import { unquotedLines } from '../support/csv';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createRefund,
  createTransfer,
} from '../support/factories';

const base = useDatabase();
const ZONE = 'Europe/Berlin';
const read = (id: number, period = {}) => readStatements(base.db, id, period, ZONE);
const inCents = (amount: number) => Math.round(amount * 100);

/** Returns the amount that a customer owes minus the credit that the customer's page shows, in cents by currency. */
async function owedBy(id: number): Promise<Record<string, number>> {
  const owed: Record<string, number> = {};
  const credits = [await listCustomerCredits(base.db, id), await listTransferCredits(base.db, id)].flat();
  for (const { currency, amount } of [
    ...(await listBalances(base.db, id)).map(({ currency, due }) => ({ currency, amount: due })),
    ...credits.map(({ currency, amount }) => ({ currency, amount: -amount })),
  ])
    owed[currency] = (owed[currency] ?? 0) + inCents(amount);
  return withoutZeros(owed);
}

const withoutZeros = (sums: Record<string, number>) =>
  Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0));
const closingsOf = (statements: Statement[]) =>
  withoutZeros(Object.fromEntries(statements.map(({ currency, closing }) => [currency, inCents(closing)])));

describe('the statement of account of the sample data', () => {
  beforeAll(async () => {
    await seedDatabase(base.db, { today: '2026-11-26', timeZone: ZONE });
  });

  test('the closing balance of a customer’s statement is the sum of the open amounts minus the credit', async () => {
    const found = await base.db.select({ id: customers.id }).from(customers);
    expect(found.length).toBeGreaterThan(50);
    for (const { id } of found) expect([id, closingsOf(await read(id))]).toEqual([id, await owedBy(id)]);
  });

  test('a statement for a period starts with the previous closing balance and lists the entries of the period', async () => {
    const [largest] = await rows<{ customer_id: number }>(
      base.db,
      sql`select customer_id from invoices group by customer_id order by count(*) desc limit 1`,
    );
    const id = largest?.customer_id ?? 0;
    const [whole] = await read(id);
    const dates = whole?.entries.map(({ date }) => date) ?? [];
    const from = dates[Math.floor(dates.length / 2)] ?? '';
    const [period] = await read(id, { from });
    const before = whole?.entries.filter(({ date }) => date < from);
    expect(period?.opening).toBe(before?.at(-1)?.balance ?? 0);
    expect(period?.entries).toEqual(whole?.entries.slice(before?.length));
    expect(period?.closing).toBe(whole?.closing);
    const [early] = await read(id, { to: before?.at(-1)?.date });
    expect(early?.closing).toBe(period?.opening);
  });
});

const pay = ({ id: invoice_id, customer_id }: { id: number; customer_id: number }, more: object) =>
  createPayment(base.db, { customer_id, invoice_id, amount: '119', ...more });
/** Returns date, kind, amount and balance of each entry in a customer's statement. */
const entriesOf = async ({ customer_id }: { customer_id: number }) =>
  (await read(customer_id)).flatMap(({ entries }) =>
    entries.map(({ date, kind, amount, balance }) => `${date} ${kind} ${amount} ${balance}`),
  );
const INVOICE = '2026-03-01 invoice 119 119';

test('the statement lists the refund of a paid invoice as an amount owed, on its local day', async () => {
  const invoice = await createInvoice(base.db, { amount_paid: '109', amount_due: '10' });
  const { id: payment_id } = await pay(invoice, { refunded_amount: '10' });
  await createRefund(base.db, { payment_id, amount: '10', issued_at: new Date('2026-03-31T22:30:00Z') });
  const found = await entriesOf(invoice);
  expect(found).toEqual([INVOICE, '2026-03-10 payment -119 0', '2026-04-01 refund 10 10']);
});

test('the statement dates a refund like its payment if only the payment’s status shows the refund', async () => {
  const payment = await pay(await createInvoice(base.db), { status: 'refunded' });
  const found = await entriesOf(payment);
  expect(found).toEqual([INVOICE, '2026-03-10 payment -119 0', '2026-03-10 refund 119 119']);
});

test('a credit note and a customer balance at Stripe settle a Stripe invoice in the statement', async () => {
  const invoice = await createInvoice(base.db, {
    ...{ stripe_invoice_id: 'in_st', status: 'paid', amount_due: '0', amount_paid: '0' },
    ...{ amount_credited: '100', balance_applied: '19', paid_at: new Date('2026-03-05T12:00:00Z') },
  });
  const found = await entriesOf(invoice);
  expect(found).toEqual([INVOICE, '2026-03-05 credit_note -100 19', '2026-03-05 settled -19 0']);
});

type Later = { refunded?: string; noted?: string; credited?: string; paidAgain?: string };

const AFTER_PAID: [string, Later, string[]][] = [
  [
    ...(['a refund that leaves it paid', { refunded: '40' }] as const),
    ['2026-08-01 settled -40 -40', '2026-08-01 refund 40 0'],
  ],
  [
    ...(['a refund with a credit note without a row', { refunded: '40', credited: '40' }] as const),
    ['2026-08-01 credit_note -40 -40', '2026-08-01 refund 40 0'],
  ],
  [
    ...(['a credit note to the balance at Stripe', { noted: '40', credited: '40' }] as const),
    ['2026-07-10 credit_note -40 -40', '2026-07-10 settled 40 0'],
  ],
  [
    ...(['a credit note that is refunded later', { refunded: '40', noted: '40', credited: '40' }] as const),
    ['2026-07-10 credit_note -40 -40', '2026-08-01 refund 40 0'],
  ],
  [
    ...(['a debit that came back and was paid again', { refunded: '100', paidAgain: '2026-08-05' }] as const),
    ['2026-08-01 refund 100 100', '2026-08-05 payment -100 0'],
  ],
  [
    ...(['a second payment that was paid back', { refunded: '100', paidAgain: '2026-07-20' }] as const),
    ['2026-07-20 payment -100 -100', '2026-08-01 refund 100 0'],
  ],
  [
    ...(['a second payment', { paidAgain: '2026-07-20' }] as const),
    ['2026-07-20 settled 100 100', '2026-07-20 payment -100 0'],
  ],
];

test.each(AFTER_PAID)(
  'the statement offsets on its own day what follows the payment of a Stripe invoice: %s',
  async (_, { refunded = '0', noted, credited = '0', paidAgain }, expected) => {
    const invoice = await createInvoice(base.db, {
      ...{
        stripe_invoice_id: `in_${expected}`,
        status: 'paid',
        amount_due: '0',
        amount_credited: credited,
      },
      ...{ amount_paid: '100', balance_applied: '19', paid_at: new Date('2026-03-10T12:00:00Z') },
    });
    const { id: invoice_id, customer_id } = invoice;
    const { id: payment_id } = await pay(invoice, { amount: '100', refunded_amount: refunded });
    const issued_at = new Date('2026-08-01T12:00:00Z');
    if (paidAgain) await pay(invoice, { amount: '100', payment_date: paidAgain });
    if (refunded !== '0') await createRefund(base.db, { payment_id, amount: refunded, issued_at });
    if (noted)
      await base.db.insert(creditNotes).values({
        ...{ currency: 'eur', number: `ST-${expected}`, kind: 'credit_note', invoice_id, customer_id },
        ...{ date: '2026-07-10', subtotal: noted, tax: '0', total: noted, rates: [] },
      });
    const paid = [INVOICE, '2026-03-10 settled -19 100', '2026-03-10 payment -100 0'];
    expect(await entriesOf(invoice)).toEqual([...paid, ...expected]);
  },
);

test('the statement lists the credit of a transfer and its repayment on separate days', async () => {
  const paid_back = [{ amount: '30.000', date: '2026-03-20' }];
  const transfer = await createTransfer(base.db, { amount: '50', credit: '20', paid_back });
  expect(await entriesOf(transfer)).toEqual(['2026-03-10 credit -50 -50', '2026-03-20 paid_back 30 -20']);
  expect(await owedBy(transfer.customer_id)).toEqual({ eur: -2000 });
});

test('the statement counts an overpayment and the paid part of a cancelled invoice as credit', async () => {
  const overpaid = await createInvoice(base.db, { status: 'paid', amount_paid: '120', amount_due: '0' });
  const { customer_id } = overpaid;
  await pay(overpaid, { amount: '120' });
  const cancelled = await createInvoice(base.db, { customer_id, status: 'cancelled', amount_paid: '9' });
  await pay(cancelled, { amount: '9' });
  await base.db.insert(creditNotes).values({
    ...{ currency: 'eur', number: 'ST-1', kind: 'cancellation', invoice_id: cancelled.id, customer_id },
    ...{ date: '2026-03-20', subtotal: '100', tax: '19', total: '119', rates: [] },
  });
  const [statement] = await read(customer_id);
  expect([statement?.closing, await owedBy(customer_id)]).toEqual([-10, { eur: -1000 }]);
  const cancellation = { kind: 'cancellation', reference: 'ST-1', amount: -119 };
  expect(statement?.entries).toContainEqual(expect.objectContaining(cancellation));
});

test('the statement leaves out drafts and lists each currency separately', async () => {
  const { customer_id } = await createInvoice(base.db, { currency: 'usd', total: '5' });
  await createInvoice(base.db, { customer_id, status: 'draft', number: null });
  await createInvoice(base.db, { customer_id });
  expect(closingsOf(await read(customer_id))).toEqual({ eur: 11900, usd: 500 });
});

test('the CSV file of a statement has its entries between an opening and a closing balance', async () => {
  const { customer_id } = await createInvoice(base.db, { number: 'CSV-1' });
  const file = await text(statementCsv(base.db, customer_id, { from: '2026-02-01' }, ZONE));
  expect(unquotedLines(file.trim()).slice(1)).toEqual([
    'eur,2026-02-01,opening_balance,,,0,,',
    expect.stringMatching(/^eur,2026-03-01,invoice,CSV-1,119,119,invoice,\d+$/),
    'eur,,closing_balance,,,119,,',
  ]);
});

test('the PDF of a statement is refused only if the font lacks a character that it prints; a customer without a country gets one', async () => {
  const none = { small_business: false, payment_terms: null, footer: null, other_ibans: null };
  await saveCompany(base.db, { ...none, ...DEMO_COMPANY } as Company, { actor: commandActor('test') });
  const { customer_id } = await createInvoice(base.db);
  const openAfter = async (values: Partial<typeof customers.$inferInsert>) => {
    await base.db.update(customers).set(values).where(eq(customers.id, customer_id));
    const now = new Date('2026-03-31T12:00:00Z');
    return getStatementFile(base.db, customer_id, {}, { now, timeZone: ZONE });
  };
  expect((await openAfter({ phone: '☎ 089 123' })).name).toMatch(/^statement-.+-2026-03-31$/);
  expect((await openAfter({ country: null, document_language: 'de' })).name).toMatch(/^statement/);
  await expect(openAfter({ city: 'Köln ☎' })).rejects.toThrow(/no character for ☎\.$/);
});

test('a customer without records has no statement', async () => {
  expect(await read((await createCustomer(base.db)).id)).toEqual([]);
});
