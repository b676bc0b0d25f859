import { beforeEach, describe, expect, test } from 'vitest';
import { seededChance } from '@/lib/chance';
import { chargeOf, isCollected } from '@/lib/stripe-local/charges';
import type { WorldEvent } from '@/lib/stripe-local/model';
import type { Json } from '@/lib/stripe-local/render/shape';
import { createWorld, type World } from '@/lib/stripe-local/world';
import * as act from '../support/stripe-actions';
import { renderEvent, renderObject, shapeOf } from '../support/stripe-versions';

const START = Date.parse('2026-03-31T12:00:00.750Z');
const types = ({ events }: { events: WorldEvent[] }) => events.map(({ type }) => type);
/** Expects an action to cause these events in this order. */
const expectEvents = (done: { events: WorldEvent[] }, expected: string) =>
  expect(types(done)).toEqual(expected.split(/\s+/));

describe('actions of the local Stripe', () => {
  let world: World;
  let now: number;
  let customer: string;
  const open = (total = 1000) => {
    const { object } = act.createInvoice(world, { customer, lines: [{ amount: total }] });
    return act.finalizeInvoice(world, object.id).object;
  };

  beforeEach(() => {
    now = START;
    world = createWorld({ now: () => new Date(now), chance: seededChance(7) });
    customer = act.createCustomer(world, { email: 'ada@example.com' }).object.id;
  });

  test('a local Stripe with the same seed produces the same history', () => {
    const again = createWorld({ now: () => new Date(START), chance: seededChance(7) });
    expect(act.createCustomer(again, { email: 'ada@example.com' }).events).toEqual(world.history);
    const other = createWorld({ now: () => new Date(START), chance: seededChance(8) });
    expect(act.createCustomer(other).object.id).not.toBe(customer);
  });

  test('an event of the local Stripe contains the object’s state at its time', () => {
    const { object, events } = act.createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
    act.updateSubscription(world, object.id, { metadata: { later: 'yes' } });
    const [event] = events;
    expect(event?.id).toMatch(/^evt_[0-9A-Za-z]{24}$/);
    expect(event && renderEvent(event, '2026-10-28.endive')).toMatchObject({
      object: 'event',
      api_version: '2026-10-28.endive',
      created: Math.floor(START / 1000),
      type: 'customer.subscription.created',
      livemode: false,
      data: { object: { id: object.id, status: 'active', metadata: {} } },
    });
  });

  const draft = (...amounts: number[]) =>
    act.createInvoice(world, { customer, lines: amounts.map((amount) => ({ amount })), tax: 285 });
  const subscribe = (input: Partial<Parameters<typeof act.createSubscription>[1]> = {}) =>
    act.createSubscription(world, { customer, items: [{ unitAmount: 990 }], ...input });

  test('an invoice of the local Stripe is finalized before it is paid', () => {
    const created = draft(1000, 500);
    expectEvents(created, 'invoice.created');
    expect(created.object).toMatchObject({ status: 'draft', number: null, subtotal: 1500, total: 1785 });
    const finalized = act.finalizeInvoice(world, created.object.id);
    expectEvents(finalized, 'payment_intent.created invoice.updated invoice.finalized');
    const number = expect.stringMatching(/-0001$/);
    expect(finalized.object).toMatchObject({ status: 'open', amountDue: 1785, attempted: false, number });
    const paid = act.payInvoice(world, created.object.id);
    expectEvents(
      paid,
      'payment_intent.succeeded invoice_payment.paid invoice.updated invoice.paid invoice.payment_succeeded',
    );
    expect(paid.object).toMatchObject({ status: 'paid', amountPaid: 1785, amountPaidOffStripe: 0 });
    expect(() => act.payInvoice(world, created.object.id)).toThrow(/is paid, not open or uncollectible/);
  });

  test('a payment outside Stripe causes invoice.paid but not invoice.payment_succeeded', () => {
    const cash = act.payInvoice(world, open().id, { offStripe: true });
    expectEvents(cash, 'invoice_payment.paid payment_intent.canceled invoice.updated invoice.paid');
    expect(cash.object).toMatchObject({ amountPaid: 1000, amountPaidOffStripe: 1000, charge: null });
    const half = act.payInvoice(world, open().id, { offStripe: 400 });
    expect(types(half)).toContain('invoice.payment_succeeded');
    expect(half.object).toMatchObject({ amountPaid: 1000, amountPaidOffStripe: 400 });
    expect(() => act.payInvoice(world, open().id, { offStripe: 1001 })).toThrow(/1000 left to pay/);
  });

  test('an invoice of 0 is paid when the local Stripe finalizes it', () => {
    const { object: free } = act.createInvoice(world, { customer, lines: [{ amount: 0 }] });
    const { id } = open();
    const [sent, { object: unsent }] = [act.finalizeInvoice(world, free.id), draft()];
    const failed = 'payment_intent.payment_failed invoice.updated invoice.payment_failed';
    expectEvents(sent, 'invoice.updated invoice.finalized invoice.paid invoice.payment_succeeded');
    expectEvents(act.beginPayment(world, id), 'payment_intent.processing invoice.updated');
    expectEvents(act.failInvoicePayment(world, id), failed);
    expectEvents(act.markUncollectible(world, id), 'invoice.updated invoice.marked_uncollectible');
    expectEvents(act.voidInvoice(world, id), 'payment_intent.canceled invoice.updated invoice.voided');
    expectEvents(act.updateInvoice(world, unsent.id, { metadata: { note: 'x' } }), 'invoice.updated');
    expectEvents(act.deleteDraftInvoice(world, unsent.id), 'invoice.deleted');
    expect(world.invoices.get(unsent.id)).toBeUndefined();
    expect(() => act.voidInvoice(world, unsent.id)).toThrow(`No such invoice: '${unsent.id}'`);
  });

  test('a renewal in the local Stripe moves the period by calendar months', () => {
    const yearly = { unitAmount: 12_000, interval: 'year', quantity: 2 } as const;
    const { object } = subscribe({ items: [{ unitAmount: 990 }, yearly] });
    const ends = () =>
      world.subscriptions
        .get(object.id)
        ?.items.map((item) => new Date(item.currentPeriodEnd * 1000).toISOString().slice(0, 10));
    expect(ends()).toEqual(['2026-04-30', '2027-03-31']);
    const renewed = act.renewSubscription(world, object.id);
    expectEvents(renewed, 'invoice.created customer.subscription.updated');
    expect(ends()).toEqual(['2026-05-30', '2028-03-31']);
    const billed = { status: 'draft', total: 990 + 24_000, subscription: object.id };
    expect(renewed.object.invoice).toMatchObject(billed);
    expect(renewed.object.subscription.latestInvoice).toBe(renewed.object.invoice.id);
  });

  test('a failed payment makes a subscription of the local Stripe past due', () => {
    const { object } = subscribe();
    const { invoice } = act.invoiceSubscription(world, object.id).object;
    act.finalizeInvoice(world, invoice.id);
    const failed = act.failInvoicePayment(world, invoice.id);
    expect(types(failed).at(-1)).toBe('customer.subscription.updated');
    expect(world.subscriptions.get(object.id)?.status).toBe('past_due');
    act.payInvoice(world, invoice.id);
    expect(world.subscriptions.get(object.id)?.status).toBe('active');
  });

  test('an update event of the local Stripe contains the previous values', () => {
    const { object } = subscribe({ metadata: { old: '1' } });
    const previous = (patch: Parameters<typeof act.updateSubscription>[2], version: string) => {
      const [event] = act.updateSubscription(world, object.id, patch).events;
      return (
        event && (renderEvent(event, version).data as { previous_attributes: object }).previous_attributes
      );
    };
    expect(previous({ status: 'past_due' }, '2026-10-28.endive')).toEqual({ status: 'active' });
    expect(previous({ metadata: { fresh: '2' } }, '2026-10-28.endive')).toEqual({
      metadata: { old: '1', fresh: null },
    });
    const end = object.items[0]?.currentPeriodEnd ?? 0;
    expect(previous({ currentPeriodEnd: end + 60 }, '2020-08-27')).toEqual({ current_period_end: end });
    expect(previous({ currentPeriodEnd: end + 120 }, '2025-03-31.basil')).toMatchObject({
      items: { data: [{ id: object.items[0]?.id, current_period_end: end + 60 }] },
    });
    expect(act.updateSubscription(world, object.id, { status: 'past_due' }).events).toEqual([]);
  });

  test('an immediate cancellation of a subscription causes customer.subscription.deleted', () => {
    const { object } = subscribe();
    const scheduled = act.updateSubscription(world, object.id, { cancelAtPeriodEnd: true });
    expectEvents(scheduled, 'customer.subscription.updated');
    expect(scheduled.object).toMatchObject({
      status: 'active',
      cancelAt: object.items[0]?.currentPeriodEnd,
      canceledAt: Math.floor(START / 1000),
    });
    expect(() => act.renewSubscription(world, object.id)).toThrow(/ends with its period/);
    now += 60_000;
    const ended = act.cancelSubscription(world, object.id);
    expectEvents(ended, 'customer.subscription.deleted');
    expect(ended.object).toMatchObject({ status: 'canceled', endedAt: Math.floor(now / 1000) });
    expect(() => act.updateSubscription(world, object.id, { status: 'active' })).toThrow(/is canceled/);
  });

  test('a subscription update in the local Stripe can add and remove items', () => {
    const { object } = subscribe({ items: [{ unitAmount: 1 }, { unitAmount: 2 }] });
    const id = object.items[0]?.id ?? '';
    const added = { unitAmount: 5, metadata: { service_number: 'S1' } };
    const { items } = act.updateSubscription(world, object.id, {
      items: [{ id, quantity: 3 }, added],
    }).object;
    expect(items).toMatchObject([
      { id, unitAmount: 1, quantity: 3 },
      { ...added, quantity: 1 },
    ]);
    expect(items[1]?.id).toMatch(/^si_/);
  });

  test('a checkout in the local Stripe ends with checkout.session.completed', () => {
    const session = act.createCheckoutSession(world, { customer, items: [{ unitAmount: 990 }] });
    const done = act.completeCheckout(world, session.id);
    expectEvents(
      done,
      `customer.subscription.created invoice.created customer.subscription.updated payment_intent.created
      invoice.updated invoice.finalized payment_intent.succeeded invoice_payment.paid invoice.updated
      invoice.paid invoice.payment_succeeded customer.subscription.updated checkout.session.completed`,
    );
    expect(world.subscriptions.get(done.object.subscription ?? '')?.status).toBe('active');
    expect([...world.checkoutSessions.where('subscription', done.object.subscription)]).toEqual([
      done.object,
    ]);
    expect(() => act.completeCheckout(world, session.id)).toThrow(/is complete/);
  });

  test('an unpaid checkout in the local Stripe leaves the subscription incomplete', () => {
    const own = { customerEmail: 'eve@example.com', items: [{ unitAmount: 1 }] };
    const debit = act.createCheckoutSession(world, own);
    const { object } = act.completeCheckout(world, debit.id, { payment: 'unpaid' });
    expect(object).toMatchObject({ status: 'complete', paymentStatus: 'unpaid' });
    expect(world.customers.get(object.customer ?? '')?.email).toBe('eve@example.com');
    expect(world.subscriptions.get(object.subscription ?? '')?.status).toBe('incomplete');
    const free = act.createCheckoutSession(world, { customer, items: [{ unitAmount: 0 }] });
    const { subscription } = act.completeCheckout(world, free.id).object;
    expect(world.subscriptions.get(subscription ?? '')?.status).toBe('active');
  });

  test('deleting a customer in the local Stripe cancels the customer’s subscriptions', () => {
    subscribe();
    const metadata = { customer_number: 'K1' };
    expectEvents(act.updateCustomer(world, customer, { metadata }), 'customer.updated');
    expectEvents(act.deleteCustomer(world, customer), 'customer.subscription.deleted customer.deleted');
    expect(() => act.createInvoice(world, { customer, lines: [] })).toThrow(/No such customer/);
  });
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
      // Before basil, amount_paid leaves out payments outside Stripe.
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
      const gone = 'subscription paid paid_out_of_band charge payment_intent tax discount'.split(' ');
      const onlyExpanded = ['payments', 'amount_paid_off_stripe'];
      for (const name of [...gone, ...onlyExpanded]) expect(inv).not.toHaveProperty(name);
      expect(inv).toMatchObject({
        parent: { type: 'subscription_details', subscription_details: { subscription: made.id } },
        ...{ amount_paid: 1190, amount_remaining: 0, total_taxes: [{ amount: 190 }] },
      });
    },
  );

  test('the local Stripe renders objects of version acacia with the fields of both shapes', () => {
    const sub = render(subscription, '2025-02-24.acacia');
    expect([sub.current_period_end, firstItem(sub)?.current_period_end]).toEqual([periodEnd, periodEnd]);
    expect(render(invoice, '2025-02-24.acacia')).toMatchObject({
      subscription: made.id,
      parent: { subscription_details: { subscription: made.id } },
    });
  });

  test('the local Stripe renders a payment intent in the shape of its API version', () => {
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

  test('the local Stripe renders a credit note in the shape of its API version', () => {
    const note = act.createCreditNote(world, { invoice: invoice.id, amount: 500, refundAmount: 500 }).object;
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
