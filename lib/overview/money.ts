import { count, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { disputes } from '@/db/schema';
import { addDays, startOfDay } from '../dates';
import { toJsonAmount, toJsonAmounts } from '../money';
import { cameBackSince, isOpenDispute } from '../payments/money-back';

/** An amount in whole units of its currency, and over how many rows it sums up. */
export interface CurrencySum {
  currency: string;
  count: number;
  total: number;
}

/** The periods that staff look at, in days. */
export const PERIODS = [30, 90, 365] as const;

export type Period = (typeof PERIODS)[number];

/** Of payments, less what came back; the count is that of payments. */
interface Received {
  count: number;
  /** Below zero where more came back than was received. */
  total: number;
  /** What came back: refunds and lost disputes. */
  returned: number;
}

interface MoneyReceived {
  /** All that was received, the currency of most payments first. */
  sums: (CurrencySum & Received)[];
  /** The one that the days are of; null without any payment. */
  currency: string | null;
  /** Every day of the period, also those without a payment. */
  days: (Received & { date: string })[];
}

/** Now, as calendar date in the service's zone, and that zone. */
interface Today {
  today: string;
  timeZone: string;
}

/**
 * Money received in the last days, today included: what was paid, less what came back.
 *
 * A payment counts on its date with its whole amount, also after it was refunded, and what came back is taken off on
 * the day it went (see `COUNTED_BACK`), in the service's time zone: the days that are over stay as they were. Of a
 * payment that was noted as refunded without a refund that says how, nothing counts.
 *
 * @param wanted the currency of the days, if it has payments; else the currency of most payments
 */
export async function getMoneyReceived(
  db: Database,
  { today, timeZone }: Today,
  period: Period,
  wanted?: string,
): Promise<MoneyReceived> {
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
  // The date is null in a currency's sum of all days.
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
        select currency, (at at time zone ${timeZone}::text)::date, 0, back, 0
        from (${cameBackSince(startOfDay(first, timeZone))}) returned
        where back > 0
      ) moved
      where day <= ${today}::date
      group by grouping sets ((currency, day), (currency))
      having sum(paid) > 0 or sum(back) > 0`,
  );
  return found.map((row) => toJsonAmounts(row, 'total', 'returned'));
}

/** The sent and overdue invoices, and the overdue ones among them; the currency of most first. */
export async function sumOpenInvoices(db: Database): Promise<Record<'open' | 'overdue', CurrencySum[]>> {
  const sums = await rows<
    Record<'currency' | 'total' | 'overdue_total', string> & Record<'count' | 'overdue_count', number>
  >(
    db,
    sql`
      select currency, sum(row_count)::int as count, sum(amount)::text as total,
        coalesce(sum(row_count) filter (where of = 'overdue'), 0)::int as overdue_count,
        coalesce(sum(amount) filter (where of = 'overdue'), 0)::text as overdue_total
      from (select * from sums union all select * from sum_deltas) kept
      where of in ('sent', 'overdue')
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

interface OpenDisputes {
  count: number;
  /** Of them those that Stripe waits for an answer to. */
  unanswered: number;
  /** Until when the first of those is to be answered, where Stripe told. */
  next_due: Date | null;
}

/** Disputes and inquiries that are not decided yet. */
export async function getOpenDisputes(db: Database): Promise<OpenDisputes> {
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
