import { eq, isNull } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import {
  payments,
  reconciliationFailures,
  reconciliationRuns,
  staffTasks,
  stripePayoutEntries,
  stripePayouts,
} from '@/db/schema';
import { deletePayment, recordPayment, updatePayment } from '@/lib/payments/write-payment';
import { comparePayouts } from '@/lib/sync/reconcile/payouts';
import type { Run } from '@/lib/sync/reconcile/run';
import { readRow, readRows } from '../support/database';
import * as act from '../support/stripe-actions';
import { DAY, useSync } from '../support/sync';

const sync = useSync({ withKey: true });

beforeEach(async () => {
  sync.api.faults.clear();
  await sync.db.delete(stripePayouts);
  await sync.db.delete(staffTasks);
  await sync.db.delete(reconciliationFailures);
  // Pay out the money that earlier tests collected, so that each test has its own payouts.
  try {
    act.payOut(sync.world);
  } catch {}
  for (const { id } of [...sync.world.payouts.values()]) sync.world.payouts.delete(id);
});

const payoutOf = async (id: string) =>
  (await sync.db.select().from(stripePayouts).where(eq(stripePayouts.stripe_payout_id, id)))[0];
const openTasks = async () => {
  const open = await sync.db.select().from(staffTasks).where(isNull(staffTasks.done_at));
  return open.map(({ subject, message }) => [subject, message]).sort();
};
/** Pays out and reconciles. @returns the payout's Stripe id, the run, and the payout as stored */
async function payOut(options?: Parameters<typeof act.payOut>[1]) {
  const { id } = act.payOut(sync.world, options);
  return { id, run: await sync.run(), payout: await payoutOf(id) };
}
const expectNoDifferences = async (id: string) => expect((await payoutOf(id))?.differences).toEqual([]);
const changePayment = (id: number, changes: Partial<typeof payments.$inferInsert>) =>
  sync.db.update(payments).set(changes).where(eq(payments.id, id));
const REFUSED = { kind: 'status', status: 403, shouldRetry: false } as const;
const BROKEN = { ...REFUSED, status: 500 } as const;
/** Makes all requests for a path fail. */
const failAt = (path: string, fault: typeof REFUSED | typeof BROKEN) =>
  sync.api.faults.add({ when: (request) => request.path === path, fault });

test('a payout whose payments and refunds are all recorded has no differences and creates no task', async () => {
  const { invoice } = await sync.collect();
  await sync.collect();
  await sync.happen((world) => act.refundPayment(world, { invoice, amount: 1900 }));
  const { run, payout } = await payOut();
  expect(run).toMatchObject({ status: 'completed' });
  expect(payout).toMatchObject({
    status: 'paid',
    amount: '214.920',
    is_automatic: true,
    differences: [],
    sums: {
      ...{ charges: '238.000', charge_count: 2, refunds: '-19.000', refund_count: 1 },
      ...{ others: '0.000', other_count: 0, fees: '4.080', net: '214.920' },
    },
  });
  expect(await openTasks()).toEqual([]);
});

test('a payout has an open task while one of its payments is missing or differs in our records', async () => {
  const { payment } = await sync.collect();
  sync.collectAlone('pi_alone_1');
  const { id } = await payOut();
  const unknown = 'contains 1 payment not recorded here: ch_alone_1 of 119.00 EUR.';
  expect(await openTasks()).toEqual([[`${id} payment_unknown`, expect.stringContaining(unknown)]]);
  await changePayment(payment.id, { stripe_charge_id: 'ch_alone_1', amount: '119' });
  await sync.run();
  expect((await openTasks()).map(([subject]) => subject)).toEqual([`${id} amount_differs`]);
  await changePayment(payment.id, { amount: '238' });
  await sync.run();
  expect(await openTasks()).toEqual([]);
  await expectNoDifferences(id);
});

