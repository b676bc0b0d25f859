import { and, asc, count, desc, eq, ilike, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, customers } from '@/db/schema';
import { matchNumbered } from '../customers/match-customer';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { toJsonAmount } from '../money';
import { MAX_ID, type Page, pageRequest, toPage } from '../page';
import { readPage } from '../page-query';
import { containsPattern } from '../search-text';
import { type ServiceFilters, type ServiceRow, servicePage } from './schema';

const s = customerServices;

/** Of a service in a list. */
export const serviceColumns = {
  id: s.id,
  service_number: s.service_number,
  service_type: s.service_type,
  status: s.status,
  name: s.name,
  domain: s.domain,
  server_id: s.server_id,
  price: s.price,
  currency: s.currency,
  billing_interval: s.billing_interval,
  start_date: s.start_date,
  next_billing_date: s.next_billing_date,
  ends_on: s.ends_on,
  cancelled_at: s.cancelled_at,
  customer: snippetColumns,
};

/** Narrows a list further than tools can. */
export interface ServiceConditions extends ServiceFilters {
  /** A whole number, or `#` and our id. */
  service_number?: string | undefined;
  server_id?: number | undefined;
}

/** Customer services by service number; a page past the last is empty. */
export async function listServices(db: Database, filters: ServiceConditions): Promise<Page<ServiceRow>> {
  const request = pageRequest(filters);
  if ((filters.customer_id ?? 0) > MAX_ID) return toPage(request, 0, []);
  const { service_number: number } = filters;
  const where = and(
    filters.customer_id === undefined ? undefined : eq(s.customer_id, filters.customer_id),
    filters.server_id === undefined ? undefined : eq(s.server_id, filters.server_id),
    number === undefined ? undefined : matchNumbered({ id: s.id, number: s.service_number }, number),
    filters.status && eq(s.status, filters.status),
    filters.service_type && eq(s.service_type, filters.service_type),
    filters.domain === undefined ? undefined : ilike(s.domain, containsPattern(filters.domain)),
  );
  const page = await readPage(
    request,
    ({ limit, offset }) => {
      // The ids first: the rows of the pages before are never joined.
      const ids = db.select({ id: s.id }).from(s).where(where);
      const found = ids
        .orderBy(...order(filters))
        .limit(limit)
        .offset(offset)
        .as('found');
      return db
        .select(serviceColumns)
        .from(found)
        .innerJoin(s, eq(s.id, found.id))
        .innerJoin(customers, eq(customers.id, s.customer_id))
        .orderBy(asc(s.service_number), desc(s.id));
    },
    async () => (await db.select({ total: count() }).from(s).where(where))[0]?.total ?? 0,
  );
  return servicePage.parse({ ...page, data: page.data.map(toServiceRow) });
}

function order({ domain }: ServiceFilters) {
  // Walking an index in this order would read every service to find the few of a domain.
  return [domain === undefined ? asc(s.service_number) : sql`${s.service_number} || ''`, desc(s.id)];
}

type ServiceRecord = Pick<typeof s.$inferSelect, Exclude<keyof typeof serviceColumns, 'customer'>> & {
  customer: Parameters<typeof toCustomerSnippet>[0];
};

export function toServiceRow(record: ServiceRecord): ServiceRow {
  return {
    ...record,
    price: toJsonAmount(record.price),
    cancelled_at: record.cancelled_at?.toISOString() ?? null,
    customer: toCustomerSnippet(record.customer),
  };
}
