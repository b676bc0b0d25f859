import { eq, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { accountingEntries, customers, invoices, payments, transfers } from '@/db/schema';
import { commandActor, listAudit } from '@/lib/audit/audit-log';
import { readStatements } from '@/lib/documents/statement-entries';
import { AppError } from '@/lib/errors';
import { listBalances, listCustomerCredits } from '@/lib/invoices/customer-balances';
import { leftOf } from '@/lib/invoices/settle';
import { toThousandths } from '@/lib/money';
import {
  findTransferId,
  getTransfer,
  listOpenInvoices,
  listShares,
  listTransferCredits,
  listTransfers,
  listUsableCredits,
} from '@/lib/payments/queries';
import type { PaymentWriter } from '@/lib/payments/schema';
import {
  applyCredit,
  correctTransfer,
  deleteTransfer,
  payBackCredit,
  recordTransfer,
  recordTypedRefund,
  undoPayBack,
} from '@/lib/payments/typed-payment';
import { deletePayment, recordPayment, updatePayment } from '@/lib/payments/write-payment';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment } from '../support/factories';

const base = useDatabase();
const NOW = new Date('2026-10-20T12:00:00Z');
const LATER = new Date('2026-11-05T12:00:00Z');
const writer = (now = NOW, source: PaymentWriter['source'] = 'staff'): PaymentWriter => ({
  ...{ actor: commandActor('test'), source, now, timeZone: 'UTC' },
});

const invoice = (customer_id: number, total: string, more = {}) =>
  createInvoice(base.db, { customer_id, total, subtotal: total, tax: '0', ...more });

let drawn = 0;
const TYPED = { payment_date: '2026-10-10', method: 'Bank transfer' };
function record(customerId: number, amount: string, shares: [id: number, amount: string][], more = {}) {
  drawn += 1;
  const typed = { ...TYPED, amount, payment_reference: `SEPA-${drawn}`, ...more };
  const fields = Object.fromEntries(shares.map(([id, share]) => [`share_${id}`, share]));
  return recordTransfer(base.db, customerId, 'eur', { ...typed, ...fields }, writer());
}

const seen = async (id: number) => ({ id, version: (await getTransfer(base.db, id)).version });
const statusOf = async (id: number) => {
  const [found] = await base.db.select().from(invoices).where(eq(invoices.id, id));
  return [found?.status, Number(found?.amount_due)];
};
const sharesOf = async (id: number) =>
  (await listShares(base.db, (await getTransfer(base.db, id)).reference)).map((one) => [
    one.payment_reference,
    one.amount,
  ]);
const booked = async (customerId: number) => {
  const [customer] = await base.db.select().from(customers).where(eq(customers.id, customerId));
  return base.db
    .select()
    .from(accountingEntries)
    .where(eq(accountingEntries.customer_number, customer?.customer_number ?? ''))
    .orderBy(accountingEntries.id);
};

/** Creates a customer with invoices over 100 and 50 EUR, and a transfer of 180 EUR that pays both. */
async function spread() {
  const { id: customerId } = await createCustomer(base.db);
  const first = await invoice(customerId, '100', { due_date: '2026-09-01' });
  const second = await invoice(customerId, '50', { due_date: '2026-10-01' });
  const id = await record(customerId, '180', [
    [first.id, '100'],
    [second.id, '50'],
  ]);
  const { reference } = await getTransfer(base.db, id);
  return { customerId, first, second, id, reference };
}

