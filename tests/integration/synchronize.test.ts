import { eq } from 'drizzle-orm';
import Stripe from 'stripe';
import { expect, inject, test } from 'vitest';
import { lockKey } from '@/db/database';
import { customers, staffTasks } from '@/db/schema';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { linkItem } from '@/lib/sync/staff/link-subscription';
import { readRows } from '../support/database';
import { createCustomer, createPayment, createService } from '../support/factories';
import * as act from '../support/stripe-actions';
import { renderEvent } from '../support/stripe-versions';
import { DAY, GRACE, typed, useSync } from '../support/sync';
import { watchedDatabase } from '../support/watched-database';

const sync = useSync();

/** Wraps the database. Counts statements and transactions, and runs `meanwhile` before the first commit. */
function watched(meanwhile: () => Promise<unknown> = async () => {}) {
  const counts = { statements: 0, transactions: 0 };
  let commits = 0;
  const db = watchedDatabase(sync.db, {
    async statement(text, run) {
      counts.statements += 1;
      if (text.includes('commit_plan') && ++commits === 1) await meanwhile();
      return run();
    },
    transaction: () => {
      counts.transactions += 1;
    },
  });
  return { db, counts };
}

/** Creates a subscription with one item for a service. `update` returns an undelivered event. */
async function makeScene() {
  const ours = await createCustomer(sync.db);
  const service = await createService(sync.db, { customer_id: ours.id });
  const other = await createService(sync.db, { customer_id: ours.id });
  const metadata = { service_number: service.service_number };
  const { stripeCustomerId, subscription } = await sync.subscribe(ours, [{ metadata }]);
  const end = Math.floor(sync.now().getTime() / 1000) + 40 * DAY;
  const update = (days: number) => {
    sync.later(60);
    const currentPeriodEnd = end + days * DAY;
    const { events } = act.updateSubscription(sync.world, subscription.id, { currentPeriodEnd });
    const date = new Date(currentPeriodEnd * 1000).toISOString().slice(0, 10);
    return { event: typed(events, 'customer.subscription.updated'), date };
  };
  return {
    ...{ ours, service, other, stripeCustomerId, update },
    row: async () => (await sync.subscriptionOf(subscription.id)) ?? { id: 0 },
    item: async () => (await sync.itemOf(subscription.items[0]?.id ?? '')) ?? { id: 0 },
    dateOf: async ({ id }: { id: number }) => (await sync.serviceOf(id))?.next_billing_date,
  };
}
type Scene = Awaited<ReturnType<typeof makeScene>>;

test('processing a typical event takes two SQL statements without a transaction, and its duplicate takes one', async () => {
  const scene = await makeScene();
  const { event, date } = scene.update(1);
  const { db, counts } = watched();
  expect(await sync.take(event, { db })).toBe('processed');
  expect(counts).toEqual({ statements: 2, transactions: 0 });
  expect(await scene.row()).toMatchObject({ next_billing_date: date });
  expect(await scene.dateOf(scene.service)).toBe(date);
  expect(await sync.eventOf(event.id)).toMatchObject({ outcome: 'processed' });

  const again = watched();
  expect(await sync.take(event, { db: again.db })).toBe('duplicate');
  expect(again.counts).toEqual({ statements: 1, transactions: 0 });
});

test('processing the first events of an unknown customer takes two SQL statements each', async () => {
  const { object: customer } = act.createCustomer(sync.world, { email: 'new@example.com' });
  const { object: invoice } = act.createInvoice(sync.world, {
    customer: customer.id,
    lines: [{ amount: 1900 }],
  });
  const { events: finalized } = act.finalizeInvoice(sync.world, invoice.id, { number: 'NEW-1' });
  sync.later(60);
  const { events: paid } = act.payInvoice(sync.world, invoice.id);
  const { events: subscribed } = act.createSubscription(sync.world, {
    customer: customer.id,
    items: [{ unitAmount: 1900, interval: 'month' }],
  });
  const told = [...finalized, ...paid, ...subscribed];
  const invoiced = ['invoice.finalized', 'invoice.paid', 'invoice.payment_succeeded'];
  for (const type of [...invoiced, 'customer.subscription.created']) {
    const { db, counts } = watched();
    expect(await sync.take(typed(told, type), { db })).toBe('processed');
    expect([type, counts]).toEqual([type, { statements: 2, transactions: 0 }]);
  }
});

