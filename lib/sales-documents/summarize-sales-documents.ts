import { and, count, sum } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { salesDocuments } from '@/db/schema';
import { usedConditions } from '../counted-list/used-conditions';
import { toJsonAmount } from '../money';
import { MAX_ID } from '../page';
import { DOCUMENT_FILTERS } from './queries';
import type { SalesDocumentFilters } from './schema';

/** Documents of one currency, type and status together. */
export const documentSums = z.object({
  currency: z.string(),
  type: z.string(),
  status: z.string(),
  count: z.int(),
  total: z.number(),
});

/** Counts and sums of the documents that the filters find, per currency, type and status. */
export async function summarizeSalesDocuments(
  db: Database,
  { page: _, per_page: __, ...filters }: SalesDocumentFilters,
): Promise<z.infer<typeof documentSums>[]> {
  if ((filters.customer_id ?? 0) > MAX_ID) return [];
  const { currency, type, status } = salesDocuments;
  const found = await db
    .select({ currency, type, status, count: count(), total: sum(salesDocuments.total) })
    .from(salesDocuments)
    .where(and(...usedConditions(DOCUMENT_FILTERS, filters)))
    .groupBy(currency, type, status)
    .orderBy(currency, type, status);
  return found.map((row) => ({ ...row, total: toJsonAmount(row.total ?? '0') }));
}
