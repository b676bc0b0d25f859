import { count, sum } from 'drizzle-orm';
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
});

/** Counts and sums of the invoices that the filters find, per currency and status. */
export async function summarizeInvoices(
  db: Database,
  filters: InvoiceFilters,
): Promise<z.infer<typeof invoiceSums>[]> {
  if ((filters.customer_id ?? 0) > MAX_ID) return [];
  const { currency, status } = invoices;
  const found = await db
    .select({
      currency,
      status,
      count: count(),
      total: sum(invoices.total),
      amount_paid: sum(invoices.amount_paid),
      amount_due: sum(invoices.amount_due),
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
  }));
}
