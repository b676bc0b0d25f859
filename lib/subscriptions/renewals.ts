import { and, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { subscriptions } from '@/db/schema';
import { allPages, readSortedPage, type SortedPage } from '../counted-list/sorted-page';
import { toCsv } from '../csv';
import { inColumns } from '../customers/queries';
import type { PageStart } from '../page-query';
import { type Days, LAST_DAY, listServiceRenewals } from '../services/renewals';
import { type ListedSubscription, readSubscriptions } from './queries';

const s = subscriptions;
/** As the index over it says. */
const NEXT_BILLING = sql`coalesce(${s.next_billing_date}, 'infinity')`;

/** One page of the live subscriptions that are billed again, by the day on which their earliest items are. */
export async function listSubscriptionRenewals(
  db: Database,
  days: Days,
  start: PageStart,
  size: number,
): Promise<SortedPage<ListedSubscription>> {
  const sorted = { table: s, where: renews(days), by: NEXT_BILLING, descends: false };
  return readSortedPage(db, sorted, { start, size }, readSubscriptions);
}

/** An item that is billed on another day is in the sums of that day, see `item_renewal_day`. */
function renews({ from, to }: Days): SQL | undefined {
  return and(
    sql`${s.status} in ('trialing', 'active', 'past_due')`,
    from === undefined ? undefined : sql`${NEXT_BILLING} >= ${from}::date`,
    sql`${NEXT_BILLING} <= ${to ?? LAST_DAY}::date`,
    sql`exists (
      select from (select) a left join subscription_items i on i.subscription_id = ${s.id}
      where item_renewal_day(i, subscriptions) = ${s.next_billing_date})`,
  );
}

const BATCH = 1000;
const OF_SERVICES = ['next_billing_date', 'service_number', 'name', 'domain', 'price', 'currency'];
const OF_SUBSCRIPTIONS = ['next_billing_date', 'id', 'stripe_subscription_id', 'status', 'services'];
const OF_BOTH = ['customer_number', 'customer_name'];

/** What renews on some days as CSV, piece by piece. */
export function renewalsCsv(
  db: Database,
  days: Days,
  of: 'services' | 'subscriptions',
): AsyncGenerator<string> {
  return of === 'services'
    ? toCsv([...OF_SERVICES, ...OF_BOTH], readServices(db, days))
    : toCsv([...OF_SUBSCRIPTIONS, ...OF_BOTH], readRenewals(db, days));
}

async function* readServices(db: Database, days: Days) {
  for await (const batch of allPages((start) => listServiceRenewals(db, days, start, BATCH))) {
    yield batch.map(inColumns);
  }
}

async function* readRenewals(db: Database, days: Days) {
  for await (const batch of allPages((start) => listSubscriptionRenewals(db, days, start, BATCH))) {
    yield batch.map(({ items, ...row }) => ({
      ...inColumns(row),
      services: items.flatMap(({ service }) => service?.service_number ?? []).join(' '),
    }));
  }
}
