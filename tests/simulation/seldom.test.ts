import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { customers, subscriptionItems, subscriptions } from '@/db/schema';
import * as act from '@/lib/stripe-local/actions';
import type { Invoice, Metadata, Subscription, WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { emit } from '@/lib/stripe-local/world';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { linkItem } from '@/lib/sync/staff/link-item';
import { createCustomer, createService, createSold } from '../support/factories';
import { orders } from '../support/orders';
import { GRACE, typed, useSync } from '../support/sync';
import { Model } from './pure/model';
import { openPureStage } from './pure/pure-stage';

// Rare events of Stripe, in the smallest histories that went wrong.
const sync = useSync();
beforeEach(() => sync.later(10));

const customerOf = async (id: number) =>
  (await sync.db.select().from(customers).where(eq(customers.id, id)))[0] ?? { customer_number: '' };
const dateOf = async ({ id }: { id: number }) => (await sync.serviceOf(id))?.next_billing_date;

/** Takes events over the model of the database, which is much faster. */
async function openModel() {
  let model: Model | undefined;
  const stage = openPureStage((scene) => {
    model = new Model(scene.seed, scene.now);
    return model;
  });
  const { world, now } = sync;
  await stage.begin({ world, seed: 1, hasKey: false, timeZone: 'UTC', linkByEmail: false, now });
  return {
    async take(event: WorldEvent | undefined) {
      if (!event) throw new Error('this event did not happen');
      const rendered = renderEvent(event, '2026-10-28.endive');
      const delivery = { rendered, body: JSON.stringify(rendered), crash: undefined, isOwnProcess: false };
      expect(await stage.receive(delivery, [])).toMatchObject({ status: 200 });
    },
    subscription(id: string) {
      const { subscriptions = new Map(), items = new Map() } = model?.tables.rows ?? {};
      const row = [...subscriptions.values()].find((one) => one.stripe_subscription_id === id);
      return { row, items: [...items.values()].filter((one) => one.subscription_id === row?.id) };
    },
    invoice: (id: string) =>
      [...(model?.tables.rows.invoices.values() ?? [])].find((one) => one.stripe_invoice_id === id),
  };
}

describe('states of one second', () => {
  type Patch = Parameters<typeof act.updateSubscription>[2];
  const subscribe = () => {
    const customer = act.createCustomer(sync.world).object.id;
    const { object, events } = act.createSubscription(sync.world, { customer, items: [{ unitAmount: 500 }] });
    return { ...object, event: typed(events, 'customer.subscription.created') };
  };

  test.each([
    {
      what: 'and has a new item',
      patches: (items: Subscription['items']): Patch[] => [
        { cancelAtPeriodEnd: true },
        { status: 'past_due' },
        { status: 'active' },
        { items: [...items, { unitAmount: 700 }] },
      ],
      row: { status: 'active', cancel_at_period_end: true },
      count: 2,
    },
    {
      // The missing event may show the state taken while it was missing.
      what: 'twice, and is renewed',
      patches: (): Patch[] => [
        { currentPeriodEnd: Date.parse('2030-01-10T12:00:00Z') / 1000 },
        { status: 'past_due' },
        { status: 'active' },
        { status: 'past_due' },
        { currentPeriodEnd: Date.parse('2030-02-10T12:00:00Z') / 1000 },
      ],
      row: { status: 'past_due', next_billing_date: '2030-02-10' },
      count: 1,
    },
  ])(
    'a subscription that changed back within a second $what ends in its last state, in every order',
    async ({ patches, row, count }) => {
      const model = await openModel();
      for (const order of orders(Array.from(patches([]), (_, i) => i))) {
        sync.later(10);
        const { id, items, event } = subscribe();
        await model.take(event);
        sync.later(5);
        const events = patches(items).flatMap(
          (patch) => act.updateSubscription(sync.world, id, patch).events,
        );
        for (const at of order) await model.take(events[at]);
        const found = model.subscription(id);
        expect(found.row, String(order)).toMatchObject(row);
        expect(found.items, String(order)).toHaveLength(count);
      }
    },
  );

  test('a state that only an event of an unhandled type shows is not taken, in every order', async () => {
    const model = await openModel();
    for (const order of orders([0, 1, 2])) {
      sync.later(10);
      const customer = act.createCustomer(sync.world).object.id;
      const { id } = act.createInvoice(sync.world, { customer, lines: [{ amount: 9000 }] }).object;
      const events = [
        typed(act.finalizeInvoice(sync.world, id).events, 'invoice.finalized'),
        typed(act.failInvoicePayment(sync.world, id).events, 'invoice.payment_failed'),
        typed(act.markUncollectible(sync.world, id).events, 'invoice.marked_uncollectible'),
      ];
      for (const at of order) await model.take(events[at]);
      const row = { status: 'overdue', uncollectible: false };
      expect(model.invoice(id), String(order)).toMatchObject(row);
    }
  });

  test.each([[[0, 1]], [[1, 0]]])(
    'events ignored for their mode and replayed in the order %s tell the last state of their second',
    async (order) => {
      const { id, event } = subscribe();
      await sync.take(event);
      sync.later(5);
      const patches = [{ cancelAtPeriodEnd: true }, { cancelAtPeriodEnd: false, metadata: { a: 'b' } }];
      const live = { ...sync.deps(), mode: 'live' as const };
      const ids: string[] = [];
      sync.runtime.env.stripe.mode = 'live';
      for (const patch of patches) {
        const [reported] = act.updateSubscription(sync.world, id, patch).events;
        ids.push(reported?.id ?? '');
        expect(await sync.take(reported)).toBe('ignored');
      }
      sync.runtime.env.stripe.mode = null;
      expect(await replayEvent(live, ids[0] ?? '')).toBe('ignored');
      for (const at of order) expect(await replayEvent(sync.deps(), ids[at] ?? '')).toBe('processed');
      expect((await sync.subscriptionOf(id))?.cancel_at_period_end).toBe(false);
    },
  );

  test('an invoice whose payment failed is overdue, even with an unknown status', async () => {
    const customer = act.createCustomer(sync.world).object.id;
    const { id } = act.createInvoice(sync.world, { customer, lines: [{ amount: 9000 }] }).object;
    const { object, events } = act.finalizeInvoice(sync.world, id);
    await sync.take(typed(events, 'invoice.finalized'));
    sync.later(5);
    const status = 'disputed' as Invoice['status'];
    await sync.take(emit(sync.world, 'invoice.payment_failed', { ...object, status }));
    expect((await sync.invoiceOf(id))?.status).toBe('overdue');
  });
});

describe('an item that moves to another subscription', () => {
  /** A subscription of a customer to so many items. */
  function subscribe(customer: string, count: number, metadata: Metadata = {}) {
    const items = Array.from({ length: count }, () => ({ unitAmount: 500 }));
    const { object, events } = act.createSubscription(sync.world, { customer, items, metadata });
    return { ...object, event: typed(events, 'customer.subscription.created') };
  }

  /** Two subscriptions of a customer with two services. */
  async function subscribed() {
    const service = await createService(sync.db);
    const other = await createService(sync.db, { customer_id: service.customer_id });
    const { customer_number } = await customerOf(service.customer_id);
    const customer = act.createCustomer(sync.world).object.id;
    const from = subscribe(customer, 2, { customer_number });
    const to = subscribe(customer, 1, { customer_number });
    sync.later(5);
    return { service, other, from, to, created: [from.event, to.event] };
  }

  /** Changes the items of a subscription. */
  const setItems = ({ id }: Subscription, items: Patched['items']) => {
    const { object, events } = act.updateSubscription(sync.world, id, { ...(items && { items }) });
    return { object, event: typed(events, 'customer.subscription.updated') };
  };
  type Patched = Parameters<typeof act.updateSubscription>[2];

  /** Moves the first item. @returns the events that it left and that it arrived */
  function move(from: Subscription, to: Subscription, metadata: Metadata = {}) {
    const [moved, ...rest] = from.items;
    const leaves = setItems(from, rest).event;
    return [leaves, setItems(to, [...to.items, { ...moved, metadata }]).event] as const;
  }

  async function storedItem(id = '') {
    const [row] = await sync.db
      .select({ item: subscriptionItems, of: subscriptions.stripe_subscription_id })
      .from(subscriptionItems)
      .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
      .where(eq(subscriptionItems.stripe_subscription_item_id, id));
    return row;
  }

  test('a moved item is where it was last, in every order of the events', async () => {
    for (const order of orders([0, 1, 2, 3])) {
      const { from, to, created } = await subscribed();
      const events = [...created, ...move(from, to)];
      for (const at of order) await sync.take(events[at]);
      expect((await storedItem(from.items[0]?.id))?.of, String(order)).toBe(to.id);
    }
  });

  test('a moved item keeps the service that staff linked', async () => {
    const { from, to, created, service, other } = await subscribed();
    for (const event of created) await sync.take(event);
    const moved = from.items[0]?.id;
    const id = (await storedItem(moved))?.item.id ?? 0;
    await linkItem(sync.deps(), GRACE, id, service.service_number);
    const [leaves, arrives] = move(from, to, { service_number: other.service_number });
    for (const event of [arrives, leaves]) await sync.take(event);
    const item = { customer_service_id: service.id, linked_by_staff: true };
    expect(await storedItem(moved)).toMatchObject({ of: to.id, item });
  });

  test('a service is billed no more by a moved item that pays for another service now', async () => {
    const { from, to, created, service, other } = await subscribed();
    for (const event of created) await sync.take(event);
    const metadata = { service_number: service.service_number };
    const [first, ...rest] = from.items;
    const named = setItems(from, [{ ...first, metadata }, ...rest]);
    await sync.take(named.event);
    expect(await dateOf(service)).toBe('2026-04-15');
    sync.later(5);
    const [leaves, arrives] = move(named.object, to, { service_number: other.service_number });
    for (const event of [arrives, leaves]) await sync.take(event);
    expect([await dateOf(service), await dateOf(other)]).toEqual([null, '2026-04-15']);
  });

  const withKey = { withKey: true };
  test('an item that moved within a second stays where Stripe has it, if that it left is told last', async () => {
    const customer = act.createCustomer(sync.world).object.id;
    const [to, from] = [subscribe(customer, 1), subscribe(customer, 2)];
    const [leaves, arrives] = move(from, to);
    for (const event of [to.event, arrives, from.event, leaves]) await sync.take(event, withKey);
    expect((await storedItem(from.items[0]?.id))?.of).toBe(to.id);
  });

  test('items that moved within a second among more than ten stay where Stripe has them', async () => {
    const customer = act.createCustomer(sync.world).object.id;
    const [to, from] = [subscribe(customer, 11), subscribe(customer, 3)];
    for (const { event } of [to, from]) await sync.take(event, withKey);
    sync.later(5);
    const [first, second, third] = from.items;
    const leaves = [setItems(from, [{ ...second }, { ...third }]).event];
    const gets = [setItems(to, [...to.items, { ...first }]).event];
    leaves.push(setItems(from, [{ ...third }]).event);
    gets.push(setItems(to, [...to.items, { ...first }, { ...second }]).event);
    for (const event of [...gets, ...leaves]) await sync.take(event, withKey);
    for (const item of [first, second]) expect((await storedItem(item?.id))?.of).toBe(to.id);
  });

  test('an item that a later event of more than ten does not show may have moved', async () => {
    const customer = act.createCustomer(sync.world).object.id;
    const [from, to] = [subscribe(customer, 12), subscribe(customer, 1)];
    for (const { event } of [to, from]) await sync.take(event, withKey);
    sync.later(5);
    const moved = from.items.at(-1);
    setItems(from, from.items.slice(0, -1));
    const arrives = setItems(to, [...to.items, { ...moved }]).event;
    sync.later(5);
    const { events } = act.updateSubscription(sync.world, from.id, { metadata: { plan: 'other' } });
    for (const event of [...events, arrives]) await sync.take(event, { withKey: false });
    expect((await storedItem(moved?.id))?.of).toBe(to.id);
  });
});

describe('a row that moves with its customer', () => {
  test('an invoice that names the customer of a sold subscription is handed over with it', async () => {
    const { sold } = await createSold(sync.db);
    const { customer_number } = await customerOf(sold.customer_id);
    const session = act.createCheckoutSession(sync.world, {
      customer: act.createCustomer(sync.world).object.id,
      items: [{ unitAmount: 990 }],
      clientReferenceId: String(sold.id),
    });
    const { object, events } = act.completeCheckout(sync.world, session.id);
    for (const event of events) await sync.take(event);
    sync.later(10);
    const { id } = act.renewSubscription(sync.world, object.subscription ?? '').object.invoice;
    for (const event of act.finalizeInvoice(sync.world, id).events) await sync.take(event);
    sync.later(10);
    const finalized = sync.world.invoices.get(id);
    if (!finalized) throw new Error('the subscription was renewed');
    sync.world.invoices.put({ ...finalized, metadata: { customer_number } });
    for (const event of act.payInvoice(sync.world, id).events) await sync.take(event);
    const row = { subscription_id: sold.id, customer_id: sold.customer_id, status: 'paid' };
    expect(await sync.invoiceOf(id)).toMatchObject(row);
  });

  test.each([
    ['unchanged', {}],
    ['corrected', { amount_paid: 500 }],
  ])('a stored payment, %s, moves along with its invoice', async (name, first) => {
    const own = await createCustomer(sync.db);
    const take = (created: number, more: object) => {
      const [id, customer] = [`in_${name}`, `cus_${name}`];
      const paid = { status: 'paid', currency: 'eur', total: 1000, amount_due: 1000, amount_paid: 1000 };
      const object = { object: 'invoice', id, customer, ...paid, ...more };
      const event = { id: `evt_${name}_${created}`, object: 'event', type: 'invoice.payment_succeeded' };
      return sync.takeBody(JSON.stringify({ ...event, created, data: { object } }));
    };
    expect(await take(1_773_000_000, first)).toBe('processed');
    const metadata = { customer_number: own.customer_number };
    expect(await take(1_773_000_005, { metadata })).toBe('processed');
    const row = { customer_id: own.id, amount: '10.000' };
    expect(await sync.paymentOf(`in_${name}`)).toMatchObject(row);
  });
});
