import { eq, getTableColumns, sql, type Table } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { localLimit } from '@/db/limits';
import {
  customerServices,
  customers,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { type Builder, statement } from '@/db/statement';
import { type DatedService, serviceDates } from './update-service-dates';

export type StoredLink = typeof stripeCustomers.$inferSelect;
export type StoredSubscription = typeof subscriptions.$inferSelect;
export type StoredItem = typeof subscriptionItems.$inferSelect;
export type StoredOutcome = (typeof stripeEvents.$inferSelect)['outcome'];

/** What we hold of a Stripe customer's subscription. */
export interface Held {
  link: StoredLink | null;
  /** Of the customer that it is linked to. */
  customerNumber: string | null;
  row: StoredSubscription | null;
  items: StoredItem[];
  /** Those of the items. */
  services: HeldService[];
}

export interface HeldService extends DatedService {
  number: string;
  customer_id: number;
}

/** What was held at one moment, which may have passed. */
export interface Glimpse {
  held: Held;
  /** Of all rows in it, as `lock_held` expects them. */
  versions: string;
  /** What became of the event before; null: it is new. */
  outcome: StoredOutcome | null;
}

/** Locks what a subscription of Stripe's changes here, then reads it. */
export async function lockHeld(tx: Database, customer: string, subscription: string): Promise<Held> {
  const [, { held }] = await Promise.all([
    lock(tx, { customer, subscription }),
    glimpseHeld(tx, customer, subscription, null),
  ]);
  return held;
}

/** Reads the same without any lock, and what became of an event before. */
export async function glimpseHeld(
  db: Database,
  customer: string,
  subscription: string,
  event: string | null,
): Promise<Glimpse> {
  const found = await read(db, { customer, subscription, event });
  const [first] = found;
  const services = new Map(
    found.flatMap(({ service, isShared }) =>
      service ? [[service.id, { ...service, isAlone: !isShared }] as const] : [],
    ),
  );
  const items = found.flatMap(({ item, service, versions }) =>
    item ? [{ item, version: [item.id, versions?.item, service?.id, versions?.service] }] : [],
  );
  return {
    held: {
      link: first?.link ?? null,
      customerNumber: first?.customerNumber ?? null,
      row: first?.row ?? null,
      items: items.map(({ item }) => item),
      services: [...services.values()].sort((a, b) => a.id - b.id),
    },
    versions: [
      first?.versions?.link ?? '',
      first?.versions?.row ?? '',
      items.map(({ version }) => version.filter((part) => part != null).join(' ')).join(),
    ].join('; '),
    outcome: first?.outcome ?? null,
  };
}

/** Locks all of it, and fails with a conflict where a row of a glimpse has changed since. */
export const requireHeld = statement(
  ['customer', 'subscription', 'versions'],
  (_, { customer, subscription, versions }) =>
    // Outside of a transaction, which would have brought its limits.
    sql`select ${localLimit('lock_timeout')}, lock_held(${customer}, ${subscription}, ${versions})`,
);

const lock = statement(
  ['customer', 'subscription'],
  (_, { customer, subscription }) => sql`select lock_held(${customer}, ${subscription})`,
);

interface Found {
  link: StoredLink | null;
  row: StoredSubscription | null;
  item: StoredItem | null;
  customerNumber: string | null;
  service: Omit<HeldService, 'isAlone'> | null;
  /** An item of another subscription has the service, too: whoever adds one gives the service a new version. */
  isShared: boolean;
  versions: Record<'link' | 'row' | 'item' | 'service', string | null> | null;
  outcome: StoredOutcome | null;
}

const versionOf = (table: Table) => sql<string | null>`${table}.xmin::text`;

const read = statement(
  ['customer', 'subscription', 'event'],
  (db, { customer, subscription, event }) =>
    db
      .select({
        link: getTableColumns(stripeCustomers),
        row: getTableColumns(subscriptions),
        item: getTableColumns(subscriptionItems),
        customerNumber: customers.customer_number,
        service: {
          id: customerServices.id,
          ...serviceDates,
          number: customerServices.service_number,
          customer_id: customerServices.customer_id,
        },
        isShared: sql<boolean>`exists (select from subscription_items o
          where o.customer_service_id = ${customerServices.id} and o.subscription_id <> ${subscriptions.id})`,
        versions: {
          link: versionOf(stripeCustomers),
          row: versionOf(subscriptions),
          item: versionOf(subscriptionItems),
          service: versionOf(customerServices),
        },
        outcome: stripeEvents.outcome,
      })
      .from(sql`(select) as one`)
      .leftJoin(stripeEvents, eq(stripeEvents.id, event))
      .leftJoin(stripeCustomers, eq(stripeCustomers.stripe_customer_id, customer))
      .leftJoin(customers, eq(customers.id, stripeCustomers.customer_id))
      .leftJoin(subscriptions, eq(subscriptions.stripe_subscription_id, subscription))
      .leftJoin(subscriptionItems, eq(subscriptionItems.subscription_id, subscriptions.id))
      .leftJoin(customerServices, eq(customerServices.id, subscriptionItems.customer_service_id))
      .orderBy(subscriptionItems.id) as unknown as Builder<Found[]>,
);
