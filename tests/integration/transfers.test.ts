import { eq, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rows } from '@/db/database';
import { accountingEntries, invoices, payments, transfers } from '@/db/schema';
import { commandActor, listAudit } from '@/lib/audit/audit-log';
import { readStatements } from '@/lib/documents/statement-entries';
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
import { readRow, readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment } from '../support/factories';
import { problemsOf } from '../support/problems';

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
/** Records a payment as a program does over the API. */
const post = (
  { id: invoice_id, customer_id }: { id: number; customer_id: number },
  amount: number,
  payment_reference: string,
  more = {},
  by = writer(),
) => {
  const payment = { invoice_id, customer_id, amount, payment_date: '2026-10-10', payment_reference };
  return recordPayment(base.db, { ...payment, ...more }, { ...by, source: 'api' });
};
const payBack = async (id: number, amount: string, date: string, by = writer()) =>
  payBackCredit(base.db, await seen(id), { amount, date }, by);
const refund = (share: number, amount: string) =>
  recordTypedRefund(base.db, share, { amount, date: '2026-10-15' }, writer());

const seen = async (id: number) => ({ id, version: (await getTransfer(base.db, id)).version });
const creditOf = async (id: number) => (await getTransfer(base.db, id)).credit;
/** Pays an invoice with its customer's credit. The page was opened immediately before. */
const spend = async ({ id }: { id: number }, amount: string, by = writer()) =>
  applyCredit(base.db, { id, version: (await readRow(base.db, invoices, id)).version }, amount, by);
/** Returns the status and the amount due of an invoice, such as `sent 100`. */
const stateOf = async ({ id }: { id: number }) => {
  const { status, amount_due } = await readRow(base.db, invoices, id);
  return `${status} ${Number(amount_due)}`;
};
/** Returns the reference and the amount of each payment of a transfer, such as `SEPA-1/2 50`. */
const sharesOf = async (reference: string) =>
  (await listShares(base.db, reference)).map((one) => `${one.payment_reference} ${one.amount}`);
const ofCustomer = (id: number) => ({
  transfers: () => readRows(base.db, transfers, eq(transfers.customer_id, id)),
  payments: () => readRows(base.db, payments, eq(payments.customer_id, id)),
});

/** Creates a customer with invoices for 100 and 50 EUR, and a transfer of 180 EUR that pays both. */
async function spread() {
  const customer = await createCustomer(base.db);
  const { id: customerId } = customer;
  const first = await invoice(customerId, '100', { due_date: '2026-09-01' });
  const second = await invoice(customerId, '50', { due_date: '2026-10-01' });
  const id = await record(customerId, '180', [
    [first.id, '100'],
    [second.id, '50'],
  ]);
  const { reference } = await getTransfer(base.db, id);
  const shareId = (await listShares(base.db, reference))[0]?.id ?? 0;
  return { customer, customerId, first, second, id, reference, shareId };
}

