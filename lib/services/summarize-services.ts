import { and, count, sum } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { customerServices } from '@/db/schema';
import { usedConditions } from '../counted-list/used-conditions';
import { toJsonAmount } from '../money';
import { MAX_ID } from '../page';
import { containsPattern } from '../search-text';
import { SERVICE_FILTERS } from './queries';
import type { ServiceFilters } from './schema';

/** Services of one currency, status and interval together; prices of different intervals do not add up. */
export const serviceSums = z.object({
  currency: z.string(),
  status: z.string(),
  billing_interval: z.string(),
  count: z.int(),
  price_total: z.number(),
});

/** Counts and sums of the services that the filters find, per currency, status and billing interval. */
export async function summarizeServices(
  db: Database,
  { page: _, per_page: __, domain, ...filters }: ServiceFilters,
): Promise<z.infer<typeof serviceSums>[]> {
  if ((filters.customer_id ?? 0) > MAX_ID) return [];
  const { currency, status, billing_interval } = customerServices;
  const part = domain === undefined ? {} : { domain: containsPattern(domain) };
  const found = await db
    .select({ currency, status, billing_interval, count: count(), price_total: sum(customerServices.price) })
    .from(customerServices)
    .where(and(...usedConditions(SERVICE_FILTERS, { ...filters, ...part })))
    .groupBy(currency, status, billing_interval)
    .orderBy(currency, status, billing_interval);
  return found.map((row) => ({ ...row, price_total: toJsonAmount(row.price_total ?? '0') }));
}
