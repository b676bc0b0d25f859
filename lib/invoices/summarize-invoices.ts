import { count, sql, sum } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import { toJsonAmount } from '../money';
import { MAX_ID } from '../page';
import { matchInvoices } from './queries';
import type { InvoiceFilters } from './schema';

/** Invoices of one currency and status together. */
export const invoiceSums = z.object({
  currency: z.string(),
  status: z.string(),
  count: z.int(),
  total: z.number(),
  amount_paid: z.number(),
  amount_due: z.number(),
  /** Neither paid nor due: by credit notes, or by the customer's balance at Stripe. */
  settled_by_credit: z.number(),
  /** Of `amount_due`: Stripe has given up collecting it. */
  written_off: z.number(),
});

/** Counts and sums of the invoices that the filters find, per currency and status. */
export async function summarizeInvoices(
  db: Database,
  filters: InvoiceFilters,
): Promise<z.infer<typeof invoiceSums>[]> {
  if ((filters.customer_id ?? 0) > MAX_ID) return [];
  const { currency, status, total, amount_paid, amount_due } = invoices;
  const found = await db
    .select({
      currency,
      status,
      count: count(),
      total: sum(total),
      amount_paid: sum(amount_paid),
      amount_due: sum(amount_due),
      // Nothing of a cancelled invoice is settled: its total was never to be paid.
      settled_by_credit: sum(
        sql`case when ${status} <> 'cancelled' then greatest(${total} - ${amount_paid} - ${amount_due}, 0) end`,
      ),
      written_off: sum(sql`case when ${invoices.uncollectible} then ${amount_due} end`),
    })
    .from(invoices)
    .where(matchInvoices(filters))
    .groupBy(currency, status)
    .orderBy(currency, status);
  return found.map((row) => ({
    ...row,
    total: toJsonAmount(row.total ?? '0'),
    amount_paid: toJsonAmount(row.amount_paid ?? '0'),
    amount_due: toJsonAmount(row.amount_due ?? '0'),
    settled_by_credit: toJsonAmount(row.settled_by_credit ?? '0'),
    written_off: toJsonAmount(row.written_off ?? '0'),
  }));
}
