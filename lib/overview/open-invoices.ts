import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { type CurrencySum, toCurrencySum } from './currency-sum';

export interface OpenInvoices {
  /** Sent and overdue ones; the currency of most first. */
  open: CurrencySum[];
  /** The overdue ones among them. */
  overdue: CurrencySum[];
}

interface Summed {
  [column: string]: unknown;
  currency: string;
  count: number;
  total: string;
  overdue_count: number;
  overdue_total: string | null;
}

/** What customers have still to pay. */
export async function sumOpenInvoices(db: Database): Promise<OpenInvoices> {
  const sums = await rows<Summed>(
    db,
    sql`
      select currency, sum(row_count)::int as count, sum(amount)::text as total,
        coalesce(sum(row_count) filter (where of = 'overdue'), 0)::int as overdue_count,
        (sum(amount) filter (where of = 'overdue'))::text as overdue_total
      from (select * from sums union all select * from sum_deltas) kept
      where of in ('sent', 'overdue')
      group by currency having sum(row_count) > 0
      order by count desc, currency`,
  );
  return {
    open: sums.map(({ currency, count, total }) => toCurrencySum({ currency, count, total })),
    overdue: sums
      .filter(({ overdue_count }) => overdue_count > 0)
      .map((row) =>
        toCurrencySum({ currency: row.currency, count: row.overdue_count, total: row.overdue_total }),
      ),
  };
}
