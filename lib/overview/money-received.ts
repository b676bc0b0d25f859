import { and, count, eq, gte, lte, sql, sum } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { addDays } from '../dates';
import { type CurrencySum, toCurrencySum } from './currency-sum';

/** The periods that staff look at, in days. */
export const PERIODS = [30, 90, 365] as const;
export type Period = (typeof PERIODS)[number];

export interface MoneyReceived {
  /** All that was received, the currency of most payments first. */
  sums: CurrencySum[];
  /** The one that the days are of; null without any payment. */
  currency: string | null;
  /** Every day of the period, also those without a payment. */
  days: { date: string; count: number; total: number }[];
}

/**
 * Completed payments of the last days, today included.
 *
 * @param today the calendar date in the service's zone
 * @param wanted the currency of the days, where there is one; else that of most payments
 */
export async function getMoneyReceived(
  db: Database,
  today: string,
  period: Period,
  wanted?: string,
): Promise<MoneyReceived> {
  const first = addDays(today, 1 - period);
  const found = await db
    .select({
      currency: payments.currency,
      /** Null in a currency's sum of all days. */
      date: sql<string | null>`${payments.payment_date}`,
      count: count(),
      total: sum(payments.amount),
    })
    .from(payments)
    .where(
      and(
        eq(payments.status, 'completed'),
        gte(payments.payment_date, first),
        lte(payments.payment_date, today),
      ),
    )
    .groupBy(sql`grouping sets ((${payments.currency}, ${payments.payment_date}), (${payments.currency}))`);
  const rows = found.map(({ date, ...row }) => ({ date, ...toCurrencySum(row) }));
  const sums = rows
    .flatMap(({ date, ...sum }) => (date === null ? [sum] : []))
    .sort((a, b) => b.count - a.count || a.currency.localeCompare(b.currency));
  const { currency } = sums.find((one) => one.currency === wanted) ?? sums[0] ?? { currency: null };
  const byDate = new Map(rows.filter((row) => row.currency === currency).map((row) => [row.date, row]));
  const days = Array.from({ length: period }, (_, i) => {
    const date = addDays(first, i);
    return { date, count: byDate.get(date)?.count ?? 0, total: byDate.get(date)?.total ?? 0 };
  });
  return { sums, currency, days };
}