describe('a transfer', () => {
  test('a transfer settles several invoices, and the rest of its amount becomes credit', async () => {
    const { customerId, first, second, id, reference } = await spread();
    expect(await sharesOf(id)).toEqual([
      [reference, 100],
      [`${reference}/2`, 50],
    ]);
    expect([await statusOf(first.id), await statusOf(second.id)]).toEqual([
      ['paid', 0],
      ['paid', 0],
    ]);
    expect(await listUsableCredits(base.db, customerId)).toEqual([
      { currency: 'eur', amount: 30, sources: [{ transfer: reference }] },
    ]);
    expect(await listTransfers(base.db, customerId)).toMatchObject([
      { id, amount: 180, credit: 30, shares: [{ invoice_id: first.id, amount: 100 }, { amount: 50 }] },
    ]);
    expect(await listAudit(base.db, 'transfer', id)).toMatchObject([
      { action: 'transfer.create', before: null, after: { amount: '180.000', credit: '30.000' } },
    ]);
    expect(await findTransferId(base.db, reference)).toBe(id);
    expect(await listOpenInvoices(base.db, customerId)).toEqual([]);
  });

  test('credit of a transfer can pay another invoice later, and that payment can be undone', async () => {
    const { customerId, id, reference } = await spread();
    const third = await invoice(customerId, '20');
    await applyCredit(base.db, third.id, '20.00', writer());
    expect(await statusOf(third.id)).toEqual(['paid', 0]);
    expect((await getTransfer(base.db, id)).credit).toBe(10);
    const [, , share] = await listShares(base.db, reference);
    expect(share?.payment_reference).toBe(`${reference}/3`);
    await deletePayment(base.db, share?.id ?? 0, writer());
    expect((await getTransfer(base.db, id)).credit).toBe(30);
    expect(await statusOf(third.id)).toEqual(['overdue', 20]);
  });

  test('using more credit than is available, or more than the amount due of an invoice, is refused', async () => {
    const { customerId } = await spread();
    const [small, large] = [await invoice(customerId, '20'), await invoice(customerId, '500')];
    await expect(applyCredit(base.db, small.id, '21', writer())).rejects.toMatchObject({
      fields: [{ field: 'amount', message: expect.stringContaining('which the invoice owes') }],
    });
    await expect(applyCredit(base.db, large.id, '31', writer())).rejects.toMatchObject({
      fields: [{ field: 'amount', message: expect.stringContaining('credit') }],
    });
  });

  test('a transfer is refused if its shares exceed its amount or belong to other currencies or customers', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const [own, dollars] = [
      await invoice(customerId, '100'),
      await invoice(customerId, '100', { currency: 'usd' }),
    ];
    const other = await createInvoice(base.db);
    const refused = (shares: [number, string][]) => expect(record(customerId, '50', shares)).rejects;
    await refused([[own.id, '50.01']]).toMatchObject({ fields: [{ field: 'amount' }] });
    await refused([[dollars.id, '10']]).toMatchObject({ fields: [{ field: `share_${dollars.id}` }] });
    await refused([[other.id, '10']]).toMatchObject({ fields: [{ field: `share_${other.id}` }] });
    await refused([[own.id, 'ten']]).toMatchObject({ fields: [{ field: `share_${own.id}` }] });
    expect(await base.db.$count(transfers, eq(transfers.customer_id, customerId))).toBe(0);
    expect(await statusOf(own.id)).toEqual(['sent', 100]);
  });

  test('a transfer is refused if its reference is already used, belongs to Stripe or is too long', async () => {
    const { customerId, reference } = await spread();
    await createPayment(base.db, { payment_reference: 'CASH-7' });
    for (const payment_reference of ['CASH-7', reference, `${reference}/2`]) {
      await expect(record(customerId, '5', [], { payment_reference })).rejects.toMatchObject({
        code: 'conflict',
      });
    }
    for (const payment_reference of ['pi_123', 'x'.repeat(253)]) {
      await expect(record(customerId, '5', [], { payment_reference })).rejects.toMatchObject({
        fields: [{ field: 'payment_reference' }],
      });
    }
  });

  test('the references of a transfer’s payments have at most 255 characters', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const due = [await invoice(customerId, '5'), await invoice(customerId, '5')];
    const payment_reference = 'x'.repeat(252);
    const id = await record(
      customerId,
      '10',
      due.map((one) => [one.id, '5']),
      { payment_reference },
    );
    expect(await sharesOf(id)).toEqual([
      [payment_reference, 5],
      [`${payment_reference}/2`, 5],
    ]);
  });

  test('correcting a transfer changes the date and the reference of all its payments', async () => {
    const { id, first } = await spread();
    const typed = { amount: '200', payment_date: '2026-10-12', payment_reference: 'SEPA-NEW', method: '' };
    await correctTransfer(base.db, await seen(id), typed, writer());
    expect(await getTransfer(base.db, id)).toMatchObject({ amount: 200, credit: 50, method: null });
    const found = await base.db.select().from(payments).where(eq(payments.transfer, 'SEPA-NEW'));
    expect(found.map((row) => [row.payment_reference, row.payment_date]).sort()).toEqual([
      ['SEPA-NEW', '2026-10-12'],
      ['SEPA-NEW/2', '2026-10-12'],
    ]);
    expect(await statusOf(first.id)).toEqual(['paid', 0]);
    await expect(
      correctTransfer(base.db, await seen(id), { ...typed, amount: '149.99' }, writer()),
    ).rejects.toMatchObject({ fields: [{ field: 'amount' }] });
  });

  test('deleting a transfer deletes all its payments, so that its invoices are owed again', async () => {
    const { id, first, second, reference } = await spread();
    await deleteTransfer(base.db, await seen(id), writer());
    expect(await base.db.$count(payments, eq(payments.transfer, reference))).toBe(0);
    expect((await statusOf(first.id))[1]).toBe(100);
    expect((await statusOf(second.id))[1]).toBe(50);
    await expect(getTransfer(base.db, id)).rejects.toMatchObject({ code: 'not_found' });
    expect((await listAudit(base.db, 'transfer', id)).map(({ action }) => action)).toEqual([
      'transfer.delete',
      'transfer.create',
    ]);
  });

  test('changing a transfer is refused if another person has changed it in the meantime', async () => {
    const { id } = await spread();
    const version = await seen(id);
    await payBackCredit(base.db, version, { amount: '10', date: '2026-10-15' }, writer());
    await expect(deleteTransfer(base.db, version, writer())).rejects.toMatchObject({
      code: 'precondition_failed',
    });
  });

  test('a payback of credit can be recorded and withdrawn', async () => {
    const { id } = await spread();
    await payBackCredit(base.db, await seen(id), { amount: '10', date: '2026-10-15' }, writer());
    expect(await getTransfer(base.db, id)).toMatchObject({
      credit: 20,
      paid_back: [{ amount: 10, date: '2026-10-15' }],
    });
    for (const [amount, date, field] of [
      ['20.01', '2026-10-15', 'amount'],
      ['1', '2026-10-21', 'date'],
      ['1', '2026-10-09', 'date'],
    ]) {
      await expect(
        payBackCredit(base.db, await seen(id), { amount: `${amount}`, date: `${date}` }, writer()),
      ).rejects.toMatchObject({ fields: [{ field }] });
    }
    await undoPayBack(base.db, await seen(id), 0, writer());
    expect(await getTransfer(base.db, id)).toMatchObject({ credit: 30, paid_back: [] });
  });
});

