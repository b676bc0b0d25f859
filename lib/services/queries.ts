import { and, asc, count, eq, type SQL, sql, sum } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { customerServices, customers, servers, serviceBlocks, serviceDeltas } from '@/db/schema';
import { listReader, usedConditions } from '../counted-list/list-reader';
import { numberFilters, toNumberFilters } from '../customers/match-customer';
import { isOfCustomer } from '../customers/merged-customers';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { AppError } from '../errors';
import { toJsonAmount } from '../money';
import { MAX_ID, type Page, pageRequest, toPage } from '../page';
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
interface ServiceConditions extends ServiceFilters {
  /** A whole number, or `#` and our id. */
  service_number?: string | undefined;
  server_id?: number | undefined;
}

/** Customer services by service number; a page past the last is empty. */
export async function listServices(
  db: Database,
  { page, per_page, service_number, domain, ...filters }: ServiceConditions,
): Promise<Page<ServiceRow>> {
  const request = pageRequest({ page, per_page });
  if ((filters.customer_id ?? 0) > MAX_ID) return toPage(request, 0, []);
  const part = domain === undefined ? {} : { domain: containsPattern(domain) };
  const found = await readServices(db, request, { ...filters, ...toNumberFilters(service_number), ...part });
  return servicePage.parse({ ...found, data: found.data.map(toServiceRow) });
}

/** What each filter of the list asks of a row. */
const SERVICE_FILTERS = {
  customer_id: (id: SQL) => isOfCustomer(s.customer_id, id),
  server_id: (id: SQL) => eq(s.server_id, id),
  service_type: (type: SQL) => eq(s.service_type, type),
  status: (status: SQL) => eq(s.status, status),
  domain: (pattern: SQL) => sql`${s.domain} ilike ${pattern}`,
  ...numberFilters({ id: s.id, number: s.service_number }),
};

const readServices = listReader({
  list: {
    table: s,
    blocks: serviceBlocks,
    deltas: serviceDeltas,
    order: [s.service_number],
    newestFirst: false,
  },
  filters: SERVICE_FILTERS,
  closed: ['service_type', 'status'],
  sorted: ['domain', sql`${s.service_number} || ''`],
  select: (db, found, total) =>
    db
      .select({ ...serviceColumns, total_rows: total })
      .from(found)
      .innerJoin(s, eq(s.id, sql`found.id`))
      .innerJoin(customers, eq(customers.id, s.customer_id))
      .orderBy(asc(s.service_number)),
});

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

/** One service with its customer and its server. @throws AppError not_found */
export async function getService(db: Database, id: number) {
  const [found] = await db
    .select({
      ...serviceColumns,
      server: { id: servers.id, hostname: servers.hostname },
      created_at: customerServices.created_at,
      updated_at: customerServices.updated_at,
    })
    .from(customerServices)
    .innerJoin(customers, eq(customers.id, customerServices.customer_id))
    .leftJoin(servers, eq(servers.id, customerServices.server_id))
    .where(eq(customerServices.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no service ${id}.`);
  return { ...found, ...toServiceRow(found) };
}

export type ServiceDetails = Awaited<ReturnType<typeof getService>>;

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
