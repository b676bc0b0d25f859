import { asc, eq, inArray } from 'drizzle-orm';
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
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment, createRefund } from '../support/factories';

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

  test('a payment with a reference that is already used is refused', async () => {
    const held = await createPayment(base.db, { payment_reference: 'TAKEN' });
    const invoice = await createInvoice(base.db);
    await expect(record(invoice.id, { payment_reference: 'TAKEN' })).rejects.toMatchObject({
      code: 'conflict',
      fields: [{ field: 'payment_reference', message: 'is used by another payment' }],
    });
    expect(await getPayment(base.db, held.id)).toMatchObject({ amount: 10, invoice_id: held.invoice_id });
    expect(await listAudit(base.db, 'payment', held.id)).toEqual([]);
  });

  test.each([
    ['1119.50', 1119.5],
    ['1119,5', 1119.5],
    [' 12 ', 12],
    ['1.119,00', 1119],
    ['1,119.00', 1119],
    ['1 119', 1119],
    ...['1,119', '1.119', '-5', '0', '', '1e3', '9999999999999'].map((text) => [text, null]),
  ] as [string, number | null][])(
    'the typed payment amount “%s” is read as %s (null if refused)',
    (amount, expected) => {
      if (expected !== null) expect(toPayment({ ...typed, amount }).amount).toBe(expected);
      else {
        expect(() => toPayment({ ...typed, amount })).toThrow(
          expect.objectContaining({
            fields: expect.arrayContaining([expect.objectContaining({ field: 'amount' })]),
          }),
        );
      }
    },
  );

  test('staff can move a payment to another invoice', async () => {
    const [wrong, right] = [await createInvoice(base.db), await createInvoice(base.db)];
    const { id } = await record(wrong.id, { payment_reference: 'TYPO' });
    const fix = { amount: '19', payment_date: '2026-03-09', payment_reference: 'FIXED' };
    const correct = (more: Record<string, string>) =>
      correctPayment(base.db, id, { ...fix, ...more }, writer, () => true);
    await correct({ invoice: right.number ?? '' });
    expect(await getPayment(base.db, id)).toMatchObject({
      ...{ invoice_id: right.id, customer_id: right.customer_id, status: 'completed' },
      ...{ payment_date: '2026-03-09', payment_reference: 'FIXED' },
    });
    const paid = await base.db
      .select({ id: invoices.id, paid: invoices.amount_paid })
      .from(invoices)
      .where(inArray(invoices.id, [wrong.id, right.id]))
      .orderBy(asc(invoices.id));
    expect(paid.map(({ paid: amount }) => Number(amount))).toEqual([0, 19]);
    const [last] = await listAudit(base.db, 'payment', id);
    expect(last).toMatchObject({
      action: 'payment.update',
      before: { invoice_id: wrong.id, payment_date: '2026-03-10', payment_reference: 'TYPO' },
      after: { invoice_id: right.id, payment_date: '2026-03-09', payment_reference: 'FIXED' },
    });
    const dollars = await createInvoice(base.db, { currency: 'usd' });
    for (const [more, field] of [
      [{ invoice: 'NO-SUCH' }, 'invoice'],
      [{ invoice: `#${dollars.id}` }, 'invoice'],
      [{ invoice: `#${right.id}`, payment_date: '2026-03-16' }, 'payment_date'],
      [{ invoice: `#${right.id}`, amount: '1.900' }, 'amount'],
    ] as const) {
      await expect(correct(more)).rejects.toMatchObject({ fields: [expect.objectContaining({ field })] });
    }
    const stripes = await createPayment(base.db, { source: 'stripe' });
    await expect(
      correctPayment(base.db, stripes.id, { ...fix, invoice: '#1' }, writer, () => true),
    ).rejects.toMatchObject({ code: 'conflict' });
  });

  test.each([
    [{ amount_paid: '119', recorded: 119 }, 19, 19],
    [{ amount_paid: '150', recorded: 150, amount_due: 0 }, 19, 0],
    [{ amount_paid: '150', recorded: 150, amount_due: 0 }, 50, 19],
    [{ amount_paid: '119', recorded: 19, amount_due: 0 }, 19, 0],
    [{ amount_credited: 19, amount_paid: '100', recorded: 100, amount_due: 0 }, 19, 19],
    [{ status: 'cancelled', amount_paid: '0', recorded: 0, amount_due: 0 }, 19, 0],
  ])(
    'an invoice over 119 EUR with %j has, after a refund of %d EUR, the amount due %d',
    (values, back, owed) => {
      const { amount_paid, ...rest } = values;
      const invoice = {
        status: 'paid',
        total: 119,
        amount_credited: 0,
        amount_due: 0,
        ...rest,
        amount_paid: Number(amount_paid),
      };
      expect(owedAfter(invoice, back)).toBe(owed);
    },
  );

  test('the amount due that is shown before a refund equals the amount due after the refund is recorded', async () => {
    const invoice = await createInvoice(base.db, { total: '19', subtotal: '19', tax: '0' });
    const payment = await record(invoice.id, { payment_reference: 'FORETOLD' });
    const foretold = owedAfter((await getPaymentContext(base.db, payment)).invoice, 4.5);
    const date = '2026-03-15';
    await recordTypedRefund(base.db, payment.id, { amount: '4,50', date }, writer, () => true);
    expect((await getPaymentContext(base.db, payment)).invoice.amount_due).toBe(foretold);
    expect(foretold).toBe(4.5);
  });

  test('a payment form with invalid fields is refused and names each field', async () => {
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
    await expect(record(invoice.id, { amount: '12.345', payment_reference: 'EXACT' })).rejects.toMatchObject({
      fields: [{ field: 'amount' }],
    });
    expect((await listPayments(base.db, { invoice_id: invoice.id })).total).toBe(0);
  });

  test('refunding the rest of a partly refunded payment marks the payment as refunded', async () => {
    const invoice = await createInvoice(base.db, { total: '100', amount_due: '100' });
    const payment = await record(invoice.id, { amount: '100', payment_reference: 'PART-1' });
    const refund = (amount: string, date = '2026-03-15') =>
      recordTypedRefund(base.db, payment.id, { amount, date }, writer);
    for (const [amount, date, field] of [
      ['100.01', '2026-03-15', 'amount'],
      ['0', '2026-03-15', 'amount'],
      ['1', '2026-03-16', 'date'],
      ['1', '2026-03-09', 'date'],
    ] as const) {
      await expect(refund(amount, date)).rejects.toMatchObject({ fields: [{ field }] });
    }
    expect(await refund('40,50')).toMatchObject({ status: 'completed', refunded_amount: 40.5, amount: 100 });
    expect((await findPayableInvoice(base.db, invoice.number ?? '')).invoice.amount_due).toBe(40.5);
    await expect(refund('59.51')).rejects.toMatchObject({ fields: [{ field: 'amount' }] });
    expect(await refund('59.50', '2026-03-11')).toMatchObject({ status: 'refunded', refunded_amount: 100 });
    await expect(refund('1')).rejects.toMatchObject({ code: 'conflict' });
  });
});