describe('a payment of a transfer over the API', () => {
  const post = (
    invoice_id: number,
    customer_id: number,
    amount: number,
    payment_reference: string,
    more = {},
  ) =>
    recordPayment(
      base.db,
      { invoice_id, customer_id, amount, payment_date: '2026-10-10', payment_reference, ...more },
      writer(NOW, 'api'),
    );

  test('a POST with the reference of a transfer changes only the transfer’s first payment', async () => {
    const { customerId, first, second, id, reference } = await spread();
    const { payment, created } = await post(first.id, customerId, 120, reference);
    expect([created, payment.amount, payment.transfer]).toEqual([false, 120, reference]);
    expect((await getTransfer(base.db, id)).credit).toBe(10);
    await post(first.id, customerId, 80, reference);
    expect((await getTransfer(base.db, id)).credit).toBe(50);
    expect((await statusOf(first.id))[1]).toBe(20);
    expect(await statusOf(second.id)).toEqual(['paid', 0]);
  });

  test('a POST that raises a transfer’s payment too far, moves it or makes it pending is refused', async () => {
    const { customerId, first, second, reference } = await spread();
    for (const [of, amount, more] of [
      [first, 130.01, {}],
      [second, 10, {}],
      [first, 100, { status: 'pending' }],
    ] as const) {
      await expect(post(of.id, customerId, amount, reference, more)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(`transfer ${reference}`),
      });
    }
  });

  test('recording a payment with the reference of a transfer without payments is a conflict', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const due = await invoice(customerId, '10');
    const { reference } = await getTransfer(base.db, await record(customerId, '30', []));
    await expect(post(due.id, customerId, 10, reference)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`transfer ${reference}`),
    });
  });

  test('a partly refunded payment of a transfer cannot be deleted until the refund is withdrawn', async () => {
    const { id, reference } = await spread();
    const [share] = await listShares(base.db, reference);
    const shareId = share?.id ?? 0;
    await recordTypedRefund(base.db, shareId, { amount: '40', date: '2026-10-15' }, writer());
    await expect(deletePayment(base.db, shareId, writer())).rejects.toMatchObject({ code: 'conflict' });
    await updatePayment(base.db, shareId, { status: 'refunded' }, writer());
    await updatePayment(base.db, shareId, { status: 'completed' }, writer());
    await deletePayment(base.db, shareId, writer());
    expect((await getTransfer(base.db, id)).credit).toBe(130);
  });

  test('a POST that lowers a transfer’s payment below its refunded amount is a conflict', async () => {
    const { customerId, first, id, reference } = await spread();
    const [share] = await listShares(base.db, reference);
    await recordTypedRefund(base.db, share?.id ?? 0, { amount: '40', date: '2026-10-15' }, writer());
    await expect(post(first.id, customerId, 39, reference)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('which was refunded'),
    });
    await post(first.id, customerId, 40, reference);
    expect((await getTransfer(base.db, id)).credit).toBe(90);
  });
});

