import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { auditLog, invoices, payments, refunds } from '@/db/schema';
import { commandActor, listAudit } from '@/lib/audit/audit-log';
import { saveBatch } from '@/lib/imports/import-rows';
import { paymentImport } from '@/lib/imports/payment-import';
import { owedAfter } from '@/lib/invoices/totals';
import { findPayableInvoice, getPaymentContext } from '@/lib/payments/list';
import { getPayment, listPayments } from '@/lib/payments/queries';
import {
  correctPayment,
  recordForInvoice,
  recordTypedRefund,
  staffWriter,
  toPayment,
} from '@/lib/payments/typed-payment';
import { updatePayment } from '@/lib/payments/write-payment';
import { emptyDatabase, readRow, readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment, createRefund } from '../support/factories';
import { problemsOf } from '../support/problems';

const base = useDatabase();
const NOW = new Date('2026-03-15T12:00:00Z');

describe('payments recorded by staff', () => {
  const grace = { id: 'staff-1', email: 'grace@example.com' };
  const writer = staffWriter({ now: () => NOW, env: { timeZone: 'UTC' } }, grace);
  const typed = { amount: '19.00', payment_date: '2026-03-10', payment_reference: ' CASH-2026-1 ' };
  const record = (invoiceId: number, more = {}) =>
    recordForInvoice(base.db, invoiceId, { ...typed, ...more }, writer);

  test('a payment recorded by staff settles its invoice', async () => {
    const invoice = await createInvoice(base.db, { total: '19', subtotal: '19', tax: '0' });
    const payment = await record(invoice.id);
    expect(payment).toMatchObject({
      ...{ invoice_id: invoice.id, customer_id: invoice.customer_id, amount: 19, currency: 'eur' },
      ...{ payment_reference: 'CASH-2026-1', status: 'completed', source: 'staff' },
    });
    const { invoice: paid } = await findPayableInvoice(base.db, invoice.number ?? '');
    expect(paid).toMatchObject({ status: 'paid', amount_due: 0 });
    expect(await listAudit(base.db, 'payment', payment.id)).toMatchObject([
      { action: 'payment.create', actor_type: 'staff', actor_name: grace.email, before: null },
    ]);
  });

  test('a typed payment is refused unless its amount is unambiguous, positive, in range and in whole cents', async () => {
    expect(toPayment({ ...typed, amount: ' 1.119,00 ' }).amount).toBe(1119);
    const invoice = await createInvoice(base.db);
    for (const amount of ['1,119', '1.119', '-5', '0', '', '1e3', '9999999999999', '12.345'])
      expect([amount, await problemsOf(record(invoice.id, { amount, payment_reference: 'EXACT' }))]).toEqual([
        amount,
        ['amount'],
      ]);
  });

  test('staff can correct a payment and move it to another invoice, unless a value is invalid or the payment is from Stripe', async () => {
    const [wrong, right] = [await createInvoice(base.db), await createInvoice(base.db)];
    const { id } = await record(wrong.id, { payment_reference: 'TYPO' });
    const before = { payment_date: '2026-03-10', payment_reference: 'TYPO' };
    const fix = { payment_date: '2026-03-09', payment_reference: 'FIXED' };
    const correct = (of: number, more: Record<string, string>) =>
      correctPayment(base.db, of, { amount: '19', ...fix, ...more }, writer, () => true);
    await correct(id, { invoice: right.number ?? '' });
    const moved = { invoice_id: right.id, customer_id: right.customer_id, status: 'completed' };
    expect(await getPayment(base.db, id)).toMatchObject({ ...moved, ...fix });
    const paidOf = async (invoice: number) => (await readRow(base.db, invoices, invoice)).amount_paid;
    expect([await paidOf(wrong.id), await paidOf(right.id)]).toEqual(['0.000', '19.000']);
    expect((await listAudit(base.db, 'payment', id))[0]).toMatchObject({
      action: 'payment.update',
      before: { ...before, invoice_id: wrong.id },
      after: { ...fix, invoice_id: right.id },
    });
    const dollars = await createInvoice(base.db, { currency: 'usd' });
    const invoice = `#${right.id}`;
    expect(await problemsOf(correct(id, { invoice: 'NO-SUCH' }))).toEqual(['invoice']);
    expect(await problemsOf(correct(id, { invoice: `#${dollars.id}` }))).toEqual(['invoice']);
    expect(await problemsOf(correct(id, { invoice, payment_date: '2026-03-16' }))).toEqual(['payment_date']);
    expect(await problemsOf(correct(id, { invoice, amount: '1.900' }))).toEqual(['amount']);
    const stripes = await createPayment(base.db, { source: 'stripe' });
    expect(await problemsOf(correct(stripes.id, { invoice: '#1' }))).toEqual(['conflict']);
  });

  test.each([
    [{ amount_paid: 119, recorded: 119 }, 19, 19],
    [{ amount_paid: 150, recorded: 150 }, 19, 0],
    [{ amount_paid: 150, recorded: 150 }, 50, 19],
    [{ amount_paid: 119, recorded: 19 }, 19, 0],
    [{ amount_credited: 19, amount_paid: 100, recorded: 100 }, 19, 19],
    [{ status: 'cancelled', amount_paid: 0, recorded: 0 }, 19, 0],
  ])(
    'an invoice for 119 EUR with %j has, after a refund of %d EUR, the amount due %d',
    (values, back, owed) => {
      const settled = { status: 'paid', total: 119, amount_credited: 0, amount_due: 0 };
      expect(owedAfter({ ...settled, ...values }, back)).toBe(owed);
    },
  );

  test('the refusal of a payment form names each invalid field', async () => {
    const invoice = await createInvoice(base.db);
    const empty = { amount: 'x', payment_date: '', payment_reference: ' ' };
    await expect(record(invoice.id, empty)).rejects.toMatchObject({
      code: 'validation_failed',
      fields: expect.arrayContaining([
        expect.objectContaining({ field: 'amount' }),
        { field: 'payment_date', message: 'must be a calendar date YYYY-MM-DD' },
        { field: 'payment_reference', message: 'must not be empty' },
      ]),
    });
    expect((await listPayments(base.db, { invoice_id: invoice.id })).total).toBe(0);
  });

  test('a payment can be refunded up to its rest, on days from its date until today, and counts as refunded once nothing is left', async () => {
    const invoice = await createInvoice(base.db, { total: '100', amount_due: '100' });
    const payment = await record(invoice.id, { amount: '100', payment_reference: 'PART-1' });
    const refund = (amount: string, date = '2026-03-15') =>
      recordTypedRefund(base.db, payment.id, { amount, date }, writer);
    for (const amount of ['100.01', '0']) expect(await problemsOf(refund(amount))).toEqual(['amount']);
    for (const day of ['2026-03-16', '2026-03-09'])
      expect(await problemsOf(refund('1', day))).toEqual(['date']);
    const foretold = owedAfter((await getPaymentContext(base.db, payment)).invoice, 40.5);
    expect(await refund('40,50')).toMatchObject({ status: 'completed', refunded_amount: 40.5, amount: 100 });
    expect((await readRow(base.db, invoices, invoice.id)).amount_due).toBe('40.500');
    expect(foretold).toBe(40.5);
    expect(await problemsOf(refund('59.51'))).toEqual(['amount']);
    expect(await refund('59.50', '2026-03-11')).toMatchObject({ status: 'refunded', refunded_amount: 100 });
    expect(await problemsOf(refund('1'))).toEqual(['conflict']);
  });
});

