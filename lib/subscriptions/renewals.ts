import { and, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { subscriptions } from '@/db/schema';
import { readSortedPage, type SortedPage } from '../counted-list/sorted-page';
import type { PageStart } from '../cursor-page';
import { type Days, LAST_DAY } from '../services/renewals';
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