test('a transfer settles several invoices, and the rest of its amount becomes credit', async () => {
  const { customerId, first, second, id, reference } = await spread();
  expect(await sharesOf(reference)).toEqual([`${reference} 100`, `${reference}/2 50`]);
  expect([await stateOf(first), await stateOf(second)]).toEqual(['paid 0', 'paid 0']);
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

test('a transfer can pay all the invoices that its form suggests', async () => {
  const { id: customerId } = await createCustomer(base.db);
  for (let count = 0; count < 100; count += 1) await invoice(customerId, '1');
  const open = await listOpenInvoices(base.db, customerId);
  expect(open).toHaveLength(99);
  const id = await record(
    customerId,
    '99',
    open.map((one) => [one.id, '1']),
  );
  expect(await creditOf(id)).toBe(0);
});

test('the payment of a cancelled invoice can pay another invoice', async () => {
  const { id: customerId } = await createCustomer(base.db);
  const cancelled = await invoice(customerId, '30', { status: 'cancelled', amount_due: '0' });
  await createPayment(base.db, { customer_id: customerId, invoice_id: cancelled.id, amount: '30' });
  const other = await invoice(customerId, '20');
  await spend(other, '20');
  expect(await stateOf(other)).toBe('paid 0');
  expect(await listUsableCredits(base.db, customerId)).toMatchObject([{ amount: 10 }]);
});

test('an ambiguous share or use of credit is refused with both meanings of the amount', async () => {
  const { id: customerId } = await createCustomer(base.db);
  const { id } = await invoice(customerId, '2000');
  const message = 'can mean 1500 or 1.5: write 1500, or 1.50';
  const spread = record(customerId, '1500', [[id, '1.500']]);
  await expect(spread).rejects.toMatchObject({ fields: [{ field: `share_${id}`, message }] });
  await expect(spend({ id }, '1.500')).rejects.toMatchObject({ fields: [{ field: 'amount', message }] });
});

test('credit of a transfer can pay another invoice later, and that payment can be undone', async () => {
  const { customerId, id, reference } = await spread();
  const third = await invoice(customerId, '20');
  await spend(third, '20.00');
  expect([await stateOf(third), await creditOf(id)]).toEqual(['paid 0', 10]);
  const [, , share] = await listShares(base.db, reference);
  expect(share?.payment_reference).toBe(`${reference}/3`);
  await deletePayment(base.db, share?.id ?? 0, writer());
  expect([await stateOf(third), await creditOf(id)]).toEqual(['overdue 20', 30]);
});

test('credit that was used from a page cannot be used again from the same page, even at the same time', async () => {
  const { customerId, id } = await spread();
  const third = await invoice(customerId, '25');
  const { version } = await readRow(base.db, invoices, third.id);
  const again = () => applyCredit(base.db, { id: third.id, version }, '10', writer());
  const outcomes = await Promise.allSettled([again(), again()]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(again()).rejects.toMatchObject({ code: 'precondition_failed' });
  expect([await stateOf(third), await creditOf(id)]).toEqual(['overdue 15', 20]);
});

test('using more credit than is available, more than 20 credits at once, or more than the amount due of an invoice, is refused', async () => {
  const { customerId } = await spread();
  const use = async (total: string, amount: string) => spend(await invoice(customerId, total), amount);
  await expect(use('20', '21')).rejects.toThrow(/^amount: .* which the invoice owes/);
  await expect(use('500', '31')).rejects.toThrow(/^amount: .* which is the customer's credit/);
  for (let more = 1; more <= 20; more += 1) await record(customerId, '10', []);
  const limit = 'must be at most 220.00 EUR, because one payment can use only 20 credits';
  await expect(use('500', '230')).rejects.toThrow(limit);
});

test('a transfer is refused if its shares exceed its amount, are not amounts, or are for invoices of other currencies or customers', async () => {
  const { id: customerId } = await createCustomer(base.db);
  const own = await invoice(customerId, '100');
  const dollars = await invoice(customerId, '100', { currency: 'usd' });
  const other = await createInvoice(base.db);
  for (const [{ id }, share, field] of [
    [own, '50.01', 'amount'],
    [own, 'ten', `share_${own.id}`],
    [dollars, '10', `share_${dollars.id}`],
    [other, '10', `share_${other.id}`],
  ] as const) {
    expect(await problemsOf(record(customerId, '50', [[id, share]]))).toEqual([field]);
  }
  expect(await ofCustomer(customerId).transfers()).toEqual([]);
  expect(await stateOf(own)).toBe('sent 100');
});

test('a transfer is refused if its reference is already used, belongs to Stripe or is longer than 252 characters', async () => {
  const { customerId, reference } = await spread();
  await createPayment(base.db, { payment_reference: 'CASH-7' });
  const type = (payment_reference: string) => record(customerId, '5', [], { payment_reference });
  for (const used of ['CASH-7', reference, `${reference}/2`])
    await expect(type(used)).rejects.toMatchObject({ code: 'conflict' });
  for (const wrong of ['pi_123', 'x'.repeat(253)])
    expect(await problemsOf(type(wrong))).toEqual(['payment_reference']);
  const longest = 'x'.repeat(252);
  const due: [number, string][] = [[(await invoice(customerId, '5')).id, '5']];
  due.push([(await invoice(customerId, '5')).id, '5']);
  await record(customerId, '10', due, { payment_reference: longest });
  expect(await sharesOf(longest)).toEqual([`${longest} 5`, `${longest}/2 5`]);
});

test('correcting a transfer changes its credit and the dates and references of its payments, whose sum it must cover', async () => {
  const { customerId, id, first } = await spread();
  const typed = { amount: '200', payment_date: '2026-10-12', payment_reference: 'SEPA-NEW', method: '' };
  const correct = async (more = {}) =>
    correctTransfer(base.db, await seen(id), { ...typed, ...more }, writer());
  await correct();
  expect(await getTransfer(base.db, id)).toMatchObject({ amount: 200, credit: 50, method: null });
  const corrected = { payment_date: '2026-10-12', transfer: 'SEPA-NEW' };
  expect(await ofCustomer(customerId).payments()).toMatchObject([
    { ...corrected, payment_reference: 'SEPA-NEW' },
    { ...corrected, payment_reference: 'SEPA-NEW/2' },
  ]);
  expect(await stateOf(first)).toBe('paid 0');
  expect(await problemsOf(correct({ amount: '149.99' }))).toEqual(['amount']);
});

test('a renamed transfer gives none of its payments the reference of another transfer', async () => {
  const { customerId, id, shareId } = await spread();
  await record(customerId, '10', [], { payment_reference: 'FREE/2' });
  const typed = { ...TYPED, amount: '180', payment_reference: 'FREE' };
  await correctTransfer(base.db, await seen(id), typed, writer());
  expect(await sharesOf('FREE')).toEqual(['FREE 100', 'FREE/3 50']);
  expect((await readRow(base.db, payments, shareId)).payment_reference).toBe('FREE');
});

test('correcting a transfer keeps the references that its payments got when the customer was erased', async () => {
  const { id, reference, shareId } = await spread();
  const [erased, share] = [`[erased] 2025 ${id}`, `[erased] 2025 ${shareId}`];
  await base.db.update(payments).set({ payment_reference: share }).where(eq(payments.id, shareId));
  await base.db.update(transfers).set({ reference: erased }).where(eq(transfers.id, id));
  const correct = async (payment_reference: string) =>
    correctTransfer(base.db, await seen(id), { ...TYPED, amount: '180', payment_reference }, writer());
  await correct(erased);
  expect(await sharesOf(erased)).toEqual([`${share} 100`, `${reference}/2 50`]);
  await correct('AGAIN');
  expect(await sharesOf('AGAIN')).toEqual(['AGAIN 100', 'AGAIN/2 50']);
});

test('deleting a transfer deletes all its payments, so that its invoices are owed again', async () => {
  const { customerId, id, first, second } = await spread();
  await deleteTransfer(base.db, await seen(id), writer());
  expect(await ofCustomer(customerId).payments()).toEqual([]);
  expect([await stateOf(first), await stateOf(second)]).toEqual(['overdue 100', 'overdue 50']);
  expect(await problemsOf(getTransfer(base.db, id))).toEqual(['not_found']);
  const log = await listAudit(base.db, 'transfer', id);
  expect(log.map(({ action }) => action)).toEqual(['transfer.delete', 'transfer.create']);
});

test('a payback can be recorded up to the credit and withdrawn, and an outdated page cannot delete its transfer', async () => {
  const { id } = await spread();
  const outdated = await seen(id);
  await payBack(id, '10', '2026-10-15');
  const paid_back = [{ amount: 10, date: '2026-10-15' }];
  expect(await getTransfer(base.db, id)).toMatchObject({ credit: 20, paid_back });
  expect(await problemsOf(payBack(id, '20.01', '2026-10-15'))).toEqual(['amount']);
  for (const day of ['2026-10-21', '2026-10-09'])
    expect(await problemsOf(payBack(id, '1', day))).toEqual(['date']);
  expect(await problemsOf(deleteTransfer(base.db, outdated, writer()))).toEqual(['precondition_failed']);
  await undoPayBack(base.db, await seen(id), 0, writer());
  expect(await getTransfer(base.db, id)).toMatchObject({ credit: 30, paid_back: [] });
});

test('a POST with the reference of a transfer changes only the transfer’s first payment and its credit', async () => {
  const { first, second, id, reference } = await spread();
  const { payment, created } = await post(first, 120, reference);
  expect([created, payment.amount, payment.transfer]).toEqual([false, 120, reference]);
  expect(await creditOf(id)).toBe(10);
  await post(first, 80, reference);
  expect(await creditOf(id)).toBe(50);
  expect([await stateOf(first), await stateOf(second)]).toEqual(['overdue 20', 'paid 0']);
});

test('a POST for a transfer is refused if it exceeds the transfer, moves a payment, makes one pending, or finds no payment', async () => {
  const { customerId, first, second, reference } = await spread();
  const { reference: unspread } = await getTransfer(base.db, await record(customerId, '30', []));
  for (const [of, amount, transfer, more] of [
    [first, 130.01, reference, {}],
    [second, 10, reference, {}],
    [first, 100, reference, { status: 'pending' }],
  ] as const) {
    await expect(post(of, amount, transfer, more)).rejects.toMatchObject({
      ...{ code: 'conflict', message: expect.stringContaining(`transfer ${transfer}`) },
    });
  }
  // This transfer has no payment that could be changed.
  const message = 'A transfer has this payment_reference.';
  await expect(post(first, 10, unspread)).rejects.toMatchObject({ code: 'conflict', message });
});

test('a payment cannot take the reference of a transfer', async () => {
  const { customerId, first } = await spread();
  const { reference } = await getTransfer(base.db, await record(customerId, '30', []));
  const { id } = await createPayment(base.db, { invoice_id: first.id, customer_id: customerId });
  const changing = updatePayment(base.db, id, { payment_reference: reference }, writer());
  const message = 'A transfer has this payment_reference.';
  await expect(changing).rejects.toMatchObject({ code: 'conflict', message });
});

test('the reference of one payment of a transfer cannot be changed on its own', async () => {
  const { shareId } = await spread();
  const changing = updatePayment(base.db, shareId, { payment_reference: 'OTHER' }, writer());
  await expect(changing).rejects.toMatchObject({
    code: 'conflict',
    fields: [{ field: 'payment_reference' }],
  });
});

test('a partly refunded payment of a transfer can be neither deleted nor lowered below its refunded amount', async () => {
  const { first, id, reference, shareId } = await spread();
  await refund(shareId, '40');
  await expect(deletePayment(base.db, shareId, writer())).rejects.toMatchObject({ code: 'conflict' });
  await expect(post(first, 39, reference)).rejects.toMatchObject({
    ...{ code: 'conflict', message: expect.stringContaining('which was refunded') },
  });
  await post(first, 40, reference);
  expect(await creditOf(id)).toBe(90);
});

test('a payment of a transfer can be deleted once its refund is withdrawn', async () => {
  const { id, shareId } = await spread();
  await refund(shareId, '40');
  for (const status of ['refunded', 'completed'] as const)
    await updatePayment(base.db, shareId, { status }, writer());
  await deletePayment(base.db, shareId, writer());
  expect(await creditOf(id)).toBe(130);
});

test('the overpaid part of a payment can pay another invoice, and counts only once', async () => {
  const { id: customerId } = await createCustomer(base.db);
  const [over, due] = [await invoice(customerId, '100'), await invoice(customerId, '30')];
  await post(over, 120, 'BANK-OVER');
  expect(await listUsableCredits(base.db, customerId)).toMatchObject([{ currency: 'eur', amount: 20 }]);
  await spend(due, '20');
  expect([await stateOf(over), await stateOf(due)]).toEqual(['paid 0', 'overdue 10']);
  expect(await listUsableCredits(base.db, customerId)).toEqual([]);
  expect(await ofCustomer(customerId).transfers()).toMatchObject([{ amount: '120.000', credit: '0.000' }]);
  expect(await sharesOf('BANK-OVER')).toEqual(['BANK-OVER 100', 'BANK-OVER/2 20']);
});

test('an overpayment that pays another invoice stays booked under the method by which the money arrived', async () => {
  const customer = await createCustomer(base.db);
  const [over, due] = [await invoice(customer.id, '100'), await invoice(customer.id, '30')];
  await post(over, 120, 'GATEWAY');
  const use = () => spend(due, '20', writer(LATER));
  await use();
  const sources = async () =>
    (await ofCustomer(customer.id).payments()).map((row) => `${row.source} ${Number(row.amount)}`);
  expect(await sources()).toEqual(['api 100', 'api 20']);
  const own = eq(accountingEntries.customer_number, customer.customer_number);
  const received = async () => {
    const entries = (await readRows(base.db, accountingEntries, own)).filter(
      (one) => one.record === 'payment',
    );
    expect(entries.map(({ method }) => method)).toEqual(entries.map(() => 'api'));
    return sum(entries.map(({ gross }) => Number(gross)));
  };
  expect(await received()).toBe(120);
  // A share that is deleted becomes credit of the transfer. If it pays an invoice again, it has the same source again.
  const [, share] = await listShares(base.db, 'GATEWAY');
  await deletePayment(base.db, share?.id ?? 0, writer(LATER));
  await use();
  expect(await sources()).toEqual(['api 100', 'api 20']);
});

test('the payment of a fully credited invoice can pay another invoice', async () => {
  const { id: customerId } = await createCustomer(base.db);
  const credited = { amount_credited: '100', status: 'paid', amount_due: '0' };
  const [withdrawn, due] = [await invoice(customerId, '100', credited), await invoice(customerId, '100')];
  await post(withdrawn, 100, 'BANK-WHOLE');
  await spend(due, '100');
  expect(await stateOf(due)).toBe('paid 0');
  expect(await sharesOf('BANK-WHOLE')).toEqual(['BANK-WHOLE/2 100']);
});

test('an overpayment that was imported without payments, or whose reference is a Stripe id or too long, is not usable credit', async () => {
  const { id: customerId } = await createCustomer(base.db);
  const paid = { status: 'paid', amount_due: '0' };
  await invoice(customerId, '100', { ...paid, amount_paid: '130' });
  const stripes = await invoice(customerId, '10', { ...paid, amount_paid: '20' });
  const named = { payment_reference: 'pi_over', amount: '20', invoice_id: stripes.id };
  await createPayment(base.db, { ...named, customer_id: customerId });
  await post(await invoice(customerId, '100'), 120, 'L'.repeat(255));
  expect(await listUsableCredits(base.db, customerId)).toEqual([]);
  const due = await invoice(customerId, '30');
  expect(await problemsOf(spend(due, '1'))).toEqual(['amount']);
});

test('a bank transfer for an invoice that a payment of Stripe has paid is usable credit', async () => {
  const { id: customer_id } = await createCustomer(base.db);
  const { id: invoice_id } = await invoice(customer_id, '100');
  const moved = { source: 'stripe', payment_reference: 'in_moved', amount: '100' } as const;
  await createPayment(base.db, { ...moved, invoice_id, customer_id });
  await post({ id: invoice_id, customer_id }, 100, 'BANK-TWICE');
  expect(await listUsableCredits(base.db, customer_id)).toMatchObject([{ currency: 'eur', amount: 100 }]);
  const due = await invoice(customer_id, '100');
  await spend(due, '100');
  expect(await stateOf(due)).toBe('paid 0');
});

test('credit of a transfer is booked when it is received, and moves to the invoice in the month of its use', async () => {
  const { customer, customerId, first, second, id } = await spread();
  const third = await invoice(customerId, '20');
  await spend(third, '20', writer(LATER));
  await payBack(id, '10', '2026-11-04', writer(LATER));
  const own = eq(accountingEntries.customer_number, customer.customer_number);
  const entries = (await readRows(base.db, accountingEntries, own)).map((one) =>
    [one.record, one.booked_on, Number(one.gross), one.transfer_id === id ? 'credit' : one.invoice_id].join(
      ' ',
    ),
  );
  expect(entries.filter((text) => /^(payment|refund) /.test(text))).toEqual([
    `payment 2026-10-10 100 ${first.id}`,
    `payment 2026-10-10 50 ${second.id}`,
    'payment 2026-10-10 30 credit',
    'payment 2026-11-05 -30 credit',
    `payment 2026-11-05 20 ${third.id}`,
    'payment 2026-11-05 10 credit',
    'refund 2026-11-04 -10 credit',
  ]);
});

const KINDS = ['record', 'use', 'undo', 'delete', 'refund', 'pay back', 'unpay', 'post', 'correct'] as const;
/** A random step has a kind, and numbers that choose the record and the amount. */
const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  pick: fc.nat(1000),
  cents: fc.integer({ min: 1, max: 20_000 }),
});

test('after any sequence of changes, transfers, invoices, statement and journal agree on the amounts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const { id: customerId } = await createCustomer(base.db);
      const due = [];
      for (const total of ['100', '40.5', '60', '0.3']) due.push(await invoice(customerId, total));
      for (const one of steps) await play(customerId, due, one);
      await checkSums(customerId);
    }),
    { numRuns: 40, endOnFailure: true },
  );
}, 300_000);

