import { expect, test } from 'vitest';
import { listAudit } from '@/lib/audit/audit-log';
import { linkItem } from '@/lib/sync/staff/link-subscription';
import {
  createCustomer,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import * as act from '../support/stripe-actions';
import { GRACE, useSync } from '../support/sync';

const sync = useSync();

const link = (itemId: number, serviceNumber: string | null) =>
  linkItem(sync.deps(), GRACE, itemId, serviceNumber);
const dateOf = async (serviceId: number) => (await sync.serviceOf(serviceId))?.next_billing_date;

/** Creates a customer with a service and a live subscription of two items, and returns the first item. */
async function openCase() {
  const customer = await createCustomer(sync.db);
  const service = await createService(sync.db, { customer_id: customer.id, next_billing_date: '2020-01-01' });
  const { subscription } = await sync.subscribe(customer, [{}, {}]);
  const row = async () => {
    const found = await sync.itemOf(subscription.items[0]?.id ?? '');
    if (!found) throw new Error('the subscription has an item');
    return found;
  };
  return { customer, service, subscription, row, item: await row() };
}

test('linking a subscription item to a service sets the service’s billing date', async () => {
  const { service, item, row } = await openCase();
  const changes = await link(item.id, service.service_number);
  const date = item.current_period_end?.toISOString().slice(0, 10);
  expect(changes).toMatchObject([
    { entity: 'customer_service', entity_id: service.id, before: '2020-01-01', after: date },
  ]);
  expect(await dateOf(service.id)).toBe(date);
  expect((await row()).customer_service_id).toBe(service.id);
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

test('linking a subscription item to its current service writes nothing', async () => {
  const { service, item, row } = await openCase();
  await link(item.id, service.service_number);
  const before = await row();
  expect(await link(item.id, service.service_number)).toEqual([]);
  expect(await row()).toEqual(before);
  expect(await listAudit(sync.db, 'subscription_item', item.id)).toHaveLength(1);
});

test('linking a subscription item to another customer’s service is refused', async () => {
  const { item, row } = await openCase();
  const foreign = await createService(sync.db);
  for (const number of [foreign.service_number, 'S-nowhere']) {
    await expect(link(item.id, number)).rejects.toMatchObject({
      code: 'validation_failed',
      fields: [{ field: 'service_number' }],
    });
  }
  expect((await row()).customer_service_id).toBeNull();
  expect(await listAudit(sync.db, 'subscription_item', item.id)).toEqual([]);
  await expect(link(999_999, null)).rejects.toMatchObject({ code: 'not_found' });
});

test('a subscription item can be linked to a service before its subscription exists at Stripe', async () => {
  const { customer, service } = await openCase();
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

test('the service that staff chose for an item takes precedence over the item’s metadata', async () => {
  const customer = await createCustomer(sync.db);
  const [told, chosen] = [
    await createService(sync.db, { customer_id: customer.id }),
    await createService(sync.db, { customer_id: customer.id }),
  ];
  const metadata = { service_number: told.service_number };
  const { subscription } = await sync.subscribe(customer, [{ metadata }]);
  const row = async () => await sync.itemOf(subscription.items[0]?.id ?? '');
  expect(await row()).toMatchObject({ customer_service_id: told.id });
  for (const service of [chosen, null]) {
    await link((await row())?.id ?? 0, service?.service_number ?? null);
    await sync.happen((world) =>
      act.updateSubscription(world, subscription.id, { cancelAtPeriodEnd: service === null }),
    );
    expect(await row()).toMatchObject({ customer_service_id: service?.id ?? null });
  }
});