describe('the credit of an overpaid invoice', () => {
  test('the overpaid part of a payment can pay another invoice, and counts only once', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const [over, due] = [await invoice(customerId, '100'), await invoice(customerId, '30')];
    const input = { invoice_id: over.id, customer_id: customerId, amount: 120, payment_date: '2026-10-10' };
    await recordPayment(base.db, { ...input, payment_reference: 'BANK-OVER' }, writer());
    expect(await listUsableCredits(base.db, customerId)).toMatchObject([{ currency: 'eur', amount: 20 }]);
    await applyCredit(base.db, due.id, '20', writer());
    expect([await statusOf(over.id), (await statusOf(due.id))[1]]).toEqual([['paid', 0], 10]);
    expect(await listUsableCredits(base.db, customerId)).toEqual([]);
    const id = (await findTransferId(base.db, 'BANK-OVER')) ?? 0;
    expect(await getTransfer(base.db, id)).toMatchObject({ amount: 120, credit: 0 });
    expect(await sharesOf(id)).toEqual([
      ['BANK-OVER', 100],
      ['BANK-OVER/2', 20],
    ]);
  });

  test('a payment whose reference is too long to be numbered is no usable credit', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const over = await invoice(customerId, '100');
    const input = { invoice_id: over.id, customer_id: customerId, amount: 120, payment_date: '2026-10-10' };
    await recordPayment(base.db, { ...input, payment_reference: 'L'.repeat(255) }, writer());
    expect(await listUsableCredits(base.db, customerId)).toEqual([]);
  });

  test('the payment of a fully credited invoice can pay another invoice', async () => {
    const { id: customerId } = await createCustomer(base.db);
    const withdrawn = await invoice(customerId, '100', {
      amount_credited: '100',
      status: 'paid',
      amount_due: '0',
    });
    const due = await invoice(customerId, '100');
    const input = { invoice_id: withdrawn.id, customer_id: customerId, amount: 100 };
    const dated = { payment_date: '2026-10-10', payment_reference: 'BANK-WHOLE' };
    await recordPayment(base.db, { ...input, ...dated }, writer());
    await applyCredit(base.db, due.id, '100', writer());
    expect(await statusOf(due.id)).toEqual(['paid', 0]);
    const id = (await findTransferId(base.db, 'BANK-WHOLE')) ?? 0;
    expect(await sharesOf(id)).toEqual([['BANK-WHOLE/2', 100]]);
  });

  test('amounts imported as paid without payments, and payments reported by Stripe, cannot be used as credit', async () => {
    const { id: customerId } = await createCustomer(base.db);
    await invoice(customerId, '100', { amount_paid: '130', status: 'paid', amount_due: '0' });
    const due = await invoice(customerId, '30');
    const stripes = await invoice(customerId, '10', { amount_paid: '20', status: 'paid', amount_due: '0' });
    const named = { payment_reference: 'pi_over', amount: '20', invoice_id: stripes.id };
    await createPayment(base.db, { ...named, customer_id: customerId });
    expect(await listUsableCredits(base.db, customerId)).toEqual([]);
    await expect(applyCredit(base.db, due.id, '1', writer())).rejects.toMatchObject({
      fields: [{ field: 'amount' }],
    });
  });
});