/** Performs a step. The product may refuse it. The sums must be right in both cases. */
async function play(
  customerId: number,
  due: { id: number; customer_id: number }[],
  { kind, pick, cents }: typeof step extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> {
  const choose = <Row>(all: Row[], offset = 0) => all[(pick + offset) % Math.max(1, all.length)];
  const amount = (cents / 100).toFixed(2);
  const transfer = choose(await ofCustomer(customerId).transfers());
  const share = choose(await ofCustomer(customerId).payments());
  const [target, next] = [choose(due) ?? expect.fail(), choose(due, 1) ?? expect.fail()];
  const by = writer(pick % 2 === 0 ? NOW : LATER);
  drawn += 1;
  const typed = { amount, date: '2026-10-20' };
  const [paid, reference] =
    share && pick % 3 > 0
      ? [{ id: share.invoice_id, customer_id: customerId }, share.payment_reference]
      : [target, `POST-${drawn}`];
  const parts: [number, string][] = [
    [target.id, (cents / 300).toFixed(2)],
    [next.id, (cents / 400).toFixed(2)],
  ];
  const steps = {
    record: () => record(customerId, amount, parts),
    use: () => spend(target, amount, by),
    undo: () => share && deletePayment(base.db, share.id, by),
    delete: () => transfer && deleteTransfer(base.db, transfer, by),
    refund: () => share && recordTypedRefund(base.db, share.id, typed, by),
    'pay back': () => transfer && payBackCredit(base.db, transfer, typed, by),
    unpay: () => transfer && undoPayBack(base.db, transfer, 0, by),
    post: () => post(paid, cents / 100, reference, { payment_date: '2026-10-11' }, by),
    correct: () =>
      transfer &&
      correctTransfer(base.db, transfer, { ...TYPED, amount, payment_reference: `FIX-${drawn}` }, by),
  };
  await problemsOf(Promise.resolve(steps[kind]()));
}

const sum = (parts: number[]) => parts.reduce((all, part) => all + part, 0);

async function checkSums(customerId: number): Promise<void> {
  const { db } = base;
  const [statement] = await readStatements(db, customerId, {}, 'UTC');
  const due = (await listBalances(db, customerId)).map((one) => one.due);
  const credits = [
    await listCustomerCredits(db, customerId),
    await listTransferCredits(db, customerId),
  ].flat();
  const owed = sum([...due, ...credits.map(({ amount }) => -amount)]);
  expect(Math.round((statement?.closing ?? 0) * 1000)).toBe(Math.round(owed * 1000));
  // Stripe manages none of these records, so only payments and credit notes settle the invoices.
  expect(statement?.entries.filter(({ kind }) => kind === 'settled')).toEqual([]);
  const known = await ofCustomer(customerId).transfers();
  const all = await ofCustomer(customerId).payments();
  for (const { reference, amount, credit, paid_back } of known) {
    const its = all.filter(({ transfer }) => transfer === reference);
    const parts = [...its.map((row) => row.amount), credit, ...paid_back.map((one) => one.amount)];
    expect(sum(parts.map(toThousandths))).toBe(toThousandths(amount));
  }
  for (const row of await readRows(db, invoices, eq(invoices.customer_id, customerId))) {
    const paid = sum(all.filter(({ invoice_id }) => invoice_id === row.id).map(leftOf));
    expect(toThousandths(row.amount_paid)).toBe(paid);
    expect(toThousandths(row.amount_due)).toBe(Math.max(0, toThousandths(row.total) - paid));
    expect(row.status === 'paid').toBe(paid >= toThousandths(row.total));
  }
  // Credit that was paid back is no longer available, and the journal counts it as paid out. The journal counts refunds
  // up to the amount of their payment.
  const received = [
    ...all.map((row) => toThousandths(row.amount) - toThousandths(row.refunded_amount)),
    ...known.map(({ credit }) => toThousandths(credit)),
  ];
  const [journal] = await rows<{ sum: string }>(
    db,
    sql`select coalesce(sum(e.gross), 0)::text as sum from accounting_entries e
      join customers c on c.customer_number = e.customer_number
      where c.id = ${customerId}::int and e.record in ('payment', 'refund')`,
  );
  expect(toThousandths(journal?.sum ?? '0')).toBe(sum(received));
}
