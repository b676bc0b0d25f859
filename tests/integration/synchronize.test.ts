import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  customerServices,
  customers,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import * as act from '@/lib/stripe-local/actions';
import { linkItem } from '@/lib/sync/staff/link-item';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { openTestStripe, subscribe, type TestStripe } from '../support/stripe-world';
import { watchedDatabase } from '../support/watched-database';

const GRACE = { type: 'staff' as const, id: 'grace', name: 'Grace' };
const USUAL_TYPES = [
  'invoice.finalized',
  'invoice.paid',
  'invoice.payment_succeeded',
  'customer.subscription.created',
];
const base = useDatabase();
let runtime: TestRuntime;
let stripe: TestStripe;

beforeAll(() => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
});

/** The database seen by one delivery: counts, and does something of others' just before its second statement. */
function watched(meanwhile: () => Promise<unknown> = async () => {}) {
  const counts = { statements: 0, transactions: 0 };
  const db = watchedDatabase(base.db, {
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

function once(work: () => Promise<unknown>): () => Promise<unknown> {
  let done: Promise<unknown> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

/** A subscription with one item of a service, and events of it that nobody has delivered yet. */
async function makeScene() {
  const ours = await createCustomer(base.db);
  const [service, other] = [
    await createService(base.db, { customer_id: ours.id }),
    await createService(base.db, { customer_id: ours.id }),
  ];
  const metadata = { service_number: service.service_number };
  const { stripeCustomerId, subscription } = await subscribe(stripe, runtime, ours, [{ metadata }]);
  const end = Math.floor(runtime.now().getTime() / 1000) + 40 * 86_400;
  const update = (days: number) => {
    runtime.setNow(new Date(runtime.now().getTime() + 60_000));
    const currentPeriodEnd = end + days * 86_400;
    const [event] = act.updateSubscription(stripe.world, subscription.id, { currentPeriodEnd }).events;
    if (!event) throw new Error('an update is told');
    return { event, date: new Date(currentPeriodEnd * 1000).toISOString().slice(0, 10) };
  };
  const row = async () => {
    const [found] = await base.db
      .select()
      .from(subscriptions)
      .where(eq(subscriptions.stripe_subscription_id, subscription.id));
    if (!found) throw new Error('no row');
    return found;
  };
  const item = async () => {
    const [found] = await base.db
      .select()
      .from(subscriptionItems)
      .where(eq(subscriptionItems.subscription_id, (await row()).id))
      .orderBy(subscriptionItems.id);
    if (!found) throw new Error('no item');
    return found;
  };
  const dateOf = async ({ id }: { id: number }) => {
    const [found] = await base.db.select().from(customerServices).where(eq(customerServices.id, id));
    return found?.next_billing_date;
  };
  const outcomeOf = async ({ id }: { id: string }) => {
    const [found] = await base.db.select().from(stripeEvents).where(eq(stripeEvents.id, id));
    return found?.outcome;
  };
  return { ours, service, other, stripeCustomerId, subscription, update, row, item, dateOf, outcomeOf };
}

test('the usual event takes two statements and no transaction, and a second delivery one', async () => {
  const scene = await makeScene();
  const { event, date } = scene.update(1);
  const { db, counts } = watched();
  expect(await stripe.take(event, db)).toBe('processed');
  expect(counts).toEqual({ statements: 2, transactions: 0 });
  expect(await scene.row()).toMatchObject({ next_billing_date: date });
  expect(await scene.dateOf(scene.service)).toBe(date);
  expect(await scene.outcomeOf(event)).toBe('processed');

  const again = watched();
  expect(await stripe.take(event, again.db)).toBe('duplicate');
  expect(again.counts).toEqual({ statements: 1, transactions: 0 });
});

test('events of a customer that nobody knows take two statements each, as any others', async () => {
  const { object: customer } = act.createCustomer(stripe.world, { email: 'new@example.com' });
  const { object: invoice } = act.createInvoice(stripe.world, {
    customer: customer.id,
    lines: [{ amount: 1900 }],
  });
  const { events: finalized } = act.finalizeInvoice(stripe.world, invoice.id, { number: 'NEW-1' });
  runtime.setNow(new Date(runtime.now().getTime() + 60_000));
  const { events: paid } = act.payInvoice(stripe.world, invoice.id);
  const { events: subscribed } = act.createSubscription(stripe.world, {
    customer: customer.id,
    items: [{ unitAmount: 1900, interval: 'month' }],
  });
  const told = [...finalized, ...paid, ...subscribed];
  const taken: [string, number][] = [];
  for (const type of USUAL_TYPES) {
    const event = told.find((one) => one.type === type);
    if (!event) throw new Error(`no ${type}`);
    const { db, counts } = watched();
    expect(await stripe.take(event, db)).toBe('processed');
    expect(counts.transactions).toBe(0);
    taken.push([type, counts.statements]);
  }
  expect(taken).toEqual(USUAL_TYPES.map((type) => [type, 2]));
});

test('an event that is too old takes no more', async () => {
  const scene = await makeScene();
  const [older, newer] = [scene.update(1), scene.update(2)];
  await stripe.take(newer.event);
  const { db, counts } = watched();
  expect(await stripe.take(older.event, db)).toBe('stale');
  expect(counts).toEqual({ statements: 2, transactions: 0 });
  expect(await scene.row()).toMatchObject({ next_billing_date: newer.date });
  expect(await scene.outcomeOf(older.event)).toBe('stale');
});

describe('what others did in between is seen', () => {
  test('a later event of the subscription', async () => {
    const scene = await makeScene();
    const [older, newer] = [scene.update(1), scene.update(2)];
    const { db, counts } = watched(() => stripe.take(newer.event));
    expect(await stripe.take(older.event, db)).toBe('stale');
    expect(counts.transactions).toBe(1); // all of it again, under the lock
    expect(await scene.row()).toMatchObject({ next_billing_date: newer.date });
    expect(await scene.dateOf(scene.service)).toBe(newer.date);
  });

  test('another delivery of the event', async () => {
    const scene = await makeScene();
    const { event, date } = scene.update(1);
    const { db } = watched(() => stripe.take(event));
    expect(await stripe.take(event, db)).toBe('duplicate');
    expect(await scene.row()).toMatchObject({ next_billing_date: date });
  });

  test('another service that staff gave to the item', async () => {
    const scene = await makeScene();
    const { event, date } = scene.update(1);
    const { id } = await scene.item();
    const { db, counts } = watched(() => linkItem(syncDeps(runtime), GRACE, id, scene.other.service_number));
    expect(await stripe.take(event, db)).toBe('processed');
    expect(counts.transactions).toBe(1); // all of it again, under the lock
    expect(await scene.item()).toMatchObject({ customer_service_id: scene.other.id, linked_by_staff: true });
    expect(await scene.dateOf(scene.other)).toBe(date);
    expect(await scene.dateOf(scene.service)).toBeNull(); // nothing bills it any more
  });

  test('an item more of the subscription', async () => {
    const scene = await makeScene();
    const { event, date } = scene.update(1);
    const { id } = await scene.row();
    const later = new Date(Date.parse(date) + 400 * 86_400_000);
    const { db, counts } = watched(async () => {
      await createSubscriptionItem(base.db, {
        subscription_id: id,
        customer_service_id: scene.service.id,
        stripe_subscription_item_id: null,
        current_period_end: later,
      });
      await base.db.update(subscriptions).set({ pause_behavior: null }).where(eq(subscriptions.id, id));
    });
    expect(await stripe.take(event, db)).toBe('processed');
    expect(counts.transactions).toBe(1); // all of it again, under the lock
    expect(await scene.dateOf(scene.service)).toBe(later.toISOString().slice(0, 10));
  });

  test('another subscription that came to the service', async () => {
    const scene = await makeScene();
    const { event, date } = scene.update(1);
    const later = new Date(Date.parse(date) + 400 * 86_400_000);
    const second = await createSubscription(base.db, { customer_id: scene.ours.id, status: 'active' });
    const item = await createSubscriptionItem(base.db, {
      subscription_id: second.id,
      customer_service_id: null,
      current_period_end: later,
    });
    const { db, counts } = watched(() =>
      linkItem(syncDeps(runtime), GRACE, item.id, scene.service.service_number),
    );
    expect(await stripe.take(event, db)).toBe('processed');
    expect(counts.transactions).toBe(1); // all of it again, under the lock
    expect(await scene.dateOf(scene.service)).toBe(later.toISOString().slice(0, 10));
  });

  test('another customer of ours that the Stripe customer is linked to', async () => {
    const scene = await makeScene();
    const { event, date } = scene.update(1);
    const target = await createCustomer(base.db);
    const { db, counts } = watched(() =>
      linkStripeCustomer(syncDeps(runtime), GRACE, scene.stripeCustomerId, {
        from: scene.ours.id,
        to: target.id,
      }),
    );
    expect(await stripe.take(event, db)).toBe('processed');
    expect(counts.transactions).toBe(1); // all of it again, under the lock
    expect(await scene.row()).toMatchObject({ customer_id: target.id, next_billing_date: date });
    const [link] = await base.db
      .select()
      .from(stripeCustomers)
      .where(eq(stripeCustomers.stripe_customer_id, scene.stripeCustomerId));
    expect(link).toMatchObject({ customer_id: target.id, linked_by: 'staff' });
  });

  test('another one who came to the customer that was created, by its e-mail', async () => {
    runtime.env.linkByEmail = true;
    const { world } = stripe;
    const ours = await createCustomer(base.db);
    const email = 'shared@example.com';
    const reported = (type: string, { events }: { events: Parameters<TestStripe['take']>[0][] }) => {
      const event = events.find((one) => one.type === type);
      if (!event) throw new Error(`no ${type}`);
      return event;
    };
    const invoiceOf = (customer: string) => {
      const { object } = act.createInvoice(world, { customer, lines: [{ amount: 1900 }] });
      return reported('invoice.finalized', act.finalizeInvoice(world, object.id));
    };
    const namingOurs = (customer: string) => {
      const metadata = { customer_number: ours.customer_number };
      const made = act.createSubscription(world, { customer, items: [{ unitAmount: 500 }], metadata });
      return reported('customer.subscription.created', made);
    };
    const [first, second] = ['first', 'second'].map(() => act.createCustomer(world, { email }).object.id);
    if (!first || !second) throw new Error('both were made');
    await stripe.take(invoiceOf(first));
    const come = once(() => stripe.take(invoiceOf(second)));
    const db = watchedDatabase(base.db, {
      async statement(text, run) {
        if (text.includes('commit_plan')) await come();
        return run();
      },
    });
    await stripe.take(namingOurs(first), db);
    await stripe.take(namingOurs(second));
    expect(await base.db.select().from(customers).where(eq(customers.email, email))).toEqual([]);
    runtime.env.linkByEmail = false;
  });
});

test('a hundred deliveries at once of one customer leave the last state, whatever their order', async () => {
  const scene = await makeScene();
  const updates = Array.from({ length: 50 }, (_, i) => scene.update(i + 1));
  const mixed = [...updates, ...updates].sort((a, b) => a.event.id.localeCompare(b.event.id));
  const outcomes = await Promise.all(
    // Every other one as by another process.
    mixed.map(({ event }, i) => stripe.take(event, i % 2 === 0 ? base.db : watched().db)),
  );
  expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(50);
  const last = updates.at(-1);
  expect(await scene.row()).toMatchObject({ next_billing_date: last?.date });
  expect(await scene.dateOf(scene.service)).toBe(last?.date);
});
