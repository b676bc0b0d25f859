import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { customers, invoices, reconciliationChanges, subscriptionItems, subscriptions } from '@/db/schema';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { mergeCustomers } from '@/lib/sync/staff/merge-customers';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer, createService } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { linkOf, openTestStripe, subscribe, type TestStripe } from '../support/stripe-world';

const KEY = 'sk_test_local';
const base = useDatabase();
const GRACE = { type: 'staff', id: 'u1', name: 'grace@example.com' } as const;
let runtime: TestRuntime;
let stripe: TestStripe;
let stripeLocal: StripeLocal;

beforeAll(async () => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
  stripeLocal = await startStripeLocal({ world: stripe.world, secretKey: KEY });
  runtime.stripe = createStripeClient(KEY, stripeLocal.url, 10_000);
});
afterAll(() => stripeLocal?.close());

const seenOf = async (id: number) => {
  const [row] = await base.db
    .select({ version: customers.version })
    .from(customers)
    .where(eq(customers.id, id));
  return { id, version: row?.version ?? 0 };
};
const merge = async (gone: number, kept: number) =>
  mergeCustomers(syncDeps(runtime), GRACE, { gone: await seenOf(gone), kept: await seenOf(kept), taken: [] });
const invoicesOf = (stripeCustomerId: string) =>
  base.db
    .select({ customer_id: invoices.customer_id, status: invoices.status })
    .from(invoices)
    .where(eq(invoices.stripe_customer_id, stripeCustomerId));
const bill = async (customer: string, metadata: Record<string, string> = {}) => {
  const { object } = await stripe.happen((world) =>
    act.createInvoice(world, { customer, lines: [{ amount: 990 }], metadata }),
  );
  await stripe.happen((world) => act.finalizeInvoice(world, object.id));
  return object.id;
};
const itemsOf = async (stripeId: string) => {
  const found = await base.db
    .select({ service: subscriptionItems.customer_service_id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptions.stripe_subscription_id, stripeId))
    .orderBy(asc(subscriptionItems.id));
  return found.map(({ service }) => service);
};

test('both Stripe customers are the one that stays, and so is whatever names the old number', async () => {
  const [gone, kept] = [await createCustomer(base.db), await createCustomer(base.db)];
  const [theirs, own] = [
    await subscribe(stripe, runtime, gone, [{}]),
    await subscribe(stripe, runtime, kept, [{}]),
  ];
  await merge(gone.id, kept.id);
  for (const { stripeCustomerId } of [theirs, own]) {
    expect(await linkOf(runtime, stripeCustomerId)).toEqual({ customer_id: kept.id, linked_by: 'number' });
    await bill(stripeCustomerId);
    expect(await invoicesOf(stripeCustomerId)).toEqual([{ customer_id: kept.id, status: 'sent' }]);
  }
  // One that nobody knows yet, by its own metadata and by an invoice's alone.
  for (const metadata of [{ customer_number: gone.customer_number.toLowerCase() }, {}]) {
    const { object } = await stripe.happen((world) => act.createCustomer(world, { metadata }));
    await bill(object.id, { customer_number: gone.customer_number });
    expect(await linkOf(runtime, object.id)).toEqual({ customer_id: kept.id, linked_by: 'number' });
    expect(await invoicesOf(object.id)).toEqual([{ customer_id: kept.id, status: 'sent' }]);
  }
});

test('items find the services that are now their customer’s, and a run has nothing left to do', async () => {
  const [gone, kept] = [await createCustomer(base.db), await createCustomer(base.db)];
  const [ofGone, ofKept] = [
    await createService(base.db, { customer_id: gone.id }),
    await createService(base.db, { customer_id: kept.id }),
  ];
  const naming = ({ service_number }: { service_number: string }) => [{ metadata: { service_number } }];
  const theirs = await subscribe(stripe, runtime, gone, naming(ofKept));
  const own = await subscribe(stripe, runtime, kept, naming(ofGone));
  expect([await itemsOf(theirs.subscription.id), await itemsOf(own.subscription.id)]).toEqual([
    [null],
    [null],
  ]);
  await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: null });
  await merge(gone.id, kept.id);
  expect([await itemsOf(theirs.subscription.id), await itemsOf(own.subscription.id)]).toEqual([
    [ofKept.id],
    [ofGone.id],
  ]);
  const changes = await base.db.$count(reconciliationChanges);
  const run = await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: null });
  expect(run).toMatchObject({ status: 'completed', changes: 0 });
  expect(await base.db.$count(reconciliationChanges)).toBe(changes);
});

test('a customer that was made for Stripe is known for sure once it is merged', async () => {
  const kept = await createCustomer(base.db);
  const service = await createService(base.db, { customer_id: kept.id });
  const { object } = await stripe.happen((world) => act.createCustomer(world, { email: 'made@example.com' }));
  const { object: subscription } = await stripe.happen((world) =>
    act.createSubscription(world, {
      customer: object.id,
      items: [{ unitAmount: 990, metadata: { service_number: service.service_number } }],
    }),
  );
  const made = await linkOf(runtime, object.id);
  expect(made?.linked_by).toBe('created');
  await merge(made?.customer_id ?? 0, kept.id);
  expect(await linkOf(runtime, object.id)).toEqual({ customer_id: kept.id, linked_by: 'staff' });
  expect(await itemsOf(subscription.id)).toEqual([service.id]);
  const [row] = await base.db.select().from(customers).where(eq(customers.id, kept.id));
  expect(row?.email).toBe(kept.email);
  // Whoever comes next is given a number that nobody had.
  const next = await stripe.happen((world) => act.createCustomer(world, { email: 'next@example.com' }));
  await bill(next.object.id);
  const link = await linkOf(runtime, next.object.id);
  expect(link).toMatchObject({ linked_by: 'created' });
  expect(link?.customer_id).not.toBe(kept.id);
});

test('a merge and deliveries at once: all rows end with the one that stays', async () => {
  const [gone, kept] = [await createCustomer(base.db), await createCustomer(base.db)];
  const [theirs, own] = [
    await subscribe(stripe, runtime, gone, [{}]),
    await subscribe(stripe, runtime, kept, [{}]),
  ];
  const open = await bill(theirs.stripeCustomerId);
  const stranger = act.createCustomer(stripe.world, { metadata: { customer_number: gone.customer_number } });
  const first = act.createInvoice(stripe.world, { customer: stranger.object.id, lines: [{ amount: 500 }] });
  const events = [
    ...act.finalizeInvoice(stripe.world, first.object.id).events,
    ...act.payInvoice(stripe.world, open).events,
    ...act.cancelSubscription(stripe.world, theirs.subscription.id).events,
    ...act.updateSubscription(stripe.world, own.subscription.id, { cancelAtPeriodEnd: true }).events,
  ];
  const outcomes = await Promise.all([merge(gone.id, kept.id), ...events.map((event) => stripe.take(event))]);
  expect(outcomes).not.toContain('failed');
  expect(await invoicesOf(theirs.stripeCustomerId)).toEqual([{ customer_id: kept.id, status: 'paid' }]);
  expect(await invoicesOf(stranger.object.id)).toMatchObject([{ customer_id: kept.id }]);
  expect(await linkOf(runtime, stranger.object.id)).toEqual({ customer_id: kept.id, linked_by: 'number' });
  const run = await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: null });
  expect(run).toMatchObject({ status: 'completed', changes: 0 });
});
