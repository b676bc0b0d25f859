import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  customers,
  invoices,
  payments,
  reconciliationChanges,
  salesDocuments,
  stripeCustomers,
  subscriptionItems,
} from '@/db/schema';
import { listAudit, listAuditOf } from '@/lib/audit/audit-log';
import type { PageStart } from '@/lib/page-query';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { linkItem } from '@/lib/sync/staff/link-subscription';
import { mergeCustomers } from '@/lib/sync/staff/merge-customers';
import {
  getStripeCustomer,
  listCreatedForStripe,
  listItemsOfOthers,
} from '@/lib/sync/staff/stripe-customers';
import {
  createCustomer,
  createInvoice,
  createSalesDocument,
  createService,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import * as act from '../support/stripe-actions';
import { GRACE, useSync } from '../support/sync';
import { walkPages } from '../support/walk-pages';

const sync = useSync();

const move = (id: string, from: number, to: number) =>
  linkStripeCustomer(sync.deps(), GRACE, id, { from, to });
const linkOf = async (id: string) => {
  const link = await sync.linkOf(id);
  return link && { customer_id: link.customer_id, linked_by: link.linked_by };
};
/** Returns the items of a subscription by its id at Stripe. */
const itemsOf = async (stripeId: string) =>
  sync.db
    .select()
    .from(subscriptionItems)
    .where(eq(subscriptionItems.subscription_id, (await sync.subscriptionOf(stripeId))?.id ?? 0))
    .orderBy(subscriptionItems.id);
const servicesOf = async (stripeId: string) =>
  (await itemsOf(stripeId)).map(({ customer_service_id }) => customer_service_id);
/** Returns the invoices of a Stripe customer, with the customers of their payments. */
const invoicesOf = (stripeCustomerId: string) =>
  sync.db
    .select({ customer_id: invoices.customer_id, status: invoices.status, payer: payments.customer_id })
    .from(invoices)
    .leftJoin(payments, eq(payments.invoice_id, invoices.id))
    .where(eq(invoices.stripe_customer_id, stripeCustomerId))
    .orderBy(invoices.id);
const naming = ({ service_number }: { service_number: string }) => [{ metadata: { service_number } }];

/** Creates a Stripe customer whose first event creates a customer. */
async function createAtStripe(email: string, metadata?: Record<string, string>) {
  const { object } = await sync.happen((world) => act.createCustomer(world, { email }));
  const { object: subscription } = await sync.happen((world) =>
    act.createSubscription(world, {
      customer: object.id,
      items: [{ unitAmount: 990, ...(metadata && { metadata }) }],
    }),
  );
  const made = await linkOf(object.id);
  expect(made?.linked_by).toBe('created');
  return { id: object.id, customerId: made?.customer_id ?? 0, subscription };
}

describe('moving a Stripe customer to another customer', () => {
  /** Creates two customers. The first has a service with a subscription, and two invoices at Stripe. */
  async function openCase() {
    const from = await createCustomer(sync.db);
    const to = await createCustomer(sync.db);
    const service = await createService(sync.db, { customer_id: from.id });
    const { stripeCustomerId, subscription } = await sync.subscribe(from, [{}, {}]);
    const [item] = await itemsOf(subscription.id);
    await linkItem(sync.deps(), GRACE, item?.id ?? 0, service.service_number);
    const bill = () => sync.bill({ customer: stripeCustomerId, lines: [{ amount: 990 }] });
    const [paid, open] = [await bill(), await bill()];
    await sync.happen((world) => act.payInvoice(world, paid));
    return { from, to, service, stripeCustomerId, subscription, item, open };
  }

  test('subscriptions, invoices and payments move with their Stripe customer', async () => {
    const { from, to, stripeCustomerId, subscription } = await openCase();
    const own = await createInvoice(sync.db, { customer_id: from.id });
    const document = await createSalesDocument(sync.db, { customer_id: from.id });
    const counts = { subscriptions: 1, invoices: 2, payments: 1 };
    expect(await getStripeCustomer(sync.db, stripeCustomerId)).toMatchObject({
      linked_by: 'number',
      customer: { id: from.id, customer_number: from.customer_number },
      ...counts,
    });
    await move(stripeCustomerId, from.id, to.id);
    expect(await linkOf(stripeCustomerId)).toEqual({ customer_id: to.id, linked_by: 'staff' });
    expect((await sync.subscriptionOf(subscription.id))?.customer_id).toBe(to.id);
    expect(await invoicesOf(stripeCustomerId)).toMatchObject([
      { customer_id: to.id, payer: to.id },
      { customer_id: to.id, payer: null },
    ]);
    const stayed = [
      await sync.db.select().from(invoices).where(eq(invoices.id, own.id)),
      await sync.db.select().from(salesDocuments).where(eq(salesDocuments.id, document.id)),
    ];
    expect(stayed).toMatchObject([[{ customer_id: from.id }], [{ customer_id: from.id }]]);
    const moved = { customer: { id: to.id }, ...counts };
    expect(await getStripeCustomer(sync.db, stripeCustomerId)).toMatchObject(moved);
  });

  test('a subscription item that moves to another customer loses its link to the service', async () => {
    const { from, to, service, stripeCustomerId, item } = await openCase();
    expect(await listItemsOfOthers(sync.db, stripeCustomerId, from.id)).toEqual([]);
    expect(await listItemsOfOthers(sync.db, stripeCustomerId, to.id)).toMatchObject([
      { item: { id: item?.id }, service_number: service.service_number },
    ]);
    await move(stripeCustomerId, from.id, to.id);
    expect(await listItemsOfOthers(sync.db, stripeCustomerId, to.id)).toEqual([]);
    const [entry] = await listAudit(sync.db, 'subscription_item', item?.id ?? 0);
    expect(entry).toMatchObject({
      action: 'subscription_item.move',
      before: { customer_service_id: service.id },
      after: { customer_service_id: null },
    });
  });

  test('confirming a Stripe customer unlinks its items from another customer’s services', async () => {
    const [ours, other] = [await createCustomer(sync.db), await createCustomer(sync.db)];
    const named = await createService(sync.db, { customer_id: ours.id });
    const { stripeCustomerId, subscription } = await sync.subscribe(ours, naming(named));
    const { id: customer_service_id } = await createService(sync.db, { customer_id: other.id });
    const [item] = await itemsOf(subscription.id);
    await sync.db
      .update(subscriptionItems)
      .set({ customer_service_id, linked_by_staff: true })
      .where(eq(subscriptionItems.id, item?.id ?? 0));
    await move(stripeCustomerId, ours.id, ours.id);
    const kept = { customer_service_id: named.id, linked_by_staff: false };
    expect(await itemsOf(subscription.id)).toMatchObject([kept]);
  });

  test('the audit log of a moved Stripe customer names both customers', async () => {
    const { from, to, stripeCustomerId } = await openCase();
    await sync.db
      .update(stripeCustomers)
      .set({ number_source: 'customer' })
      .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId));
    await move(stripeCustomerId, from.id, to.id);
    const log = await listAuditOf(sync.db, 'stripe_customer', 'stripe_customer_id', stripeCustomerId);
    expect(log).toMatchObject([
      {
        action: 'stripe_customer.link',
        actor_name: GRACE.name,
        before: { customer_id: from.id, linked_by: 'number', number_source: 'customer' },
        after: { customer_id: to.id, linked_by: 'staff', number_source: null },
      },
    ]);
  });

  test('moving a Stripe customer is refused if it was linked to another customer meanwhile', async () => {
    const { from, to, stripeCustomerId } = await openCase();
    await expect(move(stripeCustomerId, to.id, from.id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(move(stripeCustomerId, from.id, 999_999)).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await expect(move('cus_nowhere', from.id, to.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await linkOf(stripeCustomerId)).toEqual({ customer_id: from.id, linked_by: 'number' });
  });
});

describe('linking a subscription item to a service', () => {
  const link = (itemId: number, serviceNumber: string | null) =>
    linkItem(sync.deps(), GRACE, itemId, serviceNumber);
  const dateOf = async (serviceId: number) => (await sync.serviceOf(serviceId))?.next_billing_date;

  /** Creates a customer with a service and a live subscription of two items, and returns the first item. */
  async function openItem() {
    const customer = await createCustomer(sync.db);
    const service = await createService(sync.db, {
      customer_id: customer.id,
      next_billing_date: '2020-01-01',
    });
    const { subscription } = await sync.subscribe(customer, [{}, {}]);
    const row = async () => {
      const found = await sync.itemOf(subscription.items[0]?.id ?? '');
      if (!found) throw new Error('the subscription has an item');
      return found;
    };
    return { customer, service, subscription, row, item: await row() };
  }

  test('linking a subscription item to a service sets the service’s billing date', async () => {
    const { service, item, row } = await openItem();
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
    const { service, item, row } = await openItem();
    await link(item.id, service.service_number);
    const before = await row();
    expect(await link(item.id, service.service_number)).toEqual([]);
    expect(await row()).toEqual(before);
    expect(await listAudit(sync.db, 'subscription_item', item.id)).toHaveLength(1);
  });

  test('linking a subscription item to another customer’s service is refused', async () => {
    const { item, row } = await openItem();
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
    const { customer, service } = await openItem();
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
});

test('customers created for Stripe are listed until staff confirm them', async () => {
  await sync.db.delete(stripeCustomers);
  const made = [];
  for (let i = 0; i < 5; i += 1) made.push(await createStripeCustomer(sync.db, { linked_by: 'created' }));
  await createStripeCustomer(sync.db, { linked_by: 'email' });
  const ids = made.map((row) => row.stripe_customer_id).reverse();
  const page = (start: PageStart) => listCreatedForStripe(sync.db, { ...start, limit: 2 });
  expect((await walkPages(page)).map((row) => row.stripe_customer_id)).toEqual(ids);
  expect((await page({ after: 'nonsense' })).data).toEqual((await page({})).data);

  const { stripe_customer_id: sure, customer_id } = made[2] ?? { stripe_customer_id: '', customer_id: 0 };
  await move(sure, customer_id, customer_id);
  expect(await linkOf(sure)).toEqual({ customer_id, linked_by: 'staff' });
  const left = await listCreatedForStripe(sync.db, { limit: 25 });
  expect(left.data.map((row) => row.stripe_customer_id)).toEqual(ids.filter((id) => id !== sure));
});

describe('merging two customers with Stripe customers', () => {
  beforeAll(() => {
    sync.runtime.stripe = sync.client;
  });
  const seenOf = async (id: number) => {
    const [row] = await sync.db.select().from(customers).where(eq(customers.id, id));
    return { id, version: row?.version ?? 0 };
  };
  const merge = async (gone: number, kept: number) =>
    mergeCustomers(sync.deps(), GRACE, { gone: await seenOf(gone), kept: await seenOf(kept), taken: [] });
  const bill = (customer: string, metadata: Record<string, string> = {}) =>
    sync.bill({ customer, lines: [{ amount: 990 }], metadata });
  const pair = async () => ({ gone: await createCustomer(sync.db), kept: await createCustomer(sync.db) });

  test('after a merge both Stripe customers belong to the remaining customer', async () => {
    const { gone, kept } = await pair();
    const [theirs, own] = [await sync.subscribe(gone, [{}]), await sync.subscribe(kept, [{}])];
    await merge(gone.id, kept.id);
    for (const { stripeCustomerId } of [theirs, own]) {
      expect(await linkOf(stripeCustomerId)).toEqual({ customer_id: kept.id, linked_by: 'number' });
      await bill(stripeCustomerId);
      expect(await invoicesOf(stripeCustomerId)).toMatchObject([{ customer_id: kept.id, status: 'sent' }]);
    }
    // The first new Stripe customer has the old number in its own metadata. The second has it only in its invoice's
    // metadata.
    for (const metadata of [{ customer_number: gone.customer_number.toLowerCase() }, {}]) {
      const { object } = await sync.happen((world) => act.createCustomer(world, { metadata }));
      await bill(object.id, { customer_number: gone.customer_number });
      expect(await linkOf(object.id)).toEqual({ customer_id: kept.id, linked_by: 'number' });
      expect(await invoicesOf(object.id)).toMatchObject([{ customer_id: kept.id, status: 'sent' }]);
    }
  });

  test('after two customers are merged, subscription items are linked to the services in their metadata', async () => {
    const { gone, kept } = await pair();
    const ofGone = await createService(sync.db, { customer_id: gone.id });
    const ofKept = await createService(sync.db, { customer_id: kept.id });
    const theirs = await sync.subscribe(gone, naming(ofKept));
    const own = await sync.subscribe(kept, naming(ofGone));
    const links = () => Promise.all([theirs, own].map(({ subscription: { id } }) => servicesOf(id)));
    expect(await links()).toEqual([[null], [null]]);
    await sync.run();
    await merge(gone.id, kept.id);
    expect(await links()).toEqual([[ofKept.id], [ofGone.id]]);
    const changes = await sync.db.$count(reconciliationChanges);
    expect(await sync.run()).toMatchObject({ status: 'completed', changes: 0 });
    expect(await sync.db.$count(reconciliationChanges)).toBe(changes);
  });

  test('merging a customer that was created for Stripe confirms its Stripe customer’s link', async () => {
    const kept = await createCustomer(sync.db);
    const service = await createService(sync.db, { customer_id: kept.id });
    const { service_number } = service;
    const made = await createAtStripe('merged@example.com', { service_number });
    await merge(made.customerId, kept.id);
    expect(await linkOf(made.id)).toEqual({ customer_id: kept.id, linked_by: 'staff' });
    expect(await servicesOf(made.subscription.id)).toEqual([service.id]);
    const [row] = await sync.db.select().from(customers).where(eq(customers.id, kept.id));
    expect(row?.email).toBe(kept.email);
    // The next created customer does not get the merged customer's number, which leads to the remaining customer.
    const next = await createAtStripe('next@example.com');
    expect(next.customerId).not.toBe(kept.id);
  });

  test('invoices that webhooks write during a merge belong to the remaining customer', async () => {
    const { gone, kept } = await pair();
    const [theirs, own] = [await sync.subscribe(gone, [{}]), await sync.subscribe(kept, [{}])];
    const open = await bill(theirs.stripeCustomerId);
    const metadata = { customer_number: gone.customer_number };
    const stranger = act.createCustomer(sync.world, { metadata }).object.id;
    const first = act.createInvoice(sync.world, { customer: stranger, lines: [{ amount: 500 }] });
    const events = [
      ...act.finalizeInvoice(sync.world, first.object.id).events,
      ...act.payInvoice(sync.world, open).events,
      ...act.cancelSubscription(sync.world, theirs.subscription.id).events,
      ...act.updateSubscription(sync.world, own.subscription.id, { cancelAtPeriodEnd: true }).events,
    ];
    const outcomes = await Promise.all([merge(gone.id, kept.id), ...events.map((event) => sync.take(event))]);
    expect(outcomes).not.toContain('failed');
    const paid = { customer_id: kept.id, status: 'paid' };
    expect(await invoicesOf(theirs.stripeCustomerId)).toMatchObject([paid]);
    expect(await invoicesOf(stranger)).toMatchObject([{ customer_id: kept.id }]);
    expect(await linkOf(stranger)).toEqual({ customer_id: kept.id, linked_by: 'number' });
    expect(await sync.run()).toMatchObject({ status: 'completed', changes: 0 });
  });
});
