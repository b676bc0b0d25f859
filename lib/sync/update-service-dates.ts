import { and, eq, isNotNull, max, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, subscriptionItems, subscriptions } from '@/db/schema';
import { runTogether, statement, type Write } from '@/db/statement';
import { isOfSureCustomer } from '../customers/sure-link';
import { latest, toCalendarDate } from '../dates';
import type { SyncContext } from './context';

/**
 * Sets the next billing date of the services in a subscription's items: the latest period end over all
 * live subscriptions of surely known customers that hold the service; without one it stays.
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
  const writes = await dateWrites(ctx, await lockServices(ctx, serviceIds));
  await runTogether(ctx.tx, writes);
}

export interface DatedService {
  id: number;
  date: string | null;
  /** In no other subscription than the one at hand, for sure; undefined: an item may just have come to it. */
  isAlone?: boolean;
}

/** Locks services, whose dates nobody else then changes. @param locked what is so already */
export async function lockServices(
  { tx }: SyncContext,
  serviceIds: (number | null)[],
  locked: DatedService[] = [],
): Promise<DatedService[]> {
  const ids = [...new Set(serviceIds.filter((id) => id !== null))];
  const held = locked.filter(({ id }) => ids.includes(id));
  const others = ids.filter((id) => !held.some((service) => service.id === id));
  if (others.length === 0) return held;
  return [...held, ...(await lockByIds(tx, { ids: toArrayText(others) }))];
}

const lockByIds = statement(['ids'], (db, { ids }) =>
  db
    .select({ id: customerServices.id, date: customerServices.next_billing_date })
    .from(customerServices)
    .where(sql`${customerServices.id} = any(${ids}::int[])`)
    .orderBy(customerServices.id)
    .for('update'),
);

/**
 * What brings the dates of locked services up to date.
 *
 * @param own a subscription's items that are not written yet, or those of none that is live any more
 */
export async function dateWrites(
  ctx: SyncContext,
  services: DatedService[],
  own: { subscriptionId: number; items: DatedItem[] } = { subscriptionId: 0, items: [] },
): Promise<Write[]> {
  const shared = services.filter(({ isAlone }) => !isAlone).map(({ id }) => id);
  const ends = await latestPeriodEnds(ctx.tx, shared, own.subscriptionId);
  return services.flatMap((service) => {
    const end = latestOf([
      ...own.items.filter((item) => item.customer_service_id === service.id),
      { current_period_end: ends.get(service.id) ?? null },
    ]);
    const date = end ? toCalendarDate(end, ctx.timeZone) : service.date;
    if (date === service.date) {
      // Who reads it at this moment, and finds it alone, is told by its version that it may not be.
      return service.isAlone === undefined ? [setDate.with({ id: service.id, date })] : [];
    }
    ctx.changes.push({
      entity: 'customer_service',
      entity_id: service.id,
      stripe_id: null,
      field: 'next_billing_date',
      before: service.date,
      after: date,
      outcome: 'fixed',
    });
    return setDate.with({ id: service.id, date });
  });
}

export type DatedItem = Pick<
  typeof subscriptionItems.$inferSelect,
  'customer_service_id' | 'current_period_end'
>;

function latestOf(items: Pick<DatedItem, 'current_period_end'>[]): Date | null {
  const ends = items.map((item) => item.current_period_end).filter((end) => end !== null);
  return ends.length > 0 ? latest(...(ends as [Date, ...Date[]])) : null;
}

const setDate = statement(['id', 'date'], (db, { id, date }) =>
  db.update(customerServices).set({ next_billing_date: date }).where(eq(customerServices.id, id)),
);

/**
 * By service, the latest period end over its items in live subscriptions.
 *
 * @param except a subscription that does not count
 */
export async function latestPeriodEnds(
  db: Database,
  serviceIds: number[],
  except = 0,
): Promise<Map<number, Date>> {
  if (serviceIds.length === 0) return new Map();
  const found = await readLatestEnds(db, { ids: toArrayText(serviceIds), except });
  return new Map(found.flatMap(({ id, end }) => (id !== null && end ? [[id, end] as const] : [])));
}

const readLatestEnds = statement(['ids', 'except'], (db, { ids, except }) =>
  db
    .select({ id: subscriptionItems.customer_service_id, end: max(subscriptionItems.current_period_end) })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(
      and(
        sql`${subscriptionItems.customer_service_id} = any(${ids}::int[])`,
        sql`${subscriptionItems.subscription_id} <> ${except}::int`,
        ne(subscriptions.status, 'cancelled'),
        isOfSureCustomer(subscriptions),
        isNotNull(subscriptionItems.current_period_end),
      ),
    )
    .groupBy(subscriptionItems.customer_service_id),
);

/** As PostgreSQL reads an array: one text for any number of ids. */
function toArrayText(ids: number[]): string {
  return `{${ids.join()}}`;
}
