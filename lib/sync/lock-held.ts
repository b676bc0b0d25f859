import { eq, inArray, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, stripeCustomers, subscriptionItems, subscriptions } from '@/db/schema';
import { type Builder, statement } from '@/db/statement';
import type { DatedService } from './update-service-dates';

export type StoredLink = typeof stripeCustomers.$inferSelect;
export type StoredSubscription = typeof subscriptions.$inferSelect;
export type StoredItem = typeof subscriptionItems.$inferSelect;

/** What we hold of a Stripe customer's subscription. */
export interface Held {
  link: StoredLink | null;
  row: StoredSubscription | null;
  items: StoredItem[];
  /** Those of the items. */
  services: DatedService[];
}

/** Reads and locks what a subscription of Stripe's changes here, in one round trip. */
export async function lockHeld(tx: Database, customer: string, subscription: string): Promise<Held> {
  const found = await read(tx, { customer, subscription });
  const [first] = found;
  const services = found.flatMap(({ service, isShared, seen }) =>
    service ? [{ id: service.id, date: service.date, isAlone: !isShared && service.version === seen }] : [],
  );
  return {
    link: first?.link ?? null,
    row: first?.row ?? null,
    items: found.flatMap(({ item }) => item ?? []),
    services: [...new Map(services.map((service) => [service.id, service])).values()],
  };
}

interface Found {
  link: StoredLink | null;
  row: StoredSubscription | null;
  item: StoredItem | null;
  service: { id: number; date: string | null; version: string } | null;
  isShared: boolean;
  /** The version of the service that was there when the statement began: another was waited for. */
  seen: string | null;
}

const read = statement(['customer', 'subscription'], (db, { customer, subscription }) => {
  const link = db
    .$with('link')
    .as(
      db.select().from(stripeCustomers).where(eq(stripeCustomers.stripe_customer_id, customer)).for('update'),
    );
  const row = db
    .$with('held')
    .as(
      db
        .select()
        .from(subscriptions)
        .where(eq(subscriptions.stripe_subscription_id, subscription))
        .for('update'),
    );
  const item = db.$with('item').as(
    db
      .select()
      .from(subscriptionItems)
      .where(inArray(subscriptionItems.subscription_id, db.select({ id: row.id }).from(row))),
  );
  const service = db.$with('service').as(
    db
      .select({
        id: customerServices.id,
        date: customerServices.next_billing_date,
        version: sql<string>`${customerServices}.xmin::text`.as('version'),
      })
      .from(customerServices)
      .where(inArray(customerServices.id, db.select({ id: item.customer_service_id }).from(item)))
      .orderBy(customerServices.id)
      .for('update'),
  );
  return db
    .with(link, row, item, service)
    .select({
      link: link._.selectedFields,
      row: row._.selectedFields,
      item: item._.selectedFields,
      service: service._.selectedFields,
      isShared: sql<boolean>`exists (select from subscription_items o
        where o.customer_service_id = ${service.id} and o.subscription_id <> ${row.id})`,
      seen: sql<string>`(select s.xmin::text from customer_services s where s.id = ${service.id})`,
    })
    .from(sql`(select) as one`)
    .leftJoin(link, sql`true`)
    .leftJoin(row, sql`true`)
    .leftJoin(item, sql`true`)
    .leftJoin(service, eq(service.id, item.customer_service_id))
    .orderBy(item.id) as unknown as Builder<Found[]>;
});
