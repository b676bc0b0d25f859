import { asc, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import * as webhook from '@/app/api/stripe/webhook/route';
import {
  customerServices,
  reconciliationChanges,
  reconciliationFailures,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import * as act from '@/lib/stripe-local/actions';
import type { ItemInput } from '@/lib/stripe-local/model';
import { useApi } from '../support/api';
import { createCustomer, createService } from '../support/factories';
import { useLocalStripe } from '../support/local-stripe';
import { WEBHOOK_SECRET } from '../support/stripe-events';

const server = useApi({ '/api/stripe/webhook': webhook }, { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET });
const stripe = useLocalStripe(server);
const { later, tell, night } = stripe;

/** Items of a year, the last of a month and of a service. */
async function sell(count: number) {
  const { db } = server.runtime;
  const ours = await createCustomer(db);
  const service = await createService(db, { customer_id: ours.id, next_billing_date: null });
  const number = { customer_number: ours.customer_number };
  const customer = act.createCustomer(stripe.world, { metadata: number }).object.id;
  const items: ItemInput[] = Array.from({ length: count - 1 }, () => ({ unitAmount: 900, interval: 'year' }));
  const metadata = { service_number: service.service_number };
  const done = act.createSubscription(stripe.world, {
    customer,
    items: [...items, { unitAmount: 100, metadata }],
  });
  return { ...done, id: done.object.id, serviceId: service.id };
}

async function storedOf(stripeId: string) {
  const { db } = server.runtime;
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(eq(subscriptions.stripe_subscription_id, stripeId));
  const items = await db
    .select()
    .from(subscriptionItems)
    .where(eq(subscriptionItems.subscription_id, row?.id ?? 0))
    .orderBy(asc(subscriptionItems.stripe_subscription_item_id));
  return { row, items: items.map((item) => [item.stripe_subscription_item_id, item.quantity]) };
}

const atStripe = (id: string) =>
  (stripe.world.subscriptions.get(id)?.items ?? [])
    .map((item) => [item.id, item.quantity])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

const dateOf = async (id: number) => {
  const { db } = server.runtime;
  const [service] = await db.select().from(customerServices).where(eq(customerServices.id, id));
  return service?.next_billing_date;
};

test('items beyond the tenth are fetched, count for the billing date, and are removed with the others', async () => {
  const { id, serviceId, ...sold } = await sell(12);
  await tell(sold);
  const { row, items } = await storedOf(id);
  expect(items).toEqual(atStripe(id));
  expect(row).toMatchObject({ next_billing_date: '2026-04-15', recheck_at: null });
  expect(await dateOf(serviceId)).toBe('2026-04-15');
  later(60);
  const left = sold.object.items.slice(0, 11);
  await tell(act.updateSubscription(stripe.world, id, { items: left }));
  expect(await storedOf(id)).toMatchObject({ row: { next_billing_date: '2027-03-15' }, items: atStripe(id) });
});

test('more than a page of them is read to its end', async () => {
  const { id, ...sold } = await sell(230);
  const before = stripe.local.requests.length;
  await tell(sold);
  expect((await storedOf(id)).items).toEqual(atStripe(id));
  const pages = stripe.local.requests.slice(before).filter(({ path }) => path === '/v1/subscription_items');
  expect(pages.map(({ query }) => query.limit)).toEqual(['100', '100', '100']);
});

test('without an API key what is told is applied, nothing is removed, and the daily job completes it', async () => {
  const { id, ...sold } = await sell(13);
  await tell(sold, { withKey: false });
  expect((await storedOf(id)).items).toHaveLength(10);
  expect((await storedOf(id)).row?.recheck_at).not.toBeNull();
  later(60);
  const [first, ...others] = sold.object.items;
  await tell(act.updateSubscription(stripe.world, id, { items: others }), { withKey: false });
  expect((await storedOf(id)).items).toHaveLength(11); // the first of them, too
  expect((await storedOf(id)).items.map(([item]) => item)).toContain(first?.id);
  expect(await night()).toMatchObject({ status: 'completed', failures: 0 });
  expect(await storedOf(id)).toMatchObject({ row: { recheck_at: null }, items: atStripe(id) });
});

test('what changed beyond the tenth without a word is found at night, and nothing in the next', async () => {
  const { id, ...sold } = await sell(11);
  await tell(sold);
  later(60);
  const items = sold.object.items.map((item, i) => (i === 10 ? { ...item, quantity: 7 } : item));
  act.updateSubscription(stripe.world, id, { items });
  const { status, runId } = await night();
  expect(status).toBe('completed');
  const logged = await server.runtime.db
    .select()
    .from(reconciliationChanges)
    .where(eq(reconciliationChanges.run_id, runId));
  expect(logged.map(({ stripe_id, field, after }) => [stripe_id, field, after])).toEqual([
    [items.at(-1)?.id, 'quantity', '7'],
    [items.at(-1)?.id, 'amount', '7.00 EUR'],
  ]);
  expect((await storedOf(id)).items).toEqual(atStripe(id));
  expect(await night()).toMatchObject({ status: 'completed', changes: 0 });
});

test('a subscription whose items Stripe does not tell is marked, named at night, and mended the next', async () => {
  const isAsked = ({ path, query }: { path: string; query: Record<string, string> }) =>
    path === '/v1/subscription_items' && query.subscription === id;
  const { id, ...sold } = await sell(12);
  stripe.local.faults.add({ when: isAsked, fault: { kind: 'status', status: 400 } });
  await tell(sold);
  expect((await storedOf(id)).items).toHaveLength(10);
  expect((await storedOf(id)).row?.recheck_at).not.toBeNull();
  expect(await night()).toMatchObject({ status: 'completed_with_errors', failures: 1 });
  const [failure] = await server.runtime.db.select().from(reconciliationFailures);
  expect(failure).toMatchObject({
    object: 'subscription',
    stripe_id: id,
    error_code: 'stripe_resource_missing',
  });
  stripe.local.faults.clear();
  expect(await night()).toMatchObject({ status: 'completed', failures: 0 });
  expect(await storedOf(id)).toMatchObject({ row: { recheck_at: null }, items: atStripe(id) });
});
