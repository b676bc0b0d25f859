import { and, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, rows } from '@/db/database';
import { customerServices } from '@/db/schema';
import { readSortedPage } from '../counted-list/sorted-page';
import { dateRange, isInOrder, oneOf, WRONG_ORDER } from '../fields';
import { toJsonAmounts } from '../money';
import { perPageParam } from '../page';
import type { PageStart } from '../page-query';
import { NEXT_BILLING, readServices } from './queries';

const s = customerServices;
/** Before `infinity`, where the indexes have the rows without a date. */
const LAST_DAY = '9999-12-31';

/** What renews: our services, or subscriptions at Stripe. */
export const RENEWING = ['services', 'subscriptions'] as const;

/** Which renewals staff look at. */
export const renewalFilters = z
  .object({ ...dateRange, of: oneOf(RENEWING).optional(), per_page: perPageParam })
  .refine(isInOrder, WRONG_ORDER);

/** Days from and to, both inclusive. */
export interface Days {
  from?: string | undefined;
  to?: string | undefined;
}

/** What renews in a month in one currency. */
export interface RenewalSum {
  /** Its first day. */
  month: string;
  currency: string;
  count: number;
  total: number;
}

/** One page of the active services that are billed before they end, by the day on which they are billed next. */
export function listServiceRenewals(db: Database, days: Days, start: PageStart, size: number) {
  const sorted = { table: s, where: renews(days), by: NEXT_BILLING, descends: false };
  return readSortedPage(db, sorted, { start, size }, readServices);
}

/**
 * The renewal amounts of active services, or of items of live subscriptions if their prices tell an amount, by month and
 * currency. Each item counts on its own day. The sums are kept as services and items are written.
 */
export async function sumRenewals(
  db: Database,
  of: (typeof RENEWING)[number],
  { from = '-infinity', to = 'infinity' }: Days,
): Promise<RenewalSum[]> {
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

function renews(days: Days): SQL | undefined {
  return and(
    sql`${s.status} = 'active' and (${s.ends_on} is null or ${s.next_billing_date} < ${s.ends_on})`,
    isWithin(NEXT_BILLING, days),
  );
}

/** The days of a column, `infinity` for rows without a date. */
export function isWithin(day: SQL, { from, to }: Days): SQL | undefined {
  return and(
    from === undefined ? undefined : sql`${day} >= ${from}::date`,
    sql`${day} <= ${to ?? LAST_DAY}::date`,
  );
}
