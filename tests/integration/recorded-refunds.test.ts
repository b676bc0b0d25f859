import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { invoices } from '@/db/schema';
import { deletePayment } from '@/lib/payments/delete-payment';
import { recordPayment } from '@/lib/payments/record-payment';
import type { PaymentUpdate } from '@/lib/payments/schema';
import { updatePayment } from '@/lib/payments/update-payment';
import * as act from '@/lib/stripe-local/actions';
import { createInvoice } from '../support/factories';
import { DAY, useSilentStripe } from '../support/silent-stripe';

const at = useSilentStripe();

/** As the API or staff record it. */
const write = (id: number, changes: PaymentUpdate) => updatePayment(at.db, id, changes, at.writer());

describe('what the API recorded', () => {
  test('is one refund with what Stripe tells of the same amount and day, and is taken back if that fails', async () => {
    const invoice = await at.paid();
    const { id } = await at.paymentOf(invoice);
    expect(await write(id, { status: 'refunded' })).toMatchObject({ refunded_amount: 119 });
    const { object } = act.refundPayment(at.world, { invoice, status: 'pending' });
    await at.bringInSync();
    const told = { stripe_refund_id: object.id, amount: '119.000', source: 'api' };
    expect(await at.refundsOf(id)).toEqual([{ ...told, status: 'pending' }]);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
    at.later(DAY);
    act.settleRefund(at.world, object.id, 'failed');
    await at.bringInSync();
    expect(await at.refundsOf(id)).toEqual([{ ...told, status: 'failed' }]);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'completed', refunded_amount: '0.000' });
    // Paid back otherwise, it is recorded anew.
    expect(await write(id, { status: 'refunded' })).toMatchObject({ refunded_amount: 119 });
    await at.bringInSync();
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded' });
  });

  test('is taken back by a refund that Stripe shows only once it has failed, or that the job met pending', async () => {
    for (const isMet of [false, true]) {
      const invoice = await at.paid();
      const { id } = await at.paymentOf(invoice);
      const { object } = act.refundPayment(at.world, { invoice, status: 'pending' });
      if (isMet) await at.bringInSync();
      await write(id, { status: 'refunded' });
      act.settleRefund(at.world, object.id, 'failed');
      await at.bringInSync();
      expect(await at.refundsOf(id)).toMatchObject([{ stripe_refund_id: object.id, status: 'failed' }]);
      expect(await at.paymentOf(invoice)).toMatchObject({ status: 'completed', refunded_amount: '0.000' });
    }
  });

  test('stays beside one that was pending before, however often the job looks at that, until it is decided', async () => {
    const invoice = await at.paid();
    const { id } = await at.paymentOf(invoice);
    const { object } = act.refundPayment(at.world, { invoice, status: 'pending' });
    await at.bringInSync();
    await write(id, { status: 'refunded' });
    await at.bringInSync();
    at.later(40 * DAY); // no list shows it any more
    await at.bringInSync();
    expect(await at.bringInSync()).toEqual([]);
    expect(await at.refundsOf(id)).toHaveLength(2);
    act.settleRefund(at.world, object.id, 'succeeded');
    await at.bringInSync();
    expect(await at.refundsOf(id)).toMatchObject([{ stripe_refund_id: object.id, source: 'api' }]);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
  });

  test('of another day counts once, and that more came back than was paid is told', async () => {
    const invoice = await at.paid();
    const { id } = await at.paymentOf(invoice);
    await write(id, { status: 'refunded' });
    at.later(2 * DAY);
    act.refundPayment(at.world, { invoice });
    expect(await at.bringInSync()).toContainEqual([
      'payment',
      'refunded_amount',
      '119.00 EUR',
      '238.00 EUR',
      'reported',
    ]);
    expect(await at.refundsOf(id)).toHaveLength(2);
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
  });

  test('is the rest of what Stripe refunded, even if that is as much on the same day', async () => {
    const invoice = await at.paid();
    act.refundPayment(at.world, { invoice, amount: 5_950 });
    await at.bringInSync();
    const { id } = await at.paymentOf(invoice);
    expect(await write(id, { status: 'refunded' })).toMatchObject({ refunded_amount: 119 });
    const both = [
      { amount: '59.500', source: 'stripe' },
      { amount: '59.500', source: 'api', stripe_refund_id: null },
    ];
    expect(await at.refundsOf(id)).toMatchObject(both);
    await at.bringInSync();
    expect(await at.refundsOf(id)).toMatchObject(both);
  });

  test('is withdrawn when the payment is completed again; what Stripe told stays', async () => {
    const invoice = await at.paid();
    act.refundPayment(at.world, { invoice, amount: 1_900 });
    await at.bringInSync();
    const { id } = await at.paymentOf(invoice);
    await write(id, { status: 'refunded' });
    expect(await write(id, { status: 'completed' })).toMatchObject({ refunded_amount: 19 });
    expect(await at.refundsOf(id)).toMatchObject([{ status: 'succeeded' }, { status: 'cancelled' }]);
    expect(await at.bringInSync()).toEqual([]);
  });

  test('does not count any more when it is withdrawn while Stripe is at it', async () => {
    const invoice = await at.paid();
    const { id } = await at.paymentOf(invoice);
    await write(id, { status: 'refunded' });
    const { object } = act.refundPayment(at.world, { invoice, status: 'pending' });
    await at.bringInSync();
    expect(await write(id, { status: 'completed' })).toMatchObject({ refunded_amount: 0 });
    act.settleRefund(at.world, object.id, 'succeeded');
    await at.bringInSync();
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
  });

  test('grows with the amount; what Stripe refunded does not', async () => {
    const [recorded, told] = [await at.paid(), await at.paid()];
    const [first, second] = [await at.paymentOf(recorded), await at.paymentOf(told)];
    await write(first.id, { status: 'refunded' });
    expect(await write(first.id, { amount: 150 })).toMatchObject({
      status: 'refunded',
      refunded_amount: 150,
    });
    act.refundPayment(at.world, { invoice: told });
    await at.bringInSync();
    expect(await write(second.id, { amount: 150 })).toMatchObject({
      status: 'completed',
      refunded_amount: 119,
    });
    expect(await write(second.id, { amount: 100 })).toMatchObject({
      status: 'refunded',
      refunded_amount: 100,
    });
  });

  test('is not overwritten: a payment that the API completed stays so', async () => {
    const invoice = await at.paid();
    act.refundPayment(at.world, { invoice });
    await at.bringInSync();
    const { id } = await at.paymentOf(invoice);
    await write(id, { status: 'completed' });
    act.openDispute(at.world, { invoice, amount: 100, inquiry: true });
    await at.bringInSync();
    expect(await at.paymentOf(invoice)).toMatchObject({ status: 'completed', refunded_amount: '119.000' });
  });

  test('goes with its payment; what Stripe told waits for another one', async () => {
    const invoice = await at.paid();
    const { id, invoice_id, customer_id } = await at.paymentOf(invoice);
    act.refundPayment(at.world, { invoice, amount: 1_900 });
    await at.bringInSync();
    await write(id, { status: 'refunded' });
    await deletePayment(at.db, id, at.writer());
    expect(await at.refundsOf(id)).toEqual([]);
    expect(await at.bringInSync()).toEqual([]);
    const { payment } = await recordPayment(
      at.db,
      {
        invoice_id,
        customer_id,
        amount: 119,
        payment_date: '2026-03-15',
        payment_reference: invoice,
      },
      at.writer(),
    );
    await at.bringInSync();
    expect(await at.refundsOf(payment.id)).toMatchObject([{ amount: '19.000', source: 'stripe' }]);
    expect(await at.paymentOf(invoice)).toMatchObject({ source: 'api', refunded_amount: '19.000' });
  });
});

