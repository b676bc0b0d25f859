import { and, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, rows } from '@/db/database';
import { customerServices } from '@/db/schema';
import { readSortedPage } from '../counted-list/sorted-page';
import { addDays, addMonths, toCalendarDate } from '../dates';
import { dateRange, isInOrder, oneOf, WRONG_ORDER } from '../fields';
import { toJsonAmounts } from '../money';
import { perPageParam } from '../page';
import type { PageStart } from '../page-query';
import { NEXT_BILLING, readServices } from './queries';

const s = customerServices;
/** The last day of a range without an end. It excludes rows without a date, whose indexed date is `infinity`. */
const LAST_DAY = '9999-12-31';

/** The kinds of records that renew: services, and subscriptions with their items. */
export const RENEWING = ['services', 'subscriptions'] as const;

/** The filters of the renewals page. */
export const renewalFilters = z
  .object({ ...dateRange, of: oneOf(RENEWING).optional(), per_page: perPageParam })
  .refine(isInOrder, WRONG_ORDER);

/** A range of days. Both ends are inclusive, and either may be absent. */
export interface Days {
  from?: string | undefined;
  to?: string | undefined;
}

/** Count and sum of the renewals in one month and currency. `month` is the month's first day. */
export type RenewalSum = Awaited<ReturnType<typeof sumRenewals>>[number];

/** Lists a page of the active services that will be billed again in a range of days, the earliest day first. */
export function listServiceRenewals(db: Database, days: Days, start: PageStart, size: number) {
  const renews = sql`${s.status} = 'active' and (${s.ends_on} is null or ${s.next_billing_date} < ${s.ends_on})`;
  const where = and(renews, isWithin(NEXT_BILLING, days));
  const sorted = { table: s, where, by: NEXT_BILLING, descends: false };
  return readSortedPage(db, sorted, { start, size }, readServices);
}

/**
 * Sums renewals by month and currency. For services, sums the prices of active services that will be billed again. For
 * subscriptions, sums the fixed amounts of items that will be billed again, each on the item's own renewal day. The
 * database updates the sums whenever services, subscriptions or items are written.
 */
export async function sumRenewals(
  db: Database,
  of: (typeof RENEWING)[number],
  { from = '-infinity', to = 'infinity' }: Days,
) {
  const kept = of === 'services' ? 'service_renewals' : 'item_renewals';
  const sums = await rows<Record<'month' | 'currency' | 'total', string> & { count: number }>(
    db,
    sql`select date_trunc('month', day)::date::text as month, currency, sum(row_count)::int as count,
        sum(amount)::text as total
      from (select * from sums union all select * from sum_deltas) kept
      where of = ${kept} and day between ${from}::date and ${to}::date
      group by 1, 2 having sum(row_count) > 0 order by 1, 3 desc, 2`,
  );
  return sums.map((row) => toJsonAmounts(row, 'total'));
}

/** Returns the days of a sum's month that are within the range for which the sums were read. */
export function daysOfSum({ month }: Pick<RenewalSum, 'month'>, { from = month, to }: Days) {
  const next = toCalendarDate(addMonths(new Date(`${month}T00:00:00Z`), 1), 'UTC');
  const last = addDays(next, -1);
  return { from: from > month ? from : month, to: to !== undefined && to < last ? to : last };
}

/** Returns an SQL condition that a day is in a range. Rows without a date have the day `infinity` and never match. */
export function isWithin(day: SQL, { from, to }: Days): SQL | undefined {
  return and(
    from === undefined ? undefined : sql`${day} >= ${from}::date`,
    sql`${day} <= ${to ?? LAST_DAY}::date`,
  );
}