describe('transfers in the books', () => {
  test('credit of a transfer is posted when it is received, and moves to the invoice in the month of its use', async () => {
    const { customerId, first, second, id } = await spread();
    const third = await invoice(customerId, '20');
    await applyCredit(base.db, third.id, '20', writer(LATER));
    await payBackCredit(base.db, await seen(id), { amount: '10', date: '2026-11-04' }, writer(LATER));
    const entries = (await booked(customerId)).filter(({ record }) => ['payment', 'refund'].includes(record));
    const sums = entries.map((one) => [
      ...[one.record, one.booked_on, Number(one.gross), one.invoice_id, one.transfer_id === id],
    ]);
    expect(sums).toEqual([
      ['payment', '2026-10-10', 100, first.id, false],
      ['payment', '2026-10-10', 50, second.id, false],
      ['payment', '2026-10-10', 30, null, true],
      ['payment', '2026-11-05', -30, null, true],
      ['payment', '2026-11-05', 20, third.id, false],
      ['payment', '2026-11-05', 10, null, true],
      ['refund', '2026-11-04', -10, null, true],
    ]);
  });
});

/** A random step: its kind, and numbers that choose the record and the amount. */
const step = fc.record({
  kind: fc.constantFrom(
    ...([
      'record',
      'use',
      'undo',
      'delete',
      'refund',
      'pay_back',
      'undo_pay_back',
      'post',
      'correct',
    ] as const),
  ),
  pick: fc.nat(1000),
  cents: fc.integer({ min: 1, max: 20_000 }),
});

test('payments, credit and paid back credit of each transfer add up to its amount after any sequence of changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const { id: customerId } = await createCustomer(base.db);
      const due = [
        await invoice(customerId, '100'),
        await invoice(customerId, '40.5'),
        await invoice(customerId, '60'),
        await invoice(customerId, '0.3'),
      ];
      for (const one of steps) await play(customerId, due, one);
      await checkSums(customerId);
    }),
    { numRuns: 40 },
  );
}, 300_000);