test('an event is stale if a later event of its subscription is committed first', async () => {
  const scene = await makeScene();
  const [older, newer] = [scene.update(1), scene.update(2)];
  const { db, counts } = watched(() => sync.take(newer.event));
  expect(await sync.take(older.event, { db })).toBe('stale');
  expect(counts.transactions).toBe(1); // The delivery was decided again, under a lock.
  expect(await scene.row()).toMatchObject({ next_billing_date: newer.date });
  expect(await scene.dateOf(scene.service)).toBe(newer.date);
});

test.each<[string, (scene: Scene) => Promise<unknown>, (scene: Scene, date: string) => Promise<void>]>([
  [
    'an item linked to another service during a delivery sets that service’s billing date',
    async ({ item, other }) => linkItem(sync.deps(), GRACE, (await item()).id, other.service_number),
    async ({ item, other, service, dateOf }, date) => {
      expect(await item()).toMatchObject({ customer_service_id: other.id, linked_by_staff: true });
      expect(await dateOf(other)).toBe(date);
      expect(await dateOf(service)).toBeNull(); // No item bills this service any more.
    },
  ],
  [
    'a subscription moves with a Stripe customer that staff link during a delivery',
    async ({ ours, stripeCustomerId }) => {
      const { id: to } = await createCustomer(sync.db, { company: 'Target' });
      await linkStripeCustomer(sync.deps(), GRACE, stripeCustomerId, { from: ours.id, to });
    },
    async ({ row, stripeCustomerId }, date) => {
      const [target] = await sync.db.select().from(customers).where(eq(customers.company, 'Target'));
      expect(await row()).toMatchObject({ customer_id: target?.id, next_billing_date: date });
      const link = { customer_id: target?.id, linked_by: 'staff' };
      expect(await sync.linkOf(stripeCustomerId)).toMatchObject(link);
    },
  ],
])('%s', async (_, meanwhile, expectEnd) => {
  const scene = await makeScene();
  const { event, date } = scene.update(1);
  const { db, counts } = watched(() => meanwhile(scene));
  expect(await sync.take(event, { db })).toBe('processed');
  expect(counts.transactions).toBe(1); // The delivery was decided again, under a lock.
  await expectEnd(scene, date);
});

test('a payment recorded under an intent while sync adds that intent to its own payment becomes a task', async () => {
  const { invoice, payment } = await sync.collect();
  expect(payment.stripe_payment_intent_id).toBeNull();
  const paid = typed(
    sync.world.history.filter(({ about }) => about.id === invoice),
    'invoice.paid',
  );
  const intent = [...sync.world.paymentIntents.values()].find((one) => one.invoice === invoice)?.id ?? '';
  const record = () => createPayment(sync.db, { payment_reference: intent });
  const { db, counts } = watched(record);
  const body = { ...renderEvent(paid, '2020-08-27'), id: 'evt_old_version' };
  await sync.takeBody(JSON.stringify(body), { db });
  expect(counts.transactions).toBe(1);
  expect((await sync.paymentOf(invoice))?.stripe_payment_intent_id).toBe(intent);
  const tasks = await readRows(sync.db, staffTasks, eq(staffTasks.subject, `${invoice} ${intent}`));
  expect(tasks).toMatchObject([{ kind: 'payment_differs', done_by: null }]);
});

test('a customer created by sync is deleted once its Stripe customers are linked elsewhere', async () => {
  sync.runtime.env.linkByEmail = true;
  const { world } = sync;
  const ours = await createCustomer(sync.db);
  const email = 'shared@example.com';
  const invoice = (customer: string) => {
    const { object } = act.createInvoice(world, { customer, lines: [{ amount: 1900 }] });
    return typed(act.finalizeInvoice(world, object.id).events, 'invoice.finalized');
  };
  const namingOurs = (customer: string) => {
    const metadata = { customer_number: ours.customer_number };
    const made = act.createSubscription(world, { customer, items: [{ unitAmount: 500 }], metadata });
    return typed(made.events, 'customer.subscription.created');
  };
  const first = act.createCustomer(world, { email }).object.id;
  const second = act.createCustomer(world, { email }).object.id;
  await sync.take(invoice(first));
  let joined: Promise<unknown> | undefined;
  const db = watchedDatabase(sync.db, {
    async statement(text, run) {
      if (!text.includes('commit_plan')) return run();
      joined ??= sync.take(invoice(second));
      await joined;
      return run();
    },
  });
  await sync.take(namingOurs(first), { db });
  await sync.take(namingOurs(second));
  expect(await sync.db.select().from(customers).where(eq(customers.email, email))).toEqual([]);
  sync.runtime.env.linkByEmail = false;
});

