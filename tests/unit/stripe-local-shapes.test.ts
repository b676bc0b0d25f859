import { describe, expect, test } from 'vitest';
import {
  createCreditNote,
  createCustomer,
  createSubscription,
  finalizeInvoice,
  invoiceSubscription,
  payInvoice,
} from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { chargeOf, isCollected } from '@/lib/stripe-local/charges';
import { renderObject } from '@/lib/stripe-local/render/object';
import { type Json, shapeOf } from '@/lib/stripe-local/render/shape';
import { createWorld } from '@/lib/stripe-local/world';

const world = createWorld({ now: () => new Date('2026-03-01T12:00:00Z'), chance: seededChance(1) });
const customer = createCustomer(world, { email: 'ada@example.com', name: 'Ada' }).object;
const made = createSubscription(world, { customer: customer.id, items: [{ unitAmount: 1000 }] }).object;
const { invoice: draft } = invoiceSubscription(world, made.id, { tax: 190 }).object;
finalizeInvoice(world, draft.id);
const invoice = payInvoice(world, draft.id, { offStripe: 190 }).object;
const subscription = world.subscriptions.get(made.id) ?? made;
const intent = world.paymentIntents.get(invoice.paymentIntent ?? '');
const periodEnd = made.items[0]?.currentPeriodEnd;

const firstItem = (rendered: Json) => (rendered.items as { data: Json[] }).data[0];
const render = (object: Parameters<typeof renderObject>[0], version: string) =>
  renderObject(object, shapeOf(version));

describe('one object in the shapes of the API versions', () => {
  test.each(['2016-03-07; orders_beta=v3', '2020-08-27', '2023-10-16'])('%s is before basil', (version) => {
    const sub = render(subscription, version);
    expect(sub.current_period_end).toBe(periodEnd);
    expect(firstItem(sub)).not.toHaveProperty('current_period_end');
    const inv = render(invoice, version);
    expect(inv).toMatchObject({
      subscription: made.id,
      paid: true,
      // Before basil what was paid off Stripe is not in amount_paid.
      paid_out_of_band: true,
      amount_due: 1190,
      amount_paid: 1000,
      amount_remaining: 190,
      charge: invoice.charge,
      payment_intent: invoice.paymentIntent,
      tax: 190,
    });
    expect(inv).not.toHaveProperty('parent');
  });

  test.each(['2025-03-31.basil', '2025-09-30.clover', '2026-10-28.endive'])(
    '%s is from basil on',
    (version) => {
      const sub = render(subscription, version);
      expect(sub).not.toHaveProperty('current_period_end');
      expect(firstItem(sub)?.current_period_end).toBe(periodEnd);
      const inv = render(invoice, version);
      for (const gone of [
        'subscription',
        'paid',
        'paid_out_of_band',
        'charge',
        'payment_intent',
        'tax',
        'discount',
      ]) {
        expect(inv).not.toHaveProperty(gone);
      }
      for (const onlyExpanded of ['payments', 'amount_paid_off_stripe']) {
        expect(inv).not.toHaveProperty(onlyExpanded);
      }
      expect(inv).toMatchObject({
        parent: { type: 'subscription_details', subscription_details: { subscription: made.id } },
        amount_paid: 1190,
        amount_remaining: 0,
        total_taxes: [{ amount: 190 }],
      });
    },
  );

  test('the months before basil had both', () => {
    const sub = render(subscription, '2025-02-24.acacia');
    expect([sub.current_period_end, firstItem(sub)?.current_period_end]).toEqual([periodEnd, periodEnd]);
    expect(render(invoice, '2025-02-24.acacia')).toMatchObject({
      subscription: made.id,
      parent: { subscription_details: { subscription: made.id } },
    });
  });

  test('payment intents and currency by version', () => {
    if (!intent) throw new Error('no intent');
    expect(render(intent, '2020-08-27')).toMatchObject({ charges: { data: [{ id: invoice.charge }] } });
    expect(render(intent, '2023-10-16')).toMatchObject({
      latest_charge: invoice.charge,
      invoice: invoice.id,
    });
    expect(render(intent, '2025-03-31.basil')).not.toHaveProperty('invoice');
    expect(render(subscription, '2020-08-27')).not.toHaveProperty('currency');
    expect(render(subscription, '2023-10-16')).toHaveProperty('currency', 'eur');
  });

  test('credit notes, their invoices and charges by version', () => {
    const note = createCreditNote(world, { invoice: invoice.id, amount: 500, refundAmount: 500 }).object;
    const refund = note.refunds[0]?.refund;
    expect(render(note, '2023-10-16')).toMatchObject({ type: 'post_payment', refund });
    expect(render(note, '2023-10-16')).not.toHaveProperty('refunds');
    expect(render(note, '2025-03-31.basil')).toMatchObject({
      post_payment_amount: 500,
      refunds: [{ refund }],
    });
    expect(render(note, '2025-03-31.basil')).not.toHaveProperty('refund');
    const credited = world.invoices.get(invoice.id) ?? invoice;
    if (!intent || !isCollected(intent)) throw new Error('nothing was collected');
    const charge = chargeOf(world, intent);
    for (const version of ['2020-08-27', '2026-10-28.endive']) {
      expect(render(credited, version)).toMatchObject({
        pre_payment_credit_notes_amount: 0,
        post_payment_credit_notes_amount: 500,
      });
      expect(render(charge, version)).toMatchObject({ id: invoice.charge, amount_refunded: 500 });
    }
    expect(render(charge, '2020-08-27')).toHaveProperty('invoice', invoice.id);
    expect(render(charge, '2026-10-28.endive')).not.toHaveProperty('invoice');
  });
});
