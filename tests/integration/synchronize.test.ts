import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { customers } from '@/db/schema';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { linkItem } from '@/lib/sync/staff/link-subscription';
import {
  createCustomer,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import * as act from '../support/stripe-actions';
import { DAY, GRACE, typed, useSync } from '../support/sync';
import { watchedDatabase } from '../support/watched-database';

const USUAL_TYPES = [
  'invoice.finalized',
  'invoice.paid',
  'invoice.payment_succeeded',
  'customer.subscription.created',
];
const sync = useSync();

/** Wraps the database for one delivery. Counts its statements, and runs `meanwhile` before the second one. */
function watched(meanwhile: () => Promise<unknown> = async () => {}) {
  const counts = { statements: 0, transactions: 0 };
  const db = watchedDatabase(sync.db, {
    async statement(_, run) {
      counts.statements += 1;
      if (counts.statements === 2) await meanwhile();
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
    ours,
    service,
    other,
    stripeCustomerId,
    update,
    /** A time long after the period end of every update. */
    muchLater: new Date((end + 400 * DAY) * 1000),
    row: async () => (await sync.subscriptionOf(subscription.id)) ?? { id: 0 },
    item: async () => (await sync.itemOf(subscription.items[0]?.id ?? '')) ?? { id: 0 },
    dateOf: async ({ id }: { id: number }) => (await sync.serviceOf(id))?.next_billing_date,
  };
}
type Scene = Awaited<ReturnType<typeof makeScene>>;

const outcomeOf = async ({ id }: { id: string }) => (await sync.eventOf(id))?.outcome;

test('processing a typical event takes two SQL statements without a transaction', async () => {
  const scene = await makeScene();
  const { event, date } = scene.update(1);
  const { db, counts } = watched();
  expect(await sync.take(event, { db })).toBe('processed');
  expect(counts).toEqual({ statements: 2, transactions: 0 });
  expect(await scene.row()).toMatchObject({ next_billing_date: date });
  expect(await scene.dateOf(scene.service)).toBe(date);
  expect(await outcomeOf(event)).toBe('processed');

  const again = watched();
  expect(await sync.take(event, { db: again.db })).toBe('duplicate');
  expect(again.counts).toEqual({ statements: 1, transactions: 0 });
});

test('processing an event of an unknown customer takes two SQL statements', async () => {
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
  for (const type of USUAL_TYPES) {
    const { db, counts } = watched();
    expect(await sync.take(typed(told, type), { db })).toBe('processed');
    expect([type, counts]).toEqual([type, { statements: 2, transactions: 0 }]);
  }
});

describe('a change between a delivery’s read and its commit', () => {
  test('an event is stale if a later event of its subscription is committed first', async () => {
    const scene = await makeScene();
    const [older, newer] = [scene.update(1), scene.update(2)];
    const { db, counts } = watched(() => sync.take(newer.event));
    expect(await sync.take(older.event, { db })).toBe('stale');
    expect(counts.transactions).toBe(1); // The delivery was decided again, under a lock.
    expect(await scene.row()).toMatchObject({ next_billing_date: newer.date });
    expect(await scene.dateOf(scene.service)).toBe(newer.date);
  });

  const dateOf = (day: Date) => day.toISOString().slice(0, 10);
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
      'a subscription linked to a service during a delivery sets the service’s billing date',
      async ({ ours, service, muchLater }) => {
        const second = await createSubscription(sync.db, { customer_id: ours.id, status: 'active' });
        const item = await createSubscriptionItem(sync.db, {
          subscription_id: second.id,
          customer_service_id: null,
          current_period_end: muchLater,
        });
        await linkItem(sync.deps(), GRACE, item.id, service.service_number);
      },
      async (scene) => expect(await scene.dateOf(scene.service)).toBe(dateOf(scene.muchLater)),
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
        const link = await sync.linkOf(stripeCustomerId);
        expect(link).toMatchObject({ customer_id: target?.id, linked_by: 'staff' });
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
});