/** Creates a subscription and undelivered update events, whose period ends are a day apart. */
async function makeUpdates(count: number) {
  const { stripeCustomerId, subscription } = await sync.subscribe(await createCustomer(sync.db), [{}]);
  const updates = Array.from({ length: count }, (_, i) => {
    sync.later(60);
    const currentPeriodEnd = Date.UTC(2031, 0, 1) / 1000 + i * DAY;
    const { events } = act.updateSubscription(sync.world, subscription.id, { currentPeriodEnd });
    return typed(events, 'customer.subscription.updated');
  });
  const date = async () => (await sync.subscriptionOf(subscription.id))?.next_billing_date;
  return { updates, date, stripeCustomerId, id: subscription.id };
}

/** Creates customers with one undelivered update each. */
async function makeCustomers(count: number) {
  const made = [];
  for (let i = 0; i < count; i += 1) made.push(await makeUpdates(1));
  return made.flatMap(({ updates, ...more }) => updates.map((event) => ({ ...more, event })));
}

/** Delivers all events at the same time. `change` can change the body of an event. */
async function deliver(events: WorldEvent[], change = (body: string, _: WorldEvent) => body) {
  const { db, counts } = watched();
  const take = (event: WorldEvent) =>
    sync.takeBody(change(JSON.stringify(renderEvent(event, Stripe.API_VERSION)), event), { db });
  const settled = await Promise.allSettled(events.map(take));
  const outcomes = settled.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'));
  return { outcomes, statements: counts.statements };
}

/** Returns the stored outcome and changes of each event. */
async function inboxOf(events: WorldEvent[]) {
  const rows = await Promise.all(events.map(({ id }) => sync.eventOf(id)));
  return rows.map((row) => ({
    outcome: row?.outcome,
    moved: row?.changes.map(({ field, before, after }) => `${field} ${before} ${after}`),
  }));
}

test('eight concurrent updates of one subscription need four SQL statements, and store the same changes as one by one', async () => {
  const [atOnce, oneByOne] = [await makeUpdates(8), await makeUpdates(8)];
  const { outcomes, statements } = await deliver(atOnce.updates);
  for (const event of oneByOne.updates) await sync.take(event);
  expect(new Set(outcomes)).toEqual(new Set(['processed']));
  // Two statements are for the first delivery, and two for the batch of all other deliveries.
  expect(statements).toBe(4);
  expect(await atOnce.date()).toBe('2031-01-08');
  const [one, ...others] = await inboxOf(atOnce.updates);
  expect(one).toMatchObject({ outcome: 'processed', moved: [expect.any(String), expect.any(String)] });
  expect(others).toEqual((await inboxOf(oneByOne.updates)).slice(1));
});

test('an event with too large a quantity fails without affecting concurrent events', async () => {
  const { updates, date } = await makeUpdates(5);
  const { outcomes } = await deliver(updates, (body, event) =>
    event === updates[3] ? body.replace('"quantity":1', '"quantity":3000000000') : body,
  );
  expect(outcomes).toEqual(['processed', 'processed', 'processed', 'failed', 'processed']);
  expect(await date()).toBe('2031-01-05');
  expect((await inboxOf(updates)).map(({ outcome }) => outcome)).toEqual(outcomes);
});

test('an event that the database refuses can be delivered again, and does not fail concurrent events of other customers', async () => {
  const made = await makeCustomers(6);
  const [spoilt, ...others] = made;
  if (!spoilt) throw new Error('six were made');
  const db = watchedDatabase(sync.db, {
    async statement(text, run, values) {
      if (!text.includes('commit_plan') || !values.includes(spoilt.id)) return run();
      throw Object.assign(new Error('refused'), { code: '23514' });
    },
  });
  const done = await Promise.allSettled(made.map(({ event }) => sync.take(event, { db })));
  expect(done.map(({ status }) => status)).toEqual(['rejected', ...others.map(() => 'fulfilled')]);
  expect(await sync.eventOf(spoilt.event.id)).toMatchObject({ outcome: 'failed', error_code: '23514' });
  expect(await sync.take(spoilt.event)).toBe('processed');
});

test.runIf(inject('postgres'))(
  'a webhook delivery does not wait for the lock of another customer',
  async () => {
    const [locked, ...others] = await makeCustomers(12);
    if (!locked) throw new Error('twelve were made');
    let waiting: Promise<unknown> = Promise.resolve();
    await sync.db.transaction(async (tx) => {
      await lockKey(tx, locked.stripeCustomerId);
      waiting = sync.take(locked.event);
      const done = Promise.all(others.map(({ event }) => sync.take(event)));
      expect(new Set(await done)).toEqual(new Set(['processed']));
      expect(await sync.eventOf(locked.event.id)).toBeUndefined();
    });
    expect(await waiting).toBe('processed');
  },
);
