import { and, asc, eq, isNotNull } from 'drizzle-orm';
import {
  customerServices,
  invoices,
  mergedCustomers,
  payments,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { deletePayment } from '@/lib/payments/delete-payment';
import { recordPayment } from '@/lib/payments/record-payment';
import { updatePayment } from '@/lib/payments/update-payment';
import { linkItem } from '@/lib/sync/staff/link-item';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import {
  createCustomer,
  createInvoice,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import type { Hands } from './hands';
import { OF_MERGED, OWN_INVOICE } from './setup';

export const ACTOR = { type: 'cli', id: 'simulation', name: 'simulation' } as const;

/** As pages and programs do it. */
export function databaseHands(deps: SyncDeps): Hands {
  const { db, now } = deps;
  const writer = () => ({ actor: ACTOR, source: 'api' as const, now: now(), timeZone: 'UTC' });
  const items = () =>
    db
      .select({
        row: subscriptionItems,
        owner: subscriptions.customer_id,
        customer: subscriptions.stripe_customer_id,
      })
      .from(subscriptionItems)
      .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id));
  return {
    now,
    payments: () => db.select().from(payments).orderBy(asc(payments.id)),
    invoices: () => db.select().from(invoices).orderBy(asc(invoices.id)),
    links: () => db.select().from(stripeCustomers).orderBy(asc(stripeCustomers.stripe_customer_id)),
    items: async () => {
      const ofStripe = isNotNull(subscriptionItems.stripe_subscription_item_id);
      const found = await items().where(ofStripe).orderBy(asc(subscriptionItems.id));
      return found.map(({ row, owner }) => ({ ...row, owner }));
    },
    itemsOf: async (stripeCustomerId) => {
      const found = await items().where(eq(subscriptions.stripe_customer_id, stripeCustomerId));
      return found.map(({ row }) => row.stripe_subscription_item_id);
    },
    isLinkedByStaff: async (id) => {
      const isIt = and(eq(subscriptionItems.id, id), eq(subscriptionItems.linked_by_staff, true));
      return (await items().where(isIt)).length > 0;
    },
    deletePayment: (id) => deletePayment(db, id, writer()),
    updatePayment: async (id, changes) => {
      await updatePayment(db, id, changes, writer());
    },
    recordPayment: async (payment) => (await recordPayment(db, payment, writer(), { onlyNew: true })).payment,
    linkStripeCustomer: (id, link) => linkStripeCustomer({ ...deps, stripe: null }, ACTOR, id, link),
    linkItem: async (id, serviceNumber) => {
      await linkItem(deps, ACTOR, id, serviceNumber);
    },
    dateService: async (id, dates) => {
      await db.update(customerServices).set(dates).where(eq(customerServices.id, id));
    },
    makeCustomer: (email) => createCustomer(db, { email }),
    makeMerged: async (customer_id) => {
      const [id, customer_number] = [OF_MERGED + customer_id, `M${customer_id}`];
      await db.insert(mergedCustomers).values({ id, customer_number, customer_id });
      return customer_number;
    },
    makeService: (service) => createService(db, service),
    makeSold: (customer_id) =>
      createSubscription(db, { customer_id, status: 'incomplete', stripe_subscription_id: null }),
    makeSoldItem: async (item) => {
      await createSubscriptionItem(db, { ...item, stripe_subscription_item_id: null });
    },
    makeInvoice: (customer_id) => createInvoice(db, { customer_id, ...OWN_INVOICE }),
    makeLink: async (link) => {
      await db.insert(stripeCustomers).values(link);
    },
  };
}
