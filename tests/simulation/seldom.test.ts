import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { customerServices, customers, invoices, subscriptionItems, subscriptions } from '@/db/schema';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { Invoice, Metadata, Subscription, WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld, emit, type World } from '@/lib/stripe-local/world';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { linkItem } from '@/lib/sync/staff/link-item';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createService } from '../support/factories';
import { orders } from '../support/orders';
import { type TestRuntime, testRuntime } from '../support/runtime';

// What Stripe does seldom, in the smallest histories that went wrong. Nothing can be asked of Stripe.
const base = useDatabase();
let runtime: TestRuntime;
let world: World;

beforeAll(() => {
  runtime = testRuntime(base.db);
  world = createWorld({ now: runtime.now, chance: seededChance(7) });
});
beforeEach(() => later(10));

const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));

async function take(event: WorldEvent | undefined) {
  if (!event) throw new Error('nothing happened');
  const body = JSON.stringify(renderEvent(event, '2026-10-28.endive'));
  const parsed = toProviderEvent(JSON.parse(body));
  if (!parsed) throw new Error('the world renders events');
  return handleEvent({ ...syncDeps(runtime), stripe: null }, parsed, body);
}

/** Two subscriptions of a customer with two services; what the first holds is to move to the second. */
async function subscribed() {
  const service = await createService(base.db);
  const other = await createService(base.db, { customer_id: service.customer_id });
  const [own] = await base.db.select().from(customers).where(eq(customers.id, service.customer_id));
  const customer = act.createCustomer(world).object.id;
  const metadata = { customer_number: own?.customer_number ?? '' };
  const [from, to] = [2, 1].map((count) => {
    const items = Array.from({ length: count }, () => ({ unitAmount: 500 }));
    return act.createSubscription(world, { customer, items, metadata });
  });
  if (!from || !to) throw new Error('there are two');
  later(5);
  return { service, other, from: from.object, to: to.object, created: [...from.events, ...to.events] };
}

/** Moves the first item. @returns the events that tell it, first that it left */
function move(from: Subscription, to: Subscription, metadata: Metadata = {}) {
  const [moved, ...rest] = from.items;
  const leaves = act.updateSubscription(world, from.id, { items: rest }).events;
  const arrives = act.updateSubscription(world, to.id, {
    items: [...to.items, { ...moved, metadata }],
  }).events;
  return [...leaves, ...arrives];
}

async function storedItem({ items: [item] }: Subscription) {
  const ofItem = eq(subscriptionItems.stripe_subscription_item_id, item?.id ?? '');
  const [row] = await base.db
    .select({ item: subscriptionItems, of: subscriptions.stripe_subscription_id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(ofItem);
  return row;
}

test('an item that moved is where it was last, in every order', async () => {
  for (const order of orders([0, 1, 2, 3])) {
    const { from, to, created } = await subscribed();
    const events = [...created, ...move(from, to)];
    for (const at of order) await take(events[at]);
    expect((await storedItem(from))?.of, String(order)).toBe(to.id);
  }
});

test('an item that staff linked keeps its service where it moves to', async () => {
  const { from, to, created, service, other } = await subscribed();
  for (const event of created) await take(event);
  const id = (await storedItem(from))?.item.id ?? 0;
  const actor = { type: 'cli', id: 'test', name: 'test' } as const;
  await linkItem(syncDeps(runtime), actor, id, service.service_number);
  const [leaves, arrives] = move(from, to, { service_number: other.service_number });
  for (const event of [arrives, leaves]) await take(event);
  const item = { customer_service_id: service.id, linked_by_staff: true };
  expect(await storedItem(from)).toMatchObject({ of: to.id, item });
});

test('a service is billed no more by an item that moved and pays for another now', async () => {
  const { from, to, created, service, other } = await subscribed();
  for (const event of created) await take(event);
  const metadata = { service_number: service.service_number };
  const items = from.items.map((item, i) => (i === 0 ? { ...item, metadata } : item));
  const named = act.updateSubscription(world, from.id, { items });
  await take(named.events[0]);
  const dateOf = async ({ id }: { id: number }) =>
    (await base.db.select().from(customerServices).where(eq(customerServices.id, id)))[0]?.next_billing_date;
  expect(await dateOf(service)).toBe('2026-04-15');
  later(5);
  const [leaves, arrives] = move(named.object, to, { service_number: other.service_number });
  for (const event of [arrives, leaves]) await take(event);
  expect([await dateOf(service), await dateOf(other)]).toEqual([null, '2026-04-15']);
});

test('an invoice whose payment failed is overdue, though its status is one that nobody knows', async () => {
  const customer = act.createCustomer(world).object.id;
  const { id } = act.createInvoice(world, { customer, lines: [{ amount: 9000 }] }).object;
  const { object, events } = act.finalizeInvoice(world, id);
  await take(events.find(({ type }) => type === 'invoice.finalized'));
  later(5);
  const status = 'disputed' as Invoice['status'];
  await take(emit(world, 'invoice.payment_failed', { ...object, status }));
  const [row] = await base.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id));
  expect(row?.status).toBe('overdue');
});