test('an invoice of our own is settled by what is left of its payments', async () => {
  await at.paid();
  const intent = at.collectAlone('pi_alone');
  const invoice = await createInvoice(at.db, { total: '119', amount_due: '119', due_date: '2020-01-31' });
  const pay = (amount: number, payment_reference: string) =>
    recordPayment(
      at.db,
      {
        invoice_id: invoice.id,
        customer_id: invoice.customer_id,
        amount,
        payment_date: '2026-03-15',
        payment_reference,
      },
      at.writer(),
    );
  await pay(50, intent.id);
  await pay(69, 'cash');
  const settled = () => at.db.select().from(invoices).where(eq(invoices.id, invoice.id));
  expect(await settled()).toMatchObject([{ status: 'paid', amount_due: '0.000' }]);
  act.refundPayment(at.world, { paymentIntent: intent.id, amount: 2_000 });
  expect(await at.bringInSync()).toContainEqual(['invoice', 'status', 'paid', 'overdue', 'fixed']);
  expect(await settled()).toMatchObject([
    { status: 'overdue', amount_paid: '99.000', amount_due: '20.000', paid_at: null },
  ]);
  await pay(20, 'cash again');
  expect(await settled()).toMatchObject([{ status: 'paid', amount_due: '0.000' }]);
});
