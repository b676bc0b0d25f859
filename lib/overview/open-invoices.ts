import { count, desc, inArray, sql, sum } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import { UNPAID_STATUSES } from '../overdue';
import { type CurrencySum, toCurrencySum } from './currency-sum';

export interface OpenInvoices {
  /** Sent and overdue ones; the currency of most first. */
  open: CurrencySum[];
  /** The overdue ones among them. */
  overdue: CurrencySum[];
}

/** What customers have still to pay. */
export async function sumOpenInvoices(db: Database): Promise<OpenInvoices> {
  const isOverdue = sql`${invoices.status} = 'overdue'`;
  const sums = await db
    .select({
      currency: invoices.currency,
      count: count(),
      total: sum(invoices.amount_due),
      overdue_count: sql<number>`(count(*) filter (where ${isOverdue}))::int`,
      overdue_total: sql<string | null>`(sum(${invoices.amount_due}) filter (where ${isOverdue}))::text`,
    })
    .from(invoices)
    .where(inArray(invoices.status, UNPAID_STATUSES))
    .groupBy(invoices.currency)
    .orderBy(desc(count()), invoices.currency);
  return {
    open: sums.map(({ currency, count, total }) => toCurrencySum({ currency, count, total })),
    overdue: sums
      .filter(({ overdue_count }) => overdue_count > 0)
      .map((row) =>
        toCurrencySum({ currency: row.currency, count: row.overdue_count, total: row.overdue_total }),
      ),
  };
}