test('raising the amount of a refunded payment keeps the refunded amount, and lowering the amount below that lowers both', async () => {
  const refunded = { amount: '119', status: 'refunded', refunded_amount: '119' } as const;
  const { id } = await createPayment(base.db, refunded);
  await createRefund(base.db, { payment_id: id, amount: '119' });
  const writer = { actor: commandActor('test'), source: 'api' as const, now: NOW, timeZone: 'UTC' };
  const change = (amount: number) => updatePayment(base.db, id, { amount }, writer);
  expect(await change(150)).toMatchObject({ status: 'completed', refunded_amount: 119 });
  expect(await change(100)).toMatchObject({ status: 'refunded', refunded_amount: 100 });
});

describe('an import of payments', () => {
  const writer = { actor: commandActor('test'), now: NOW, timeZone: 'UTC', importId: 1 };
  const save = (values: Record<string, unknown>[]) =>
    saveBatch(
      base.db,
      paymentImport,
      values.map((one) => ({ values: { payment_date: '2026-03-10', ...one } })),
      writer,
      false,
    );

  const INVOICES: Record<string, NonNullable<Parameters<typeof createInvoice>[1]>> = {
    open: {},
    paid: { status: 'paid', amount_paid: '119', amount_due: '0' },
    cancelled: { status: 'cancelled' },
    draft: { status: 'draft', number: null },
    stripe: { stripe_invoice_id: 'in_1' },
  };

  type Given = [reference: string, invoice: string, amount: number, more?: Record<string, unknown>];
  /** The payments of each import file. */
  const FILES: Given[][] = [
    [
      ['FIRST', 'open', 19],
      ['SECOND', 'open', 50, { status: 'failed' }],
      ['THIRD', 'open', 40.5, { refunded_amount: 0.5, refunded_at: '2026-03-09' }],
      ['PART', 'paid', 50],
      ['REST', 'paid', 69],
      ['MORE', 'paid', 30],
      ['EARLIER', 'cancelled', 119, { status: 'refunded' }],
      ['NONE', 'draft', 119],
      ['THEIRS', 'stripe', 20],
      ['TOO EXACT', 'open', 1.001],
      ['BACK', 'open', 10, { refund_of: 'THIRD' }],
      ['TOO MUCH BACK', 'open', 500, { refund_of: 'THIRD' }],
    ],
    [
      ['FIRST', 'open', 19],
      ['THIRD', 'open', 100],
      ['SECOND', 'open', 50, { status: 'completed' }],
      ['PART', 'paid', 20],
      ['NEW', 'paid', 1],
      ['BACK', 'open', 10, { refund_of: 'THIRD' }],
    ],
  ];

  /** Imports all files into an empty database, in batches of `atOnce` payments. @returns the outcomes and the rows */
  async function write(atOnce: number) {
    const { db } = base;
    await emptyDatabase(db);
    const { id: customer_id } = await createCustomer(db);
    for (const [number, given] of Object.entries(INVOICES))
      await createInvoice(db, { customer_id, number, ...given });
    const outcomes: string[] = [];
    for (const file of FILES) {
      const all = file.map(([payment_reference, invoice, amount, more]) => ({
        ...{ payment_reference, amount, ...more },
        ...(invoice === 'stripe' ? { stripe_invoice_id: 'in_1' } : { invoice_number: invoice }),
      }));
      for (let i = 0; i < all.length; i += atOnce)
        for (const one of await save(all.slice(i, i + atOnce)))
          outcomes.push('problems' in one ? JSON.stringify(one.problems) : one.outcome);
    }
    const stored = await readRows(db, payments);
    const referenceOf = (id: number | null) => stored.find((one) => one.id === id)?.payment_reference;
    const back = await readRows(db, refunds);
    const audit = await readRows(db, auditLog, eq(auditLog.entity, 'payment'));
    const rows = {
      payments: stored,
      invoices: await readRows(db, invoices),
      refunds: back.map(({ payment_id, ...one }) => [referenceOf(payment_id), one.amount, one.issued_at]),
      audit: audit.map(({ action, actor_name, before, after }) => ({ action, actor_name, before, after })),
    };
    const isCompared = (key: string) =>
      !/^(id|\w+_at|customer_id|invoice_id|version)$/.test(key) || key === 'paid_at';
    const textOf = (row: unknown) =>
      JSON.stringify(row, (key, value) => (isCompared(key) ? value : undefined));
    // The order of the rows depends on the batch size, so it is not compared.
    const sorted = Object.entries<unknown[]>(rows).map(([table, all]) => [table, all.map(textOf).sort()]);
    return { outcomes, ...Object.fromEntries(sorted) };
  }

  test('importing payments in one batch has the same outcomes and rows as importing them one by one', async () => {
    const together = await write(100);
    expect(together).toEqual(await write(1));
    expect(together.outcomes).toEqual([
      ...Array(7).fill('created'),
      expect.stringContaining('invoice_number'),
      'created',
      expect.stringContaining('decimals'),
      'created',
      expect.stringContaining('more than is left'),
      ...'unchanged changed changed changed created unchanged'.split(' '),
    ]);
  });
});
