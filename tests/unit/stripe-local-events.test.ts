import { describe, expect, test } from 'vitest';
import { seededChance } from '@/lib/chance';
import type { Json } from '@/lib/stripe-local/render/shape';
import { createWorld } from '@/lib/stripe-local/world';
import * as act from '../support/stripe-actions';
import { renderEvent, renderObject, shapeOf } from '../support/stripe-versions';

test('an update event of the local Stripe contains the previous values, and an update without changes sends no event', () => {
  const now = new Date('2026-03-31T12:00:00.750Z');
  const world = createWorld({ now: () => now, chance: seededChance(7) });
  const customer = act.createCustomer(world).object.id;
  const given = { customer, items: [{ unitAmount: 990 }], metadata: { old: '1' } };
  const { object } = act.createSubscription(world, given);
  const previous = (patch: Parameters<typeof act.updateSubscription>[2], version = '2026-10-28.endive') => {
    const [event] = act.updateSubscription(world, object.id, patch).events;
    return event && (renderEvent(event, version).data as { previous_attributes: object }).previous_attributes;
  };
  expect(previous({ status: 'past_due' })).toEqual({ status: 'active' });
  expect(previous({ metadata: { fresh: '2' } })).toEqual({ metadata: { old: '1', fresh: null } });
  const { id, currentPeriodEnd: end = 0 } = object.items[0] ?? {};
  expect(previous({ currentPeriodEnd: end + 60 }, '2020-08-27')).toEqual({ current_period_end: end });
  expect(previous({ currentPeriodEnd: end + 120 }, '2025-03-31.basil')).toMatchObject({
    items: { data: [{ id, current_period_end: end + 60 }] },
  });
  expect(act.updateSubscription(world, object.id, { status: 'past_due' }).events).toEqual([]);
});

describe('objects in the shape of an API version', () => {
  const world = createWorld({ now: () => new Date('2026-03-01T12:00:00Z'), chance: seededChance(1) });
  const customer = act.createCustomer(world, { email: 'ada@example.com', name: 'Ada' }).object;
  const made = act.createSubscription(world, { customer: customer.id, items: [{ unitAmount: 1000 }] }).object;
  const { invoice: draft } = act.invoiceSubscription(world, made.id, { tax: 190 }).object;
  act.finalizeInvoice(world, draft.id);
  const invoice = act.payInvoice(world, draft.id, { offStripe: 190 }).object;
  const subscription = world.subscriptions.get(made.id) ?? made;
  const intent = world.paymentIntents.get(invoice.paymentIntent ?? '');
  const periodEnd = made.items[0]?.currentPeriodEnd;

  const firstItem = (rendered: Json) => (rendered.items as { data: Json[] }).data[0];
  const render = (object: Parameters<typeof renderObject>[0], version: string) =>
    renderObject(object, shapeOf(version));

  test.each(['2016-03-07; orders_beta=v3', '2020-08-27', '2023-10-16'])(
    'the local Stripe renders objects of version %s in the shape before basil',
    (version) => {
      const sub = render(subscription, version);
      expect(sub.current_period_end).toBe(periodEnd);
      expect(firstItem(sub)).not.toHaveProperty('current_period_end');
      const inv = render(invoice, version);
      // Before basil, `amount_paid` does not include payments outside Stripe.
      const amounts = { amount_due: 1190, amount_paid: 1000, amount_remaining: 190, tax: 190 };
      const links = { subscription: made.id, charge: invoice.charge, payment_intent: invoice.paymentIntent };
      expect(inv).toMatchObject({ ...links, ...amounts, paid: true, paid_out_of_band: true });
      expect(inv).not.toHaveProperty('parent');
    },
  );

  test.each(['2025-03-31.basil', '2025-09-30.clover', '2026-10-28.endive'])(
    'the local Stripe renders objects of version %s in the shape of basil',
    (version) => {
      const sub = render(subscription, version);
      expect(sub).not.toHaveProperty('current_period_end');
      expect(firstItem(sub)?.current_period_end).toBe(periodEnd);
      const inv = render(invoice, version);
      const gone = 'subscription paid paid_out_of_band charge payment_intent tax discount';
      const onlyExpanded = 'payments amount_paid_off_stripe';
      for (const name of `${gone} ${onlyExpanded}`.split(' ')) expect(inv).not.toHaveProperty(name);
      expect(inv).toMatchObject({
        parent: { type: 'subscription_details', subscription_details: { subscription: made.id } },
        ...{ amount_paid: 1190, amount_remaining: 0, total_taxes: [{ amount: 190 }] },
      });
    },
  );

  test('the local Stripe renders payment intents and subscriptions in the shape of their API version', () => {
    if (!intent) throw new Error('no intent');
    expect(render(intent, '2020-08-27')).toMatchObject({ charges: { data: [{ id: invoice.charge }] } });
    const links = { latest_charge: invoice.charge, invoice: invoice.id };
    expect(render(intent, '2023-10-16')).toMatchObject(links);
    expect(render(intent, '2025-03-31.basil')).not.toHaveProperty('invoice');
    expect(render(subscription, '2020-08-27')).not.toHaveProperty('currency');
    expect(render(subscription, '2023-10-16')).toHaveProperty('currency', 'eur');
  });
});
