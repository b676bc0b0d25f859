import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { customerServices, subscriptionItems } from '@/db/schema';
import { listAudit } from '@/lib/audit/list-audit';
import type { Actor } from '@/lib/audit/record-audit';
import * as act from '@/lib/stripe-local/actions';
import { linkItem } from '@/lib/sync/staff/link-item';
import {
  createCustomer,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { useSync } from '../support/sync';

const sync = useSync();
const GRACE: Actor = { type: 'staff', id: 'u1', name: 'grace@example.com' };

const link = (itemId: number, serviceNumber: string | null) =>
  linkItem(sync.deps(), GRACE, itemId, serviceNumber);
const itemOf = async (stripeItemId: string | undefined) => {
  const [row] = await sync.db
    .select()
    .from(subscriptionItems)
    .where(eq(subscriptionItems.stripe_subscription_item_id, stripeItemId ?? ''));
  if (!row) throw new Error(`no item ${stripeItemId}`);
  return row;
};
const dateOf = async (serviceId: number) =>
  (await sync.db.select().from(customerServices).where(eq(customerServices.id, serviceId)))[0]
    ?.next_billing_date;

/** A customer with a service and a live subscription of two items without links. */
async function openCase() {
  const customer = await createCustomer(sync.db);
  const service = await createService(sync.db, { customer_id: customer.id, next_billing_date: '2020-01-01' });
  const { subscription } = await sync.subscribe(customer, [{}, {}]);
  const item = await itemOf(subscription.items[0]?.id);
  return { customer, service, subscription, item };
}

test('a linked item gives its service the date that the customer is charged next', async () => {
  const { service, item } = await openCase();
  const changes = await link(item.id, service.service_number);
  const date = item.current_period_end?.toISOString().slice(0, 10);
  expect(changes).toMatchObject([
    { entity: 'customer_service', entity_id: service.id, before: '2020-01-01', after: date },
  ]);
  expect(await dateOf(service.id)).toBe(date);
  expect((await itemOf(item.stripe_subscription_item_id ?? '')).customer_service_id).toBe(service.id);
});

test('the audit log says who linked what', async () => {
  const { service, item } = await openCase();
  await link(item.id, service.service_number);
  await link(item.id, null);
  expect(await listAudit(sync.db, 'subscription_item', item.id)).toMatchObject([
    {
      action: 'subscription_item.unlink',
      actor_name: GRACE.name,
      before: { customer_service_id: service.id, service: service.service_number },
      after: { customer_service_id: null, service: null },
    },
    {
      action: 'subscription_item.link',
      actor_type: 'staff',
      before: { customer_service_id: null },
      after: { customer_service_id: service.id },
    },
  ]);
});

test('the same link again writes nothing', async () => {
  const { service, item } = await openCase();
  await link(item.id, service.service_number);
  const before = await itemOf(item.stripe_subscription_item_id ?? '');
  expect(await link(item.id, service.service_number)).toEqual([]);
  expect(await itemOf(item.stripe_subscription_item_id ?? '')).toEqual(before);
  expect(await listAudit(sync.db, 'subscription_item', item.id)).toHaveLength(1);
});

test('a service that loses its last item loses sync’s date; one with another item takes that one’s', async () => {
  const { customer, service, item } = await openCase();
  await link(item.id, service.service_number);
  const own = await dateOf(service.id);
  await link(item.id, null);
  expect(await dateOf(service.id)).toBeNull();

  const other = await createSubscriptionItem(sync.db, {
    subscription_id: (await createSubscription(sync.db, { customer_id: customer.id })).id,
    current_period_end: new Date('2026-03-20T12:00:00Z'),
  });
  await link(item.id, service.service_number);
  await link(other.id, service.service_number);
  expect(await dateOf(service.id)).toBe(own); // the latest of both
  await link(item.id, null);
  expect(await dateOf(service.id)).toBe('2026-03-20');
});

test('another customer’s service and an unknown one are refused, and nothing is written', async () => {
  const { item } = await openCase();
  const foreign = await createService(sync.db);
  for (const number of [foreign.service_number, 'S-nowhere']) {
    await expect(link(item.id, number)).rejects.toMatchObject({
      code: 'validation_failed',
      fields: [{ field: 'service_number' }],
    });
  }
  expect((await itemOf(item.stripe_subscription_item_id ?? '')).customer_service_id).toBeNull();
  expect(await listAudit(sync.db, 'subscription_item', item.id)).toEqual([]);
  await expect(link(999_999, null)).rejects.toMatchObject({ code: 'not_found' });
});

test('an item of a subscription that Stripe does not know yet can be linked', async () => {
  const customer = await createCustomer(sync.db);
  const service = await createService(sync.db, { customer_id: customer.id });
  const { id } = await createSubscription(sync.db, {
    customer_id: customer.id,
    stripe_subscription_id: null,
  });
  const item = await createSubscriptionItem(sync.db, {
    subscription_id: id,
    stripe_subscription_item_id: null,
  });
  expect(await link(item.id, service.service_number)).toEqual([]);
  expect(await listAudit(sync.db, 'subscription_item', item.id)).toHaveLength(1);
});

test('sync keeps the link, and moves the date of its service with the subscription', async () => {
  const { service, subscription, item } = await openCase();
  await link(item.id, service.service_number);
  const currentPeriodEnd = Math.floor(Date.parse('2026-09-09T12:00:00Z') / 1000);
  await sync.happen((world) => act.updateSubscription(world, subscription.id, { currentPeriodEnd }));
  expect((await itemOf(item.stripe_subscription_item_id ?? '')).customer_service_id).toBe(service.id);
  expect(await dateOf(service.id)).toBe('2026-09-09');
});

test('linking and webhooks at once: the link stays, and the date is the last one told', async () => {
  const { service, subscription, item } = await openCase();
  const ends = [3, 4, 5, 6].map((month) => Date.parse(`2027-0${month}-01T12:00:00Z`) / 1000);
  const events = ends.flatMap((currentPeriodEnd) => {
    sync.runtime.setNow(new Date(sync.runtime.now().getTime() + 60_000));
    return act.updateSubscription(sync.world, subscription.id, { currentPeriodEnd }).events;
  });
  await Promise.all([
    ...events.map((event) => sync.take(event)),
    link(item.id, service.service_number),
    link(item.id, service.service_number),
  ]);
  expect((await itemOf(item.stripe_subscription_item_id ?? '')).customer_service_id).toBe(service.id);
  expect(await dateOf(service.id)).toBe('2027-06-01');
  expect(await listAudit(sync.db, 'subscription_item', item.id)).toHaveLength(1);
});

test('what staff said of an item stands against what its metadata says', async () => {
  const customer = await createCustomer(sync.db);
  const [told, chosen] = [
    await createService(sync.db, { customer_id: customer.id }),
    await createService(sync.db, { customer_id: customer.id }),
  ];
  const metadata = { service_number: told.service_number };
  const { subscription } = await sync.subscribe(customer, [{ metadata }]);
  const item = await itemOf(subscription.items[0]?.id);
  expect(item.customer_service_id).toBe(told.id);
  for (const service of [chosen, null]) {
    await link(item.id, service?.service_number ?? null);
    await sync.happen((world) =>
      act.updateSubscription(world, subscription.id, { cancelAtPeriodEnd: service === null }),
    );
    expect((await itemOf(subscription.items[0]?.id)).customer_service_id).toBe(service?.id ?? null);
  }
});
