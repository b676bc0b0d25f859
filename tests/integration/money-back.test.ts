import { desc, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { disputes, reconciliationRuns } from '@/db/schema';
import { toCalendarDate } from '@/lib/dates';
import * as act from '@/lib/stripe-local/actions';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { DAY, useSilentStripe } from '../support/silent-stripe';

const at = useSilentStripe();

describe('what is done silently at Stripe is in the books after one run', () => {
  test('a full refund', async () => {
    const invoice = await at.paid();
    act.refundPayment(at.world, { invoice });
    expect(await at.bringInSync()).toEqual([
      ['refund', 'created', null, '119.00 EUR', 'fixed'],
      ['payment', 'refunded_amount', '0.00 EUR', '119.00 EUR', 'fixed'],
      ['payment', 'status', 'completed', 'refunded', 'fixed'],
    ]);
    expect(await at.paymentOf(invoice)).toMatchObject({ amount: '119.000', refunded_amount: '119.000' });
    expect(await at.invoiceOf(invoice)).toMatchObject({ status: 'paid', amount_paid: '119.000' });
  });

  test('a partial refund, and then the rest', async () => {
    const invoice = await at.paid();
    act.refundPayment(at.world, { invoice, amount: 1_900 });
    expect(await at.bringInSync()).toHaveLength(2);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'completed', refunded_amount: '19.000' });
    act.refundPayment(at.world, { invoice });
    expect(await at.bringInSync()).toHaveLength(3);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
  });

  test('a refund that fails weeks later', async () => {
    const invoice = await at.paid();
    const { object } = act.refundPayment(at.world, { invoice, status: 'pending' });
    expect(await at.bringInSync()).toEqual([['refund', 'created', null, '119.00 EUR', 'fixed']]);
    at.later(DAY);
    act.settleRefund(at.world, object.id, 'succeeded');
    expect(await at.bringInSync()).toHaveLength(3);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded' });
    at.later(25 * DAY);
    act.settleRefund(at.world, object.id, 'failed');
    expect(await at.bringInSync()).toEqual([
      ['refund', 'reason', null, 'expired_or_canceled_card', 'fixed'],
      ['refund', 'status', 'succeeded', 'failed', 'fixed'],
      ['payment', 'refunded_amount', '119.00 EUR', '0.00 EUR', 'fixed'],
      ['payment', 'status', 'refunded', 'completed', 'fixed'],
    ]);
  });

  test('an inquiry that becomes a dispute and is lost', async () => {
    const invoice = await at.paid();
    const { object } = act.openDispute(at.world, { invoice, inquiry: true });
    expect(await at.bringInSync()).toHaveLength(1);
    at.later(DAY);
    act.moveDispute(at.world, object.id, 'needs_response');
    await at.bringInSync();
    const [open] = await at.db.select().from(disputes).where(eq(disputes.stripe_dispute_id, object.id));
    expect(open).toMatchObject({ status: 'needs_response', evidence_due_at: expect.any(Date) });
    expect(open?.funds_withdrawn_at).toBeInstanceOf(Date);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'completed', refunded_amount: '0.000' });
    at.later(60 * DAY);
    act.moveDispute(at.world, object.id, 'lost');
    await at.bringInSync();
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
  });

  test('a dispute that was won and is lost after all', async () => {
    const invoice = await at.paid();
    const { object } = act.openDispute(at.world, { invoice });
    act.moveDispute(at.world, object.id, 'won');
    await at.bringInSync();
    at.later(10 * DAY);
    const won = at.world.disputes.get(object.id);
    if (won) at.world.disputes.put({ ...won, status: 'lost' });
    await at.bringInSync();
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded' });
  });

  test('a dispute that is won', async () => {
    const invoice = await at.paid();
    const { object } = act.openDispute(at.world, { invoice });
    await at.bringInSync();
    at.later(DAY);
    act.moveDispute(at.world, object.id, 'under_review');
    act.moveDispute(at.world, object.id, 'won');
    await at.bringInSync();
    const [won] = await at.db.select().from(disputes).where(eq(disputes.stripe_dispute_id, object.id));
    expect(won).toMatchObject({ status: 'won', funds_returned_at: expect.any(Date) });
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'completed', refunded_amount: '0.000' });
  });

  test('a direct debit that the bank returns after it was paid', async () => {
    const invoice = await at.paid();
    at.later(3 * DAY);
    act.returnDebit(at.world, { invoice });
    await at.bringInSync();
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
  });

  test('a credit note before payment', async () => {
    const invoice = await at.open();
    await at.bringInSync();
    act.createCreditNote(at.world, { invoice, amount: 1_900 });
    await at.bringInSync();
    expect(await at.invoiceOf(invoice)).toMatchObject({
      status: 'sent',
      total: '119.000',
      amount_due: '100.000',
      amount_credited: '19.000',
    });
  });

  test('a credit note after payment, long after the invoice', async () => {
    const invoice = await at.paid();
    await at.bringInSync();
    at.later(40 * DAY);
    await at.bringInSync();
    act.createCreditNote(at.world, {
      invoice,
      amount: 11_900,
      refundAmount: 5_000,
      outOfBandAmount: 6_900,
    });
    const changes = await at.bringInSync();
    expect(changes).toContainEqual(['invoice', 'amount_credited', '0.00 EUR', '119.00 EUR', 'fixed']);
    expect(await at.invoiceOf(invoice)).toMatchObject({ status: 'paid', amount_due: '0.000' });
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'completed', refunded_amount: '50.000' });
  });
});