/** Performs a step. The product may refuse it. The sums must be right in both cases. */
async function play(
  customerId: number,
  due: { id: number }[],
  { kind, pick, cents }: typeof step extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> {
  const amount = (cents / 100).toFixed(2);
  const known = await base.db
    .select()
    .from(transfers)
    .where(eq(transfers.customer_id, customerId))
    .orderBy(transfers.id);
  const shares = await base.db
    .select()
    .from(payments)
    .where(eq(payments.customer_id, customerId))
    .orderBy(payments.id);
  const transfer = known[pick % Math.max(1, known.length)];
  const share = shares[pick % Math.max(1, shares.length)];
  const target = due[pick % due.length]?.id ?? 0;
  const at = transfer && { id: transfer.id, version: transfer.version };
  const by = writer(pick % 2 === 0 ? NOW : LATER);
  drawn += 1;
  const post = (invoice_id: number, payment_reference: string) =>
    recordPayment(
      base.db,
      {
        invoice_id,
        customer_id: customerId,
        amount: cents / 100,
        payment_date: '2026-10-11',
        payment_reference,
      },
      { ...by, source: 'api' },
    );
  const steps = {
    record: () =>
      record(customerId, amount, [
        [target, (cents / 300).toFixed(2)],
        [due[(pick + 1) % due.length]?.id ?? 0, (cents / 400).toFixed(2)],
      ]),
    use: () => applyCredit(base.db, target, amount, by),
    undo: () => share && deletePayment(base.db, share.id, by),
    delete: () => at && deleteTransfer(base.db, at, by),
    refund: () => share && recordTypedRefund(base.db, share.id, { amount, date: '2026-10-20' }, by),
    pay_back: () => at && payBackCredit(base.db, at, { amount, date: '2026-10-20' }, by),
    undo_pay_back: () => at && undoPayBack(base.db, at, 0, by),
    post: () =>
      share && pick % 3 > 0 ? post(share.invoice_id, share.payment_reference) : post(target, `POST-${drawn}`),
    correct: () =>
      at && correctTransfer(base.db, at, { ...TYPED, amount, payment_reference: `FIX-${drawn}` }, by),
  };
  try {
    await steps[kind]();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

/** Returns the open amounts minus all credit, in thousandths. */
async function owedBy(customerId: number): Promise<number> {
  const due = (await listBalances(base.db, customerId)).map((one) => one.due);
  const credits = await listCustomerCredits(base.db, customerId);
  const more = await listTransferCredits(base.db, customerId);
  const sum = [...due, ...[...credits, ...more].map(({ amount }) => -amount)].reduce(
    (all, one) => all + one,
    0,
  );
  return Math.round(sum * 1000);
}

async function checkSums(customerId: number): Promise<void> {
  const [statement] = await readStatements(base.db, customerId, {}, 'UTC');
  expect(Math.round((statement?.closing ?? 0) * 1000)).toBe(await owedBy(customerId));
  // Stripe manages none of these records, so only payments and credit notes settle the invoices.
  expect(statement?.entries.filter(({ kind }) => kind === 'settled')).toEqual([]);
  const known = await base.db.select().from(transfers).where(eq(transfers.customer_id, customerId));
  const all = await base.db.select().from(payments).where(eq(payments.customer_id, customerId));
  for (const { reference, amount, credit, paid_back } of known) {
    const its = all.filter(({ transfer }) => transfer === reference);
    const parts = [...its.map((row) => row.amount), credit, ...paid_back.map((one) => one.amount)];
    expect(parts.reduce((sum, part) => sum + toThousandths(part), 0)).toBe(toThousandths(amount));
  }
  const owed = await base.db.select().from(invoices).where(eq(invoices.customer_id, customerId));
  for (const { id, total, amount_paid, amount_due } of owed) {
    const paid = all.filter(({ invoice_id }) => invoice_id === id).reduce((sum, row) => sum + leftOf(row), 0);
    expect(toThousandths(amount_paid)).toBe(paid);
    expect(toThousandths(amount_due)).toBe(Math.max(0, toThousandths(total) - paid));
  }
  // Credit that was paid back is no longer available, and the journal counts it as paid out.
  const money = [
    ...all.map((row) => toThousandths(row.amount)),
    ...known.map(({ credit }) => toThousandths(credit)),
    // The books count refunds up to the amount of their payment.
    ...all.map((row) => -toThousandths(row.refunded_amount)),
  ];
  const [journal] = await rows<{ sum: string }>(
    base.db,
    sql`select coalesce(sum(e.gross), 0)::text as sum from accounting_entries e
      join customers c on c.customer_number = e.customer_number
      where c.id = ${customerId}::int and e.record in ('payment', 'refund')`,
  );
  expect(toThousandths(journal?.sum ?? '0')).toBe(money.reduce((sum, part) => sum + part, 0));
}
