import { count, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { disputes } from '@/db/schema';
import { allSums } from '../counted-list/list-sums';
import { addDays, startOfDay } from '../dates';
import { toJsonAmount, toJsonAmounts } from '../money';
import { cameBackSince, isOpenDispute } from '../payments/money-back';

/** A sum in major units of its currency, and the number of records in it. */
export interface CurrencySum {
  currency: string;
  count: number;
  total: number;
}

/** The periods that staff can choose on the overview page, in days. */
export const PERIODS = [30, 90, 365] as const;

export type Period = (typeof PERIODS)[number];

/** The service's time zone, and the current date in it. */
type Today = Record<'today' | 'timeZone', string>;

/**
 * Returns the money received in the last `period` days, including today, minus refunds and lost disputes.
 *
 * A payment counts with its whole amount on its date, even if it is refunded later. A refund or lost dispute is
 * subtracted on its own day (see `COUNTED_BACK`), in the service's time zone, so it does not change the day of the
 * payment. A payment that was marked as refunded without a matching refund does not count. The unused credit of a
 * transfer counts on the transfer's day, on which its later payments count too. Credit that was paid back does not count.
 * A total is negative if more was returned than received. A count is the number of payments.
 *
 * @param wanted the currency of `days`, if `sums` contains it; defaults to the currency with the most payments
 * @returns `sums`: one per currency, the one with the most payments first; `currency`: null if `sums` is empty;
 *   `days`: all days of the period in `currency`, including days without a payment
 */
export async function getMoneyReceived(
  db: Database,
  { today, timeZone }: Today,
  period: Period,
  wanted?: string,
) {
  const first = addDays(today, 1 - period);
  const found = await readReceivedDays(db, { first, today, timeZone });
  const sums = found
    .flatMap(({ date, ...sum }) => (date === null ? [sum] : []))
    .sort((a, b) => b.count - a.count || a.currency.localeCompare(b.currency));
  const { currency } = sums.find((one) => one.currency === wanted) ?? sums[0] ?? { currency: null };
  const byDate = new Map(found.filter((row) => row.currency === currency).map((row) => [row.date, row]));
  const days = Array.from({ length: period }, (_, i) => {
    const date = addDays(first, i);
    const { count = 0, total = 0, returned = 0 } = byDate.get(date) ?? {};
    return { date, count, total, returned };
  });
  return { sums, currency, days };
}

async function readReceivedDays(db: Database, { first, today, timeZone }: Today & { first: string }) {
  // The grouping set `(currency)` adds one row per currency, with the sum of all days and a null date.
  const found = await rows<
    Record<'currency' | 'total' | 'returned', string> & { date: string | null; count: number }
  >(
    db,
    sql`
      select currency, day::text as date, sum(paid)::int as count,
        sum(received - back)::text as total, sum(back)::text as returned
      from (
        select currency, day, row_count as paid, 0 as back, amount as received
        from (select * from sums union all select * from sum_deltas) kept
        where of = 'received' and day between ${first}::date and ${today}::date
        union all
        select currency, payment_date, (credit = amount)::int, 0, credit from transfers
        where credit > 0 and payment_date between ${first}::date and ${today}::date
        union all
        select currency, (at at time zone ${timeZone}::text)::date, 0, back, 0
        from (${cameBackSince(startOfDay(first, timeZone))}) returned
        where back > 0
      ) moved
      where day <= ${today}::date
      group by grouping sets ((currency, day), (currency))
      having sum(paid) > 0 or sum(back) > 0 or sum(received) > 0`,
  );
  return found.map((row) => toJsonAmounts(row, 'total', 'returned'));
}

/** Sums all unpaid invoices, and the overdue ones among them, by currency. The most frequent currency comes first. */
export async function sumOpenInvoices(db: Database): Promise<Record<'open' | 'overdue', CurrencySum[]>> {
  const sums = await rows<
    Record<'currency' | 'total' | 'overdue_total', string> & Record<'count' | 'overdue_count', number>
  >(
    db,
    sql`
      select currency, sum(row_count)::int as count, sum(amount_due)::text as total,
        coalesce(sum(row_count) filter (where kind = 'overdue'), 0)::int as overdue_count,
        coalesce(sum(amount_due) filter (where kind = 'overdue'), 0)::text as overdue_total
      from (${allSums('invoice')}) kept
      where kind in ('sent', 'overdue')
      group by currency having sum(row_count) > 0
      order by count desc, currency`,
  );
  return {
    open: sums.map(({ currency, count, total }) => ({ currency, count, total: toJsonAmount(total) })),
    overdue: sums.flatMap(({ currency, overdue_count: count, overdue_total: total }) =>
      count > 0 ? [{ currency, count, total: toJsonAmount(total) }] : [],
    ),
  };
}

/**
 * Counts the undecided disputes and inquiries, and how many of them Stripe expects us to answer.
 *
 * @returns the counts, and the earliest deadline for an answer; the deadline is null if Stripe has not sent one
 */
export async function getOpenDisputes(db: Database) {
  const isUnanswered = sql`${disputes.status} in ('needs_response', 'warning_needs_response')`;
  const [found] = await db
    .select({
      count: count(),
      unanswered: sql<number>`(count(*) filter (where ${isUnanswered}))::int`,
      next_due: sql<Date | null>`min(${disputes.evidence_due_at}) filter (where ${isUnanswered})`.mapWith(
        disputes.evidence_due_at,
      ),
    })
    .from(disputes)
    .where(isOpenDispute);
  return found ?? { count: 0, unanswered: 0, next_due: null };
}