test('a payout may contain less than the sum that Stripe reported for an invoice, but not more, nor less than an amount that staff changed', async () => {
  const { payment } = await sync.collect();
  const { id } = await payOut();
  const compare = async (change: Parameters<typeof changePayment>[1]) => {
    await changePayment(payment.id, change);
    await comparePayouts(sync.deps(), { id: 0 } as Run, null);
    return (await payoutOf(id))?.differences;
  };
  // An event of an old API version names the sum of all payments, but only the last payment intent.
  const reported = { stripe_payment_intent_id: 'pi_last', amount: '238', provider_amount: '238' };
  expect(await compare(reported)).toEqual([]);
  expect(await compare({ provider_amount: '119' })).toEqual(['amount_differs']);
  expect(await compare({ amount: '118', provider_amount: '118' })).toEqual(['amount_differs']);
  await updatePayment(sync.db, payment.id, { payment_reference: 'BANK-1' }, sync.writer());
  expect(await compare(reported)).toEqual([]);
});

test('a charge in a payout is matched to its payment by the invoice if the payment names no charge and no payment intent', async () => {
  const { payment } = await sync.collect();
  await changePayment(payment.id, { stripe_payment_intent_id: null, stripe_charge_id: null });
  await expectNoDifferences((await payOut()).id);
});

test('deleting a payment after its payout was read causes no difference in the payout', async () => {
  const { payment } = await sync.collect();
  const stripe_charge_id = [...sync.world.paymentIntents.values()].at(-1)?.latestCharge;
  await changePayment(payment.id, { stripe_charge_id });
  const { id } = await payOut();
  await deletePayment(sync.db, payment.id, { ...sync.writer(), source: 'staff' });
  await sync.run();
  await expectNoDifferences(id);
});

test('a bank debit that fails causes no difference, neither in the payout with its money nor in the one that takes it back', async () => {
  const invoice = await sync.bill();
  await sync.happen((world) => act.beginPayment(world, invoice));
  sync.later(DAY);
  await sync.happen((world) => act.failInvoicePayment(world, invoice));
  const until = Math.floor(sync.now().getTime() / 1000);
  await sync.happen((world) => act.payInvoice(world, invoice));
  const first = act.payOut(sync.world, { until });
  const second = await payOut();
  expect(first.amount).toBe(11900 + 11696);
  expect(second.payout).toMatchObject({
    amount: '-119.000',
    sums: { refunds: '-119.000', refund_count: 1 },
    differences: [],
  });
  await expectNoDifferences(first.id);
  expect(await openTasks()).toEqual([]);
});

test('a payout has a task that names a charge while the charge is recorded as a payment of two invoices', async () => {
  const { invoice } = await sync.collect();
  const intent = [...sync.world.invoicePayments.where('invoice', invoice)].at(-1)?.payment;
  const payment_reference = intent?.type === 'payment_intent' ? intent.payment_intent : '';
  const other = await sync.invoiceOf(await sync.bill());
  if (!other) throw new Error('there is no other invoice');
  const of = { invoice_id: other.id, customer_id: other.customer_id };
  const given = { ...of, amount: 119, payment_date: '2026-07-01', payment_reference };
  const recorded = await recordPayment(sync.db, given, sync.writer(), { onlyNew: true });
  const { id } = await payOut();
  const twice = expect.stringContaining('contains 1 payment recorded for two invoices: ch_');
  expect(await openTasks()).toContainEqual([`${id} counted_twice`, twice]);
  await deletePayment(sync.db, recorded.payment.id, { ...sync.writer(), source: 'staff' });
  await sync.run();
  await expectNoDifferences(id);
});

test('a payout that fails after it was paid creates a task, and the next payout, which contains its money, has no differences', async () => {
  await sync.collect();
  const { id, amount } = act.payOut(sync.world);
  await sync.night();
  expect(await openTasks()).toEqual([]);
  act.failPayout(sync.world, id);
  await sync.night();
  expect(await openTasks()).toEqual([[`${id} failed`, expect.stringContaining('account_closed')]]);
  const next = act.payOut(sync.world);
  await sync.night();
  expect(await payoutOf(next.id)).toMatchObject({ amount: (amount / 100).toFixed(3), differences: [] });
});

test('a payout task that staff have closed is not reopened while its cause remains', async () => {
  await sync.collect();
  const { id } = act.failPayout(sync.world, act.payOut(sync.world).id);
  await sync.run();
  await sync.db.update(staffTasks).set({ done_at: sync.now(), done_by: 'grace@example.com' });
  await sync.run();
  expect(await openTasks()).toEqual([]);
  expect((await payoutOf(id))?.differences).toEqual(['failed']);
});

