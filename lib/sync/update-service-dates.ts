import { and, eq, isNotNull, max, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, subscriptionItems, subscriptions } from '@/db/schema';
import { runTogether, statement, type Write } from '@/db/statement';
import { isOfSureCustomer } from '../customers/sure-link';
import type { SyncContext } from './context';
import { type Billed, combineBilled, type ServiceDates, toServiceDates } from './service-dates';
import { isSameState, toChanges } from './write-changes';

/**
 * Brings the dates of the services in a subscription's items up to date: they are billed at the latest period
 * end over all live subscriptions of surely known customers that hold them, and end with the last of these
 * where all are to end.
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

export interface DatedService extends ServiceDates {
  id: number;
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

/** Those columns. */
export const serviceDates = {
  next_billing_date: customerServices.next_billing_date,
  synced_billing_date: customerServices.synced_billing_date,
  ends_on: customerServices.ends_on,
};

const lockByIds = statement(['ids'], (db, { ids }) =>
  db
    .select({ id: customerServices.id, ...serviceDates })
    .from(customerServices)
    .where(sql`${customerServices.id} = any(${ids}::int[])`)
    .orderBy(customerServices.id)
    .for('update'),
);

/**
 * What brings the dates of locked services up to date.
 *
 * @param own a subscription whose items are not written yet; none of them where it is not live any more
 */
export async function dateWrites(
  ctx: SyncContext,
  services: DatedService[],
  own: OwnItems = { subscriptionId: 0, items: [], cancel_at: null },
): Promise<Write[]> {
  const shared = services.filter(({ isAlone }) => !isAlone).map(({ id }) => id);
  const others = await readBilled(ctx.tx, shared, own.subscriptionId);
  return services.flatMap(({ id, isAlone, ...held }) => {
    const dates = toServiceDates(held, billedBy(own, id, others.get(id)), ctx.timeZone);
    if (isSameState(held, dates)) {
      // Who reads it at this moment, and finds it alone, is told by its version that it may not be.
      return isAlone === undefined ? [setDates.with({ id, ...dates })] : [];
    }
    const subject = { entity: 'customer_service' as const, entity_id: id, stripe_id: null };
    ctx.changes.push(...toChanges(subject, held, dates));
    return setDates.with({ id, ...dates });
  });
}

interface OwnItems {
  subscriptionId: number;
  items: DatedItem[];
  cancel_at: Date | null;
}

export type DatedItem = Pick<
  typeof subscriptionItems.$inferSelect,
  'customer_service_id' | 'current_period_end'
>;

function billedBy(own: OwnItems, serviceId: number, others: Billed | undefined): Billed | undefined {
  const ends = own.items
    .filter((item) => item.customer_service_id === serviceId)
    .flatMap(({ current_period_end: until }) => (until ? [{ until, endsAt: own.cancel_at }] : []));
  return combineBilled(others ? [...ends, others] : ends);
}

const setDates = statement(
  ['id', 'next_billing_date', 'synced_billing_date', 'ends_on'],
  (db, { id, ...dates }) => db.update(customerServices).set(dates).where(eq(customerServices.id, id)),
);

/**
 * By service, how long the live subscriptions that hold it bill it.
 *
 * @param except a subscription that does not count
 */
export async function readBilled(
  db: Database,
  serviceIds: number[],
  except = 0,
): Promise<Map<number, Billed>> {
  if (serviceIds.length === 0) return new Map();
  const found = await readEnds(db, { ids: toArrayText(serviceIds), except });
  return new Map(
    found.flatMap(({ id, until, endsAt }) => (id && until ? [[id, { until, endsAt }] as const] : [])),
  );
}

const readEnds = statement(['ids', 'except'], (db, { ids, except }) =>
  db
    .select({
      id: subscriptionItems.customer_service_id,
      until: max(subscriptionItems.current_period_end),
      endsAt: sql<Date | null>`case when bool_and(${subscriptions.cancel_at} is not null)
        then max(${subscriptions.cancel_at}) end`.mapWith(subscriptions.cancel_at),
    })
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
