import { beforeEach, describe, expect, test } from 'vitest';
import {
  beginPayment,
  cancelSubscription,
  completeCheckout,
  createCheckoutSession,
  createCustomer,
  createInvoice,
  createSubscription,
  deleteCustomer,
  deleteDraftInvoice,
  failInvoicePayment,
  finalizeInvoice,
  invoiceSubscription,
  markUncollectible,
  payInvoice,
  renewSubscription,
  updateCustomer,
  updateInvoice,
  updateSubscription,
  voidInvoice,
} from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld, type World } from '@/lib/stripe-local/world';

const START = Date.parse('2026-03-31T12:00:00.750Z');
const types = ({ events }: { events: WorldEvent[] }) => events.map(({ type }) => type);

describe('events of actions', () => {
  let world: World;
  let now: number;
  let customer: string;
  const open = (total = 1000) => {
    const { object } = createInvoice(world, { customer, lines: [{ amount: total }] });
    return finalizeInvoice(world, object.id).object;
  };

  beforeEach(() => {
    now = START;
    world = createWorld({ now: () => new Date(now), chance: seededChance(7) });
    customer = createCustomer(world, { email: 'ada@example.com' }).object.id;
  });

  test('the same seed makes the same history', () => {
    const again = createWorld({ now: () => new Date(START), chance: seededChance(7) });
    expect(createCustomer(again, { email: 'ada@example.com' }).events).toEqual(world.history);
    const other = createWorld({ now: () => new Date(START), chance: seededChance(8) });
    expect(createCustomer(other).object.id).not.toBe(customer);
  });

  test('an event has an id, whole seconds and the state of its moment', () => {
    const { object, events } = createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
    updateSubscription(world, object.id, { metadata: { later: 'yes' } });
    const [event] = events;
    if (!event) throw new Error('no event');
    expect(event.id).toMatch(/^evt_[0-9A-Za-z]{24}$/);
    expect(renderEvent(event, '2026-10-28.endive')).toMatchObject({
      object: 'event',
      api_version: '2026-10-28.endive',
      created: Math.floor(START / 1000),
      type: 'customer.subscription.created',
      livemode: false,
      data: { object: { id: object.id, status: 'active', metadata: {} } },
    });
  });

  test('a draft is created, finalized and paid', () => {
    const created = createInvoice(world, { customer, lines: [{ amount: 1000 }, { amount: 500 }], tax: 285 });
    expect(types(created)).toEqual(['invoice.created']);
    expect(created.object).toMatchObject({ status: 'draft', number: null, subtotal: 1500, total: 1785 });

    const finalized = finalizeInvoice(world, created.object.id);
    expect(types(finalized)).toEqual(['payment_intent.created', 'invoice.updated', 'invoice.finalized']);
    expect(finalized.object).toMatchObject({ status: 'open', amountDue: 1785, attempted: false });
    expect(finalized.object.number).toMatch(/-0001$/);

    const paid = payInvoice(world, created.object.id);
    expect(types(paid)).toEqual([
      'payment_intent.succeeded',
      'invoice_payment.paid',
      'invoice.updated',
      'invoice.paid',
      'invoice.payment_succeeded',
    ]);
    expect(paid.object).toMatchObject({ status: 'paid', amountPaid: 1785, amountPaidOffStripe: 0 });
    expect(() => payInvoice(world, created.object.id)).toThrow(/is paid, not open or uncollectible/);
  });

  test('off Stripe there is invoice.paid but no invoice.payment_succeeded', () => {
    const cash = payInvoice(world, open().id, { offStripe: true });
    expect(types(cash)).toContain('invoice.paid');
    expect(types(cash)).toContain('payment_intent.canceled');
    expect(types(cash)).not.toContain('invoice.payment_succeeded');
    expect(cash.object).toMatchObject({ amountPaid: 1000, amountPaidOffStripe: 1000, charge: null });

    const half = payInvoice(world, open().id, { offStripe: 400 });
    expect(types(half)).toContain('invoice.payment_succeeded');
    expect(half.object).toMatchObject({ amountPaid: 1000, amountPaidOffStripe: 400 });
    expect(() => payInvoice(world, open().id, { offStripe: 1001 })).toThrow(/1000 left to pay/);
  });

  test('an invoice over nothing is paid by being finalized', () => {
    const { object } = createInvoice(world, { customer, lines: [{ amount: 0 }] });
    const finalized = finalizeInvoice(world, object.id);
    expect(finalized.object.status).toBe('paid');
    expect(types(finalized)).toEqual([
      'invoice.updated',
      'invoice.finalized',
      'invoice.paid',
      'invoice.payment_succeeded',
    ]);
  });

  test('other ends of an invoice', () => {
    const dunned = open().id;
    expect(types(beginPayment(world, dunned))).toEqual(['payment_intent.processing', 'invoice.updated']);
    expect(types(failInvoicePayment(world, dunned))).toEqual([
      'payment_intent.payment_failed',
      'invoice.updated',
      'invoice.payment_failed',
    ]);
    expect(types(markUncollectible(world, dunned))).toEqual([
      'invoice.updated',
      'invoice.marked_uncollectible',
    ]);
    expect(types(voidInvoice(world, dunned))).toEqual([
      'payment_intent.canceled',
      'invoice.updated',
      'invoice.voided',
    ]);
    const { object: draft } = createInvoice(world, { customer, lines: [], dueDate: 1_800_000_000 });
    expect(types(updateInvoice(world, draft.id, { metadata: { note: 'x' } }))).toEqual(['invoice.updated']);
    expect(types(deleteDraftInvoice(world, draft.id))).toEqual(['invoice.deleted']);
    expect(world.invoices.get(draft.id)).toBeUndefined();
    expect(() => voidInvoice(world, draft.id)).toThrow(`No such invoice: '${draft.id}'`);
  });

  test('a renewal moves the period on by calendar months and leaves a draft', () => {
    const { object } = createSubscription(world, {
      customer,
      items: [{ unitAmount: 990 }, { unitAmount: 12_000, interval: 'year', quantity: 2 }],
    });
    const ends = () =>
      world.subscriptions
        .get(object.id)
        ?.items.map((item) => new Date(item.currentPeriodEnd * 1000).toISOString().slice(0, 10));
    expect(ends()).toEqual(['2026-04-30', '2027-03-31']);
    const renewed = renewSubscription(world, object.id);
    expect(types(renewed)).toEqual(['invoice.created', 'customer.subscription.updated']);
    expect(ends()).toEqual(['2026-05-30', '2028-03-31']);
    expect(renewed.object.invoice).toMatchObject({
      status: 'draft',
      total: 990 + 24_000,
      subscription: object.id,
    });
    expect(renewed.object.subscription.latestInvoice).toBe(renewed.object.invoice.id);
  });

  test('a failed payment makes the subscription past due, a paid one active again', () => {
    const { object } = createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
    const { invoice } = invoiceSubscription(world, object.id).object;
    finalizeInvoice(world, invoice.id);
    const failed = failInvoicePayment(world, invoice.id);
    expect(types(failed).at(-1)).toBe('customer.subscription.updated');
    expect(world.subscriptions.get(object.id)?.status).toBe('past_due');
    payInvoice(world, invoice.id);
    expect(world.subscriptions.get(object.id)?.status).toBe('active');
  });

  test('what changed is in previous_attributes, in each version at its own place', () => {
    const { object } = createSubscription(world, {
      customer,
      items: [{ unitAmount: 990 }],
      metadata: { old: '1' },
    });
    const previous = (patch: Parameters<typeof updateSubscription>[2], version: string) => {
      const [event] = updateSubscription(world, object.id, patch).events;
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
    expect(updateSubscription(world, object.id, { status: 'past_due' }).events).toEqual([]);
  });

  test('cancelling at the period end is an update, cancelling now a deletion', () => {
    const { object } = createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
    const scheduled = updateSubscription(world, object.id, { cancelAtPeriodEnd: true });
    expect(types(scheduled)).toEqual(['customer.subscription.updated']);
    expect(scheduled.object).toMatchObject({
      status: 'active',
      cancelAt: object.items[0]?.currentPeriodEnd,
      canceledAt: Math.floor(START / 1000),
    });
    expect(() => renewSubscription(world, object.id)).toThrow(/ends with its period/);
    now += 60_000;
    const ended = cancelSubscription(world, object.id);
    expect(types(ended)).toEqual(['customer.subscription.deleted']);
    expect(ended.object).toMatchObject({ status: 'canceled', endedAt: Math.floor(now / 1000) });
    expect(() => updateSubscription(world, object.id, { status: 'active' })).toThrow(/is canceled/);
  });

  test('items are kept, added and removed', () => {
    const { object } = createSubscription(world, {
      customer,
      items: [{ unitAmount: 1 }, { unitAmount: 2 }],
    });
    const [kept] = object.items;
    const { items } = updateSubscription(world, object.id, {
      items: [
        { id: kept?.id ?? '', quantity: 3 },
        { unitAmount: 5, metadata: { service_number: 'S1' } },
      ],
    }).object;
    expect(items).toMatchObject([
      { id: kept?.id, unitAmount: 1, quantity: 3 },
      { unitAmount: 5, quantity: 1, metadata: { service_number: 'S1' } },
    ]);
    expect(items[1]?.id).toMatch(/^si_/);
  });

  test('a checkout ends with the completed session', () => {
    const session = createCheckoutSession(world, {
      customer,
      items: [{ unitAmount: 990 }],
      clientReferenceId: '42',
    });
    const done = completeCheckout(world, session.id);
    expect(types(done)).toEqual([
      'customer.subscription.created',
      'invoice.created',
      'customer.subscription.updated',
      'payment_intent.created',
      'invoice.updated',
      'invoice.finalized',
      'payment_intent.succeeded',
      'invoice_payment.paid',
      'invoice.updated',
      'invoice.paid',
      'invoice.payment_succeeded',
      'customer.subscription.updated',
      'checkout.session.completed',
    ]);
    expect(world.subscriptions.get(done.object.subscription ?? '')?.status).toBe('active');
    expect([...world.checkoutSessions.where('subscription', done.object.subscription)]).toEqual([
      done.object,
    ]);
    expect(() => completeCheckout(world, session.id)).toThrow(/is complete/);
  });

  test('a checkout by bank debit is completed unpaid, one without a customer makes one, a free one is active', () => {
    const debit = createCheckoutSession(world, {
      customerEmail: 'eve@example.com',
      items: [{ unitAmount: 1 }],
    });
    const { object } = completeCheckout(world, debit.id, { payment: 'unpaid' });
    expect(object).toMatchObject({ status: 'complete', paymentStatus: 'unpaid' });
    expect(world.customers.get(object.customer ?? '')?.email).toBe('eve@example.com');
    expect(world.subscriptions.get(object.subscription ?? '')?.status).toBe('incomplete');
    const free = createCheckoutSession(world, { customer, items: [{ unitAmount: 0 }] });
    const { subscription } = completeCheckout(world, free.id).object;
    expect(world.subscriptions.get(subscription ?? '')?.status).toBe('active');
  });

  test('a deleted customer takes its subscriptions along', () => {
    createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
    expect(types(updateCustomer(world, customer, { metadata: { customer_number: 'K1' } }))).toEqual([
      'customer.updated',
    ]);
    expect(types(deleteCustomer(world, customer))).toEqual([
      'customer.subscription.deleted',
      'customer.deleted',
    ]);
    expect(() => createInvoice(world, { customer, lines: [] })).toThrow(/No such customer/);
  });
});