test('raising the amount of a refunded payment does not raise its refunded amount', async () => {
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

  /** Creates invoices, imports all files in batches of `atOnce` payments, and returns the resulting rows. */
  async function write(prefix: string, atOnce: number) {
    const { db } = base;
    const { id: customer_id } = await createCustomer(db);
    const numbers = new Map<string, Record<string, string>>();
    const ids: number[] = [];
    for (const [name, given] of Object.entries(INVOICES)) {
      const stripe = given.stripe_invoice_id ? { stripe_invoice_id: `${prefix}-in` } : {};
      const number = 'number' in given ? {} : { number: `${prefix}-${name}` };
      ids.push((await createInvoice(db, { customer_id, ...given, ...number, ...stripe })).id);
      numbers.set(name, stripe.stripe_invoice_id ? stripe : { invoice_number: `${prefix}-${name}` });
    }
    const outcomes: string[] = [];
    for (const file of FILES) {
      const all = file.map(([reference, invoice, amount, more]) => ({
        payment_reference: `${prefix}-${reference}`,
        ...numbers.get(invoice),
        amount,
        ...more,
        ...(more?.refund_of !== undefined && { refund_of: `${prefix}-${more.refund_of}` }),
      }));
      for (let i = 0; i < all.length; i += atOnce) {
        const saved = await save(all.slice(i, i + atOnce));
        outcomes.push(
          ...saved.map((one) => ('problems' in one ? JSON.stringify(one.problems) : one.outcome)),
        );
      }
    }
    const stored = await db
      .select()
      .from(payments)
      .where(inArray(payments.invoice_id, ids))
      .orderBy(asc(payments.payment_reference));
    const referenceOf = new Map(stored.map((one) => [one.id, one.payment_reference]));
    const isOurs = (id: number | null) => referenceOf.has(id ?? 0);
    const settled = await db
      .select()
      .from(invoices)
      .where(inArray(invoices.id, ids))
      .orderBy(asc(invoices.id));
    const back = (await db.select().from(refunds)).filter((one) => isOurs(one.payment_id));
    const log = await db.select().from(auditLog).where(eq(auditLog.entity, 'payment')).orderBy(auditLog.id);
    const written = {
      outcomes,
      payments: stored,
      invoices: settled,
      refunds: back.map(
        (one) => `${referenceOf.get(one.payment_id ?? 0)} ${one.amount} ${one.issued_at?.toISOString()}`,
      ),
      audit: log
        .filter(({ entity_id }) => isOurs(entity_id))
        .map(({ action, actor_name, before, after }) => ({ action, actor_name, before, after })),
    };
    const text = JSON.stringify(written, (key, value) =>
      /^(id|\w+_at|customer_id|invoice_id|version)$/.test(key) && key !== 'paid_at' ? undefined : value,
    );
    const { audit, refunds: made, ...rest } = JSON.parse(text.replaceAll(`${prefix}-`, ''));
    // The order of these rows depends on the batch size, so it is not compared.
    const sorted = (list: unknown[]) => list.map((one) => JSON.stringify(one)).sort();
    return { ...rest, audit: sorted(audit), refunds: sorted(made) };
  }

  test('importing payments in one batch writes the same rows as importing them one by one', async () => {
    const together = await write('T', 100);
    expect(together).toEqual(await write('O', 1));
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
