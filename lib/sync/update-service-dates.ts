import { and, eq, isNotNull, max, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, subscriptionItems, subscriptions } from '@/db/schema';
import { statement } from '@/db/statement';
import { toCalendarDate } from '../dates';
import type { SyncContext } from './context';

/**
 * Sets the next billing date of the services in a subscription's items: the latest period end over all
 * live subscriptions that hold the service; without a live one it stays.
 *
 * @param before the items as they were: a service that left must be looked at too
 */
export async function updateServiceDates(
  ctx: SyncContext,
  subscriptionId: number,
  before: { customer_service_id: number | null }[],
): Promise<void> {
  const now = await ctx.tx
    .select({ id: subscriptionItems.customer_service_id })
    .from(subscriptionItems)
    .where(eq(subscriptionItems.subscription_id, subscriptionId));
  await updateDatesOf(ctx, [...before.map((item) => item.customer_service_id), ...now.map(({ id }) => id)]);
}

/** The same for services by their ids. */
export async function updateDatesOf(ctx: SyncContext, serviceIds: (number | null)[]): Promise<void> {
  const wanted = [...new Set(serviceIds.filter((id) => id !== null))];
  if (wanted.length === 0) return;
  const services = await lockServices(ctx.tx, { ids: toArrayText(wanted) });
  const ends = await latestPeriodEnds(ctx.tx, wanted);
  for (const service of services) {
    const end = ends.get(service.id);
    const date = end ? toCalendarDate(end, ctx.timeZone) : service.date;
    if (date === service.date) continue;
    ctx.changes.push({
      entity: 'customer_service',
      entity_id: service.id,
      stripe_id: null,
      field: 'next_billing_date',
      before: service.date,
      after: date,
      outcome: 'fixed',
    });
    await setDate(ctx.tx, { id: service.id, date });
  }
}

const lockServices = statement(['ids'], (db, { ids }) =>
  db
    .select({ id: customerServices.id, date: customerServices.next_billing_date })
    .from(customerServices)
    .where(sql`${customerServices.id} = any(${ids}::int[])`)
    .orderBy(customerServices.id)
    .for('update'),
);

const setDate = statement(['id', 'date'], (db, { id, date }) =>
  db.update(customerServices).set({ next_billing_date: date }).where(eq(customerServices.id, id)),
);

/** By service, the latest period end over its items in live subscriptions. */
export async function latestPeriodEnds(db: Database, serviceIds: number[]): Promise<Map<number, Date>> {
  if (serviceIds.length === 0) return new Map();
  const found = await readLatestEnds(db, { ids: toArrayText(serviceIds) });
  return new Map(found.flatMap(({ id, end }) => (id !== null && end ? [[id, end] as const] : [])));
}

const readLatestEnds = statement(['ids'], (db, { ids }) =>
  db
    .select({ id: subscriptionItems.customer_service_id, end: max(subscriptionItems.current_period_end) })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(
      and(
        sql`${subscriptionItems.customer_service_id} = any(${ids}::int[])`,
        ne(subscriptions.status, 'cancelled'),
        isNotNull(subscriptionItems.current_period_end),
      ),
    )
    .groupBy(subscriptionItems.customer_service_id),
);

/** As PostgreSQL reads an array: one text for any number of ids. */
function toArrayText(ids: number[]): string {
  return `{${ids.join()}}`;
}