test('a reconciliation run does not request the transactions of a manual payout, because Stripe refuses them', async () => {
  const { run, payout } = await payOut({ amount: 5000 });
  expect(run).toMatchObject({ failures: 0 });
  expect(payout).toMatchObject({ is_automatic: false, sums: null, differences: [] });
});

test('all transactions of a payout are read, even if they fill several pages, and its task names only some of the missing payments', async () => {
  const { payment } = await sync.collect();
  for (let at = 0; at < 205; at += 1) sync.collectAlone(`pi_many_${at}`);
  await changePayment(payment.id, { stripe_charge_id: 'ch_many_7' });
  expect((await payOut()).payout?.sums).toMatchObject({ charge_count: 206 });
  expect(await sync.db.$count(stripePayoutEntries)).toBe(206);
  expect((await openTasks())[1]?.[1]).toMatch(/ 204 payments not recorded here: .* and more\./);
});

test.each([
  ['payouts', '/v1/payouts'],
  ['balance_transactions', '/v1/balance_transactions'],
])(
  'an API key that may not read %s causes one failure with that name, and the run’s other steps continue',
  async (name, path) => {
    await sync.collect();
    failAt(path, REFUSED);
    const { run } = await payOut();
    expect(run).toMatchObject({ status: 'completed_with_errors', failures: 1 });
    const failures = () => readRows(sync.db, reconciliationFailures);
    expect(await failures()).toMatchObject([{ object: 'payout', stripe_id: name, resolved_at: null }]);
    const done = { phase: 'done', lists_completed: true, error_code: null };
    expect(await readRow(sync.db, reconciliationRuns, run.runId)).toMatchObject(done);
    sync.api.faults.clear();
    expect(await sync.run()).toMatchObject({ status: 'completed' });
    expect(await failures()).toMatchObject([{ resolved_at: expect.any(Date) }]);
  },
);

test('payout transactions that one reconciliation run could not read are read by the next run', async () => {
  await sync.collect();
  failAt('/v1/balance_transactions', BROKEN);
  const { id, run, payout } = await payOut();
  expect(run).toMatchObject({ status: 'completed_with_errors', failures: 1 });
  expect(payout?.sums).toBeNull();
  sync.api.faults.clear();
  expect(await sync.run()).toMatchObject({ status: 'completed' });
  expect((await payoutOf(id))?.sums).toMatchObject({ charge_count: 1 });
});

test('a reconciliation run resolves the failure of a payout that an interrupted run has already read', async () => {
  await sync.collect();
  const { id, run } = await payOut();
  const failure = { run_id: run.runId, object: 'payout' as const, stripe_id: id, error_code: 'api_error' };
  await sync.db.insert(reconciliationFailures).values(failure);
  await sync.run();
  expect(await sync.db.$count(reconciliationFailures, isNull(reconciliationFailures.resolved_at))).toBe(0);
});

test('a reconciliation run that lost its API key before the payouts does not count as having read all payouts', async () => {
  act.payOut(sync.world, { amount: 100 });
  sync.later(50 * DAY);
  const { runId } = await sync.run({ withKey: false });
  // The run had its key until it had read the other lists.
  await sync.db
    .update(reconciliationRuns)
    .set({ lists_completed: true })
    .where(eq(reconciliationRuns.id, runId));
  expect(await sync.run()).toMatchObject({ status: 'completed' });
  expect(await sync.db.$count(stripePayouts)).toBe(1);
});

test('payouts that fill several pages are all stored, after the first run and after a pause, even if a run fails after the first page', async () => {
  await sync.collect();
  await sync.db.update(reconciliationRuns).set({ lists_completed: false });
  for (const pause of [0, 70 * DAY]) {
    sync.later(pause);
    const now = Math.floor(sync.now().getTime() / 1000);
    for (let at = 0; at < 130; at += 1) {
      act.payOut(sync.world, { amount: 100, created: now - at * (DAY / 2) });
    }
    let requests = 0;
    const isSecondPage = ({ path }: { path: string }) => path === '/v1/payouts' && ++requests === 2;
    sync.api.faults.add({ when: isSecondPage, fault: BROKEN });
    expect(await sync.run()).toMatchObject({ status: 'failed' });
    sync.api.faults.clear();
    expect(await sync.run()).toMatchObject({ status: 'completed' });
    expect(await sync.db.$count(stripePayouts)).toBe(sync.world.payouts.size);
  }
});
