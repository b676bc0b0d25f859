import { and, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { subscriptions } from '@/db/schema';
import { readSortedPage, type SortedPage } from '../counted-list/sorted-page';
import type { PageStart } from '../cursor-page';
import type { Days } from '../services/renewals';
import { type ListedSubscription, readSubscriptions } from './queries';

const s = subscriptions;

/** One page of the live subscriptions that do not end, by the day on which they are billed next. */
export async function listSubscriptionRenewals(
  db: Database,
  days: Days,
  start: PageStart,
  size: number,
): Promise<SortedPage<ListedSubscription>> {
  const sorted = { table: s, where: renews(days), by: sql`${s.next_billing_date}`, descends: false };
  return readSortedPage(db, sorted, { start, size }, readSubscriptions);
}

/** As the partial index over them says. */
function renews({ from, to }: Days): SQL | undefined {
  return and(
    sql`${s.next_billing_date} is not null and ${s.cancel_at} is null and not ${s.cancel_at_period_end}
      and ${s.status} in ('trialing', 'active', 'past_due')`,
    from === undefined ? undefined : sql`${s.next_billing_date} >= ${from}::date`,
    to === undefined ? undefined : sql`${s.next_billing_date} <= ${to}::date`,
  );
}
