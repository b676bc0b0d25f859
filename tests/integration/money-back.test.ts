import { asc, desc, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { disputes, invoices, reconciliationRuns, refunds } from '@/db/schema';
import { toCalendarDate } from '@/lib/dates';
import { deletePayment } from '@/lib/payments/delete-payment';
import { recordPayment } from '@/lib/payments/record-payment';
import type { PaymentUpdate } from '@/lib/payments/schema';
import { updatePayment } from '@/lib/payments/update-payment';
import * as act from '@/lib/stripe-local/actions';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { createInvoice } from '../support/factories';
import { DAY, useSync } from '../support/sync';

// No event about money that comes back is delivered here: the daily job finds all of it.
const sync = useSync({ withKey: true });

const REFUNDED = { status: 'refunded', refunded_amount: '119.000' };
const KEPT = { status: 'completed', refunded_amount: '0.000' };

const record = (on: { invoice_id: number; customer_id: number }, amount: number, payment_reference: string) =>
  recordPayment(sync.db, { ...on, amount, payment_date: '2026-03-15', payment_reference }, sync.writer());
const latestRun = async () =>
  (await sync.db.select().from(reconciliationRuns).orderBy(desc(reconciliationRuns.id)).limit(1))[0];

/** The invoice of the payment, and the object that the step before made. */
interface Place {
  invoice: string;
  id: string;
}

interface Step {
  daysLater?: number;
  act(place: Place): { object: { id: string } };
  payment: object;
  changes?: (string | null)[][];
  dispute?: object;
}

const refund =
  (input: { amount?: number; status?: 'pending' } = {}) =>
  ({ invoice }: Place) =>
    act.refundPayment(sync.world, { invoice, ...input });
const settle =
  (status: 'succeeded' | 'failed') =>
  ({ id }: Place) =>
    act.settleRefund(sync.world, id, status);
const dispute =
  (input: { amount?: number; inquiry?: boolean } = {}) =>
  ({ invoice }: Place) =>
    act.openDispute(sync.world, { invoice, ...input });
const move =
  (...statuses: Parameters<typeof act.moveDispute>[2][]) =>
  ({ id }: Place) => {
    for (const status of statuses) act.moveDispute(sync.world, id, status);
    return { object: { id } };
  };

describe('money that comes back silently at Stripe is recorded by the next run', () => {
  test.each<[string, Step[]]>([
    [
      'a full refund makes its payment refunded',
      [
        {
          act: refund(),
          payment: { ...REFUNDED, amount: '119.000' },
          changes: [
            ['refund', 'created', null, '119.00 EUR', 'fixed'],
            ['payment', 'refunded_amount', '0.00 EUR', '119.00 EUR', 'fixed'],
            ['payment', 'status', 'completed', 'refunded', 'fixed'],
          ],
        },
      ],
    ],
    [
      'a partial refund leaves its payment completed until the rest is refunded',
      [
        { act: refund({ amount: 1_900 }), payment: { status: 'completed', refunded_amount: '19.000' } },
        { act: refund(), payment: REFUNDED },
      ],
    ],
    [
      'a refund that fails weeks later is taken back',
      [
        {
          act: refund({ status: 'pending' }),
          payment: KEPT,
          changes: [['refund', 'created', null, '119.00 EUR', 'fixed']],
        },
        { daysLater: 1, act: settle('succeeded'), payment: REFUNDED },
        {
          daysLater: 25,
          act: settle('failed'),
          payment: KEPT,
          changes: [
            ['refund', 'reason', null, 'expired_or_canceled_card', 'fixed'],
            ['refund', 'status', 'succeeded', 'failed', 'fixed'],
            ['payment', 'refunded_amount', '119.00 EUR', '0.00 EUR', 'fixed'],
            ['payment', 'status', 'refunded', 'completed', 'fixed'],
          ],
        },
      ],
    ],
    [
      'an inquiry that becomes a dispute refunds its payment when it is lost',
      [
        { act: dispute({ inquiry: true }), payment: KEPT },
        {
          daysLater: 1,
          act: move('needs_response'),
          payment: KEPT,
          dispute: {
            status: 'needs_response',
            evidence_due_at: expect.any(Date),
            funds_withdrawn_at: expect.any(Date),
          },
        },
        { daysLater: 60, act: move('lost'), payment: REFUNDED },
      ],
    ],
    [
      'a dispute that was won and is lost after all refunds its payment',
      [
        { act: dispute(), payment: KEPT },
        { act: move('won'), payment: KEPT },
        {
          daysLater: 10,
          act: ({ id }) => {
            const won = sync.world.disputes.get(id);
            if (won) sync.world.disputes.put({ ...won, status: 'lost' });
            return { object: { id } };
          },
          payment: REFUNDED,
        },
      ],
    ],
    [
      'a dispute that is won leaves its payment completed',
      [
        { act: dispute(), payment: KEPT },
        {
          daysLater: 1,
          act: move('under_review', 'won'),
          payment: KEPT,
          dispute: { status: 'won', funds_returned_at: expect.any(Date) },
        },
      ],
    ],
    [
      'a direct debit that the bank returns refunds its payment',
      [
        {
          daysLater: 3,
          act: ({ invoice }) => act.returnDebit(sync.world, { invoice }),
          payment: REFUNDED,
        },
      ],
    ],
    [
      'a lost dispute of a refunded payment counts once, and the excess is reported',
      [
        { act: refund(), payment: REFUNDED },
        {
          act: (place) => move('lost')({ ...place, id: dispute({ amount: 11_900 })(place).object.id }),
          payment: REFUNDED,
          changes: [
            ['dispute', 'created', null, '119.00 EUR', 'fixed'],
            ['payment', 'refunded_amount', '119.00 EUR', '238.00 EUR', 'reported'],
          ],
        },
      ],
    ],
  ])('%s', async (_, steps) => {
    const { invoice } = await sync.collect();
    await sync.run();
    let id = '';
    for (const { daysLater = 0, act, payment, changes, dispute } of steps) {
      sync.later(daysLater * DAY);
      id = act({ invoice, id }).object.id;
      const made = await sync.bringInSync();
      if (changes) expect(made).toEqual(changes);
      expect(await sync.paymentOf(invoice)).toMatchObject(payment);
      expect(await sync.invoiceOf(invoice)).toMatchObject({ status: 'paid', amount_paid: '119.000' });
      if (!dispute) continue;
      const [row] = await sync.db.select().from(disputes).where(eq(disputes.stripe_dispute_id, id));
      expect(row).toMatchObject(dispute);
    }
  });

  test('a refund that stays pending leaves its payment as it is, until Stripe has it no more', async () => {
    const { invoice } = await sync.collect();
    const { object } = act.refundPayment(sync.world, { invoice, status: 'pending' });
    await sync.bringInSync();
    const before = await sync.paymentOf(invoice);
    sync.later(60 * DAY);
    await sync.bringInSync();
    expect(await sync.paymentOf(invoice)).toEqual(before);
    sync.world.refunds.delete(object.id);
    expect(await sync.bringInSync()).toEqual([
      ['refund', 'provider_gone_at', null, expect.any(String), 'reported'],
    ]);
  });

  test('a credit note before payment lowers what is due', async () => {
    const invoice = await sync.bill();
    await sync.bringInSync();
    act.createCreditNote(sync.world, { invoice, amount: 1_900 });
    await sync.bringInSync();
    expect(await sync.invoiceOf(invoice)).toMatchObject({
      status: 'sent',
      total: '119.000',
      amount_due: '100.000',
      amount_credited: '19.000',
    });
  });

  test('a credit note long after payment refunds the part that went through Stripe', async () => {
    const { invoice } = await sync.collect();
    await sync.bringInSync();
    sync.later(40 * DAY);
    await sync.bringInSync();
    const parts = { amount: 11_900, refundAmount: 5_000, outOfBandAmount: 6_900 };
    act.createCreditNote(sync.world, { invoice, ...parts });
    const changes = await sync.bringInSync();
    expect(changes).toContainEqual(['invoice', 'amount_credited', '0.00 EUR', '119.00 EUR', 'fixed']);
    expect(await sync.invoiceOf(invoice)).toMatchObject({ status: 'paid', amount_due: '0.000' });
    expect(await sync.paymentOf(invoice)).toMatchObject({ status: 'completed', refunded_amount: '50.000' });
  });

  test('a payment collected before a credit note settled its invoice has the date of its collection', async () => {
    const { world } = sync;
    const customer = act.createCustomer(world, {}).object.id;
    const { id } = act.createInvoice(world, { customer, lines: [{ amount: 11_900 }] }).object;
    act.finalizeInvoice(world, id);
    act.payInvoicePart(world, id, 5_000);
    const payment_date = toCalendarDate(sync.now(), 'UTC');
    sync.later(2 * DAY);
    act.createCreditNote(world, { invoice: id, amount: 6_900 });
    await sync.bringInSync();
    expect(await sync.invoiceOf(id)).toMatchObject({ status: 'paid', amount_paid: '50.000' });
    expect(await sync.paymentOf(id)).toMatchObject({ amount: '50.000', payment_date });
  });
});

describe('a refund that does not fit is reported, and the run goes on', () => {
  test('a refund without a payment here is reported', async () => {
    const { invoice } = await sync.collect();
    const intent = sync.collectAlone('pi_unknown');
    act.refundPayment(sync.world, { paymentIntent: intent.id, amount: 100 });
    act.refundPayment(sync.world, { invoice });
    expect(await sync.bringInSync()).toContainEqual(['refund', 'payment_id', null, null, 'reported']);
    expect(await sync.paymentOf(invoice)).toMatchObject({ status: 'refunded' });
  });

  test('a refund in another currency, or of an unknown status, is reported and not counted', async () => {
    const { invoice } = await sync.collect();
    const { object } = act.refundPayment(sync.world, { invoice, amount: 1_900 });
    sync.world.refunds.put({ ...object, currency: 'usd' });
    expect(await sync.bringInSync()).toContainEqual(['refund', 'currency', 'eur', 'usd', 'reported']);
    expect(await sync.paymentOf(invoice)).toMatchObject({ refunded_amount: '0.000' });
    sync.world.refunds.put({ ...object, currency: 'usd', status: 'vanished' as never });
    const reported = ['refund', 'status', 'succeeded', 'vanished', 'reported'];
    expect(await sync.bringInSync()).toEqual([reported]);
  });
});

describe('a key that may not read a list of Stripe', () => {
  const deny = (list: string) =>
    sync.api.faults.add({ when: ({ path }) => path === list, fault: { kind: 'status', status: 403 } });

  test('the other lists are read, and the run is failed', async () => {
    const { invoice } = await sync.collect();
    act.refundPayment(sync.world, { invoice });
    deny('/v1/credit_notes');
    expect(await sync.run()).toMatchObject({ status: 'failed' });
    sync.api.faults.clear();
    expect(await sync.paymentOf(invoice)).toMatchObject({ status: 'refunded' });
    const failed = { lists_completed: false, error_code: expect.stringContaining('stripe_') };
    expect(await latestRun()).toMatchObject(failed);
    await sync.bringInSync();
  });

  test('a denied list is still denied when the next call continues the run', async () => {
    sync.later(60);
    deny('/v1/invoices');
    let isLate = false;
    const stopped = await reconcile(
      { ...sync.deps(), now: () => new Date(sync.now().getTime() + (isLate ? 1000 : 0)) },
      {
        trigger: 'cron',
        startedBy: null,
        deadline: new Date(sync.now().getTime() + 500),
        onProgress: ({ step }) => {
          isLate = step === 'missing payments';
        },
      },
    );
    sync.api.faults.clear();
    expect(stopped.status).toBe('stopped');
    expect(await sync.run()).toMatchObject({ status: 'failed', runId: stopped.runId });
    const last = await latestRun();
    expect(last).toMatchObject({ id: stopped.runId, lists_completed: false, error_code: last?.denied_code });
    expect(last?.denied_code).toMatch(/^stripe_/);
    await sync.bringInSync();
  });
});

describe('a refund that the API recorded', () => {
  /** A collected payment, and what its row and its refunds are. */
  async function open() {
    const { invoice, payment } = await sync.collect();
    const { id, invoice_id, customer_id } = payment;
    return {
      invoice,
      id,
      on: { invoice_id, customer_id },
      row: () => sync.paymentOf(invoice),
      refunds: () =>
        sync.db.select().from(refunds).where(eq(refunds.payment_id, id)).orderBy(asc(refunds.id)),
      write: (changes: PaymentUpdate) => updatePayment(sync.db, id, changes, sync.writer()),
      refund: (input: { amount?: number; status?: 'pending' } = {}) =>
        act.refundPayment(sync.world, { invoice, ...input }).object.id,
    };
  }

  test('a recorded refund is the one that Stripe reports on the same day, until that one fails', async () => {
    const at = await open();
    expect(await at.write({ status: 'refunded' })).toMatchObject({ refunded_amount: 119 });
    const told = at.refund({ status: 'pending' });
    await sync.bringInSync();
    const one = { stripe_refund_id: told, amount: '119.000', source: 'api' };
    expect(await at.refunds()).toMatchObject([{ ...one, status: 'pending' }]);
    expect(await at.row()).toMatchObject(REFUNDED);
    sync.later(DAY);
    act.settleRefund(sync.world, told, 'failed');
    await sync.bringInSync();
    expect(await at.refunds()).toMatchObject([{ ...one, status: 'failed' }]);
    expect(await at.row()).toMatchObject(KEPT);
    // Paid back in another way, it is recorded anew.
    expect(await at.write({ status: 'refunded' })).toMatchObject({ refunded_amount: 119 });
    await sync.bringInSync();
    expect(await at.row()).toMatchObject({ status: 'refunded' });
  });

  test.each([
    ['reported first as failed', false],
    ['found pending before', true],
  ])('a recorded refund is taken back by a failed refund that Stripe %s', async (_, isMet) => {
    const at = await open();
    const told = at.refund({ status: 'pending' });
    if (isMet) await sync.bringInSync();
    await at.write({ status: 'refunded' });
    act.settleRefund(sync.world, told, 'failed');
    await sync.bringInSync();
    expect(await at.refunds()).toMatchObject([{ stripe_refund_id: told, status: 'failed' }]);
    expect(await at.row()).toMatchObject(KEPT);
  });

  test('a recorded refund stays beside one pending before until that one is decided', async () => {
    const at = await open();
    const told = at.refund({ status: 'pending' });
    await sync.bringInSync();
    await at.write({ status: 'refunded' });
    await sync.bringInSync();
    sync.later(40 * DAY); // no list shows it any more
    await sync.bringInSync();
    expect(await at.refunds()).toHaveLength(2);
    act.settleRefund(sync.world, told, 'succeeded');
    await sync.bringInSync();
    expect(await at.refunds()).toMatchObject([{ stripe_refund_id: told, source: 'api' }]);
    expect(await at.row()).toMatchObject(REFUNDED);
  });

  test('a recorded refund and one of another day count once, and the excess is reported', async () => {
    const at = await open();
    await at.write({ status: 'refunded' });
    sync.later(2 * DAY);
    at.refund();
    const excess = ['payment', 'refunded_amount', '119.00 EUR', '238.00 EUR', 'reported'];
    expect(await sync.bringInSync()).toContainEqual(excess);
    expect(await at.refunds()).toHaveLength(2);
    expect(await at.row()).toMatchObject(REFUNDED);
  });

  test('a recorded refund is the rest of what Stripe refunded, even of the same amount and day', async () => {
    const at = await open();
    at.refund({ amount: 5_950 });
    await sync.bringInSync();
    expect(await at.write({ status: 'refunded' })).toMatchObject({ refunded_amount: 119 });
    const both = [
      { amount: '59.500', source: 'stripe' },
      { amount: '59.500', source: 'api', stripe_refund_id: null },
    ];
    expect(await at.refunds()).toMatchObject(both);
    await sync.bringInSync();
    expect(await at.refunds()).toMatchObject(both);
  });

  test('a recorded refund is cancelled when the payment is completed again; Stripe’s refund stays', async () => {
    const at = await open();
    at.refund({ amount: 1_900 });
    await sync.bringInSync();
    await at.write({ status: 'refunded' });
    expect(await at.write({ status: 'completed' })).toMatchObject({ refunded_amount: 19 });
    expect(await at.refunds()).toMatchObject([{ status: 'succeeded' }, { status: 'cancelled' }]);
    expect(await sync.bringInSync()).toEqual([]);
  });

  test('a recorded refund withdrawn while Stripe’s is pending counts again once that succeeds', async () => {
    const at = await open();
    await at.write({ status: 'refunded' });
    const told = at.refund({ status: 'pending' });
    await sync.bringInSync();
    expect(await at.write({ status: 'completed' })).toMatchObject({ refunded_amount: 0 });
    act.settleRefund(sync.world, told, 'succeeded');
    await sync.bringInSync();
    expect(await at.row()).toMatchObject(REFUNDED);
  });

  test('a recorded refund grows with the amount of its payment, and Stripe’s refund does not', async () => {
    const [recorded, told] = [await open(), await open()];
    await recorded.write({ status: 'refunded' });
    const grown = { status: 'refunded', refunded_amount: 150 };
    expect(await recorded.write({ amount: 150 })).toMatchObject(grown);
    told.refund();
    await sync.bringInSync();
    const kept = { status: 'completed', refunded_amount: 119 };
    expect(await told.write({ amount: 150 })).toMatchObject(kept);
    const whole = { status: 'refunded', refunded_amount: 100 };
    expect(await told.write({ amount: 100 })).toMatchObject(whole);
  });

  test('a payment that the API completed again stays completed', async () => {
    const at = await open();
    at.refund();
    await sync.bringInSync();
    await at.write({ status: 'completed' });
    act.openDispute(sync.world, { invoice: at.invoice, amount: 100, inquiry: true });
    await sync.bringInSync();
    expect(await at.row()).toMatchObject({ status: 'completed', refunded_amount: '119.000' });
  });

  test('a recorded refund is deleted with its payment; Stripe’s refund waits for another payment', async () => {
    const at = await open();
    at.refund({ amount: 1_900 });
    await sync.bringInSync();
    await at.write({ status: 'refunded' });
    await deletePayment(sync.db, at.id, sync.writer());
    expect(await at.refunds()).toEqual([]);
    expect(await sync.bringInSync()).toEqual([]);
    const { payment } = await record(at.on, 119, at.invoice);
    await sync.bringInSync();
    const [left, ...others] = await sync.db.select().from(refunds).where(eq(refunds.payment_id, payment.id));
    expect([left, others]).toMatchObject([{ amount: '19.000', source: 'stripe' }, []]);
    expect(await at.row()).toMatchObject({ source: 'api', refunded_amount: '19.000' });
  });
});

test('an invoice of our own is open again once a payment of it is refunded', async () => {
  await sync.collect();
  const intent = sync.collectAlone('pi_alone');
  const { id, customer_id } = await createInvoice(sync.db, { due_date: '2020-01-31' });
  const on = { invoice_id: id, customer_id };
  await record(on, 50, intent.id);
  await record(on, 69, 'cash');
  const settled = () => sync.db.select().from(invoices).where(eq(invoices.id, id));
  expect(await settled()).toMatchObject([{ status: 'paid', amount_due: '0.000' }]);
  act.refundPayment(sync.world, { paymentIntent: intent.id, amount: 2_000 });
  expect(await sync.bringInSync()).toContainEqual(['invoice', 'status', 'paid', 'overdue', 'fixed']);
  const open = { status: 'overdue', amount_paid: '99.000', amount_due: '20.000', paid_at: null };
  expect(await settled()).toMatchObject([open]);
  await record(on, 20, 'cash again');
  expect(await settled()).toMatchObject([{ status: 'paid', amount_due: '0.000' }]);
});