test('what was collected before a credit note settled its invoice is dated when it was collected', async () => {
  const { world } = at;
  const customer = act.createCustomer(world, {});
  const { object } = act.createInvoice(world, {
    customer: customer.object.id,
    lines: [{ amount: 11_900, description: 'Hosting' }],
  });
  act.finalizeInvoice(world, object.id);
  act.payInvoicePart(world, object.id, 5_000);
  const collected = at.now();
  at.later(2 * DAY);
  act.createCreditNote(world, { invoice: object.id, amount: 6_900 });
  await at.bringInSync();
  expect(await at.invoiceOf(object.id)).toMatchObject({ status: 'paid', amount_paid: '50.000' });
  expect(await at.paymentOf(object.id)).toMatchObject({
    amount: '50.000',
    payment_date: toCalendarDate(collected, 'UTC'),
  });
});

describe('what does not fit is kept and told, and the rest goes on', () => {
  const changed = <T extends { id: string }>(of: { put(one: T): T }, one: T, values: Partial<T>) =>
    of.put({ ...one, ...values });

  test('a refund of no payment of ours', async () => {
    const { world } = at;
    const intent = at.collectAlone('pi_unknown');
    const other = await at.paid();
    act.refundPayment(world, { paymentIntent: intent.id, amount: 100 });
    act.refundPayment(world, { invoice: other });
    expect(await at.bringInSync()).toContainEqual(['refund', 'payment_id', null, null, 'reported']);
    expect(await at.paymentOf(other)).toMatchObject({ status: 'refunded' });
  });

  test('another currency, an unknown status, a refund that is gone', async () => {
    const { world } = at;
    const invoice = await at.paid();
    const { object } = act.refundPayment(world, { invoice, amount: 1_900 });
    changed(world.refunds, object, { currency: 'usd' });
    expect(await at.bringInSync()).toContainEqual(['refund', 'currency', 'eur', 'usd', 'reported']);
    expect(await at.paymentOf(invoice)).toMatchObject({ refunded_amount: '0.000' });

    changed(world.refunds, object, { currency: 'usd', status: 'vanished' as never });
    expect(await at.bringInSync()).toEqual([['refund', 'status', 'succeeded', 'vanished', 'reported']]);
  });

  test('a dispute on a refunded payment counts once', async () => {
    const invoice = await at.paid();
    act.refundPayment(at.world, { invoice });
    await at.bringInSync();
    const { object } = act.openDispute(at.world, { invoice, amount: 11_900 });
    act.moveDispute(at.world, object.id, 'lost');
    const changes = await at.bringInSync();
    expect(changes.filter(([, , , , outcome]) => outcome === 'reported')).toEqual([
      ['payment', 'refunded_amount', '119.00 EUR', '238.00 EUR', 'reported'],
    ]);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
  });

  test('a refund that stays pending leaves its payment as it was, night after night', async () => {
    const invoice = await at.paid();
    act.refundPayment(at.world, { invoice, status: 'pending' });
    await at.bringInSync();
    at.later(60 * DAY);
    const before = await at.paymentOf(invoice);
    await at.bringInSync();
    expect(await at.paymentOf(invoice)).toEqual(before);
  });

  test('a key that may not read credit notes: all else is read, and nothing is taken for read', async () => {
    const invoice = await at.paid();
    act.refundPayment(at.world, { invoice });
    const isList = ({ path }: { path: string }) => path === '/v1/credit_notes';
    at.faults.add({ when: isList, fault: { kind: 'status', status: 403 } });
    expect(await at.run()).toMatchObject({ status: 'failed' });
    at.faults.clear();
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded' });
    const [last] = await at.db
      .select()
      .from(reconciliationRuns)
      .orderBy(desc(reconciliationRuns.id))
      .limit(1);
    expect(last).toMatchObject({ lists_completed: false, error_code: expect.stringContaining('stripe_') });
    await at.bringInSync();
  });

  test('a list that was denied stays so when the run goes on with the next call', async () => {
    at.later(60);
    const isList = ({ path }: { path: string }) => path === '/v1/invoices';
    at.faults.add({ when: isList, fault: { kind: 'status', status: 403 } });
    let isLate = false;
    const stopped = await reconcile(
      { ...at.deps(), now: () => new Date(at.now().getTime() + (isLate ? 1000 : 0)) },
      {
        trigger: 'cron',
        startedBy: null,
        deadline: new Date(at.now().getTime() + 500),
        onProgress: ({ step }) => {
          isLate = step === 'missing payments';
        },
      },
    );
    at.faults.clear();
    expect(stopped.status).toBe('stopped');
    expect(await at.run()).toMatchObject({ status: 'failed', runId: stopped.runId });
    const ofRun = eq(reconciliationRuns.id, stopped.runId);
    const [last] = await at.db.select().from(reconciliationRuns).where(ofRun);
    expect(last).toMatchObject({ lists_completed: false, error_code: last?.denied_code });
    expect(last?.denied_code).toMatch(/^stripe_/);
    await at.bringInSync();
  });

  test('a refund that Stripe has no more', async () => {
    const { world } = at;
    const invoice = await at.paid();
    const { object } = act.refundPayment(world, { invoice, status: 'pending' });
    await at.bringInSync();
    at.later(60 * DAY);
    await at.bringInSync();
    world.refunds.delete(object.id);
    expect(await at.bringInSync()).toEqual([
      ['refund', 'provider_gone_at', null, expect.any(String), 'reported'],
    ]);
  });
});
