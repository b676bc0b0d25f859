import { and, eq, ilike, inArray, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import {
  billingInterval,
  customerServices,
  customers,
  servers,
  serviceStatus,
  serviceType,
} from '@/db/schema';
import {
  allPages,
  type ListPlace,
  orderOf,
  readSortedPage,
  refusalOf,
  type SortedPage,
  type StaffPage,
} from '../counted-list/sorted-page';
import { toCsv } from '../csv';
import { findNamedCustomers, isOfAny, matchNumbered, type NamedCustomers } from '../customers/match-customer';
import { CUSTOMER_COLUMNS, inColumns } from '../customers/queries';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';
import { constant, type PageStart } from '../page-query';
import { containsPattern } from '../search-text';
import { listServices, serviceColumns, toServiceRow } from './queries';
import { type ServiceRow, serviceRow } from './schema';

export const SERVICE_STATUSES = serviceStatus.enumValues;
export const SERVICE_TYPES = serviceType.enumValues;
export const BILLING_INTERVALS = billingInterval.enumValues;

/** Orders of the staff's list; a minus stands for the last first. */
const SORTS = ['number', '-number', 'next-billing', '-next-billing'] as const;

/** What staff narrow a list of services to, as they type it. */
export const serviceStaffFilters = z
  .object({
    /** A whole number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    number: textLine(100).optional(),
    /** Part of it; case does not matter. */
    domain: textLine(253).optional(),
    type: oneOf(SERVICE_TYPES).optional(),
    status: oneOf(SERVICE_STATUSES).optional(),
    /** A host name, or `#` and our id. */
    server: textLine(253).optional(),
    /** The days on which they are billed next. */
    ...dateRange,
    sort: z.enum(SORTS).catch('number'),
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
type ServiceStaffFilters = z.infer<typeof serviceStaffFilters>;

const s = customerServices;

/** Services that are not billed again come last. */
const ORDERS = {
  number: sql`${s.service_number}`,
  'next-billing': sql`coalesce(${s.next_billing_date}, 'infinity')`,
};

/** One page of the services that match: counted in the usual order, by cursor in any other. */
export async function listServicesForStaff(
  db: Database,
  filters: ServiceStaffFilters,
  { request, start }: ListPlace,
): Promise<StaffPage<ServiceRow>> {
  const { sort, server, from, to, number, domain, type, status } = filters;
  const named = filters.customer === undefined ? null : await findNamedCustomers(db, filters.customer);
  const refused = refusalOf(named);
  if (refused) return refused;
  const isCounted = sort === 'number' && !server && !from && !to && named?.exact !== false;
  if (!isCounted) return readSortedServices(db, filters, named, start, filters.per_page);
  return listServices(db, {
    ...request,
    ...(named && { customer_id: named.ids[0] }),
    service_number: number,
    domain,
    service_type: type,
    status,
  });
}

/** The services that match, in batches. */
async function readSortedServices(
  db: Database,
  filters: ServiceStaffFilters,
  named: NamedCustomers | null,
  start: PageStart,
  size: number,
): Promise<SortedPage<ServiceRow>> {
  const { sort, number, domain, server } = filters;
  const rows = {
    table: s,
    where: matchFilters(filters, named),
    ...orderOf(ORDERS, sort),
    few: named !== null || [number, domain, server].some((text) => text !== undefined),
  };
  return readSortedPage(db, rows, { start, size }, readServices);
}

function matchFilters(filters: ServiceStaffFilters, named: NamedCustomers | null): SQL | undefined {
  const { number, domain, type, status, server, from, to } = filters;
  return and(
    named ? isOfAny(s.customer_id, named.ids) : undefined,
    number === undefined ? undefined : matchNumbered({ id: s.id, number: s.service_number }, number),
    domain === undefined ? undefined : ilike(s.domain, containsPattern(domain)),
    type && sql`${s.service_type} = ${constant(type)}`,
    status && sql`${s.status} = ${constant(status)}`,
    server === undefined ? undefined : onServer(server),
    from === undefined ? undefined : sql`${ORDERS['next-billing']} >= ${from}::date`,
    to === undefined ? undefined : sql`${ORDERS['next-billing']} <= ${to}::date`,
  );
}

function onServer(text: string): SQL {
  const named = matchNumbered({ id: servers.id, number: servers.hostname }, text.toLowerCase());
  return sql`${s.server_id} in (select ${servers.id} from ${servers} where ${named})`;
}

/** Services by their ids, in any order. */
export async function readServices(tx: Database, ids: number[]): Promise<ServiceRow[]> {
  const found = await tx
    .select(serviceColumns)
    .from(s)
    .innerJoin(customers, eq(customers.id, s.customer_id))
    .where(inArray(s.id, ids));
  return found.map(toServiceRow);
}

const BATCH = 1000;
const COLUMNS = [
  ...Object.keys(serviceRow.shape).filter((column) => column !== 'customer'),
  ...CUSTOMER_COLUMNS,
];

/** The services that match as CSV, piece by piece, in the order of the list. */
export function servicesCsv(db: Database, filters: ServiceStaffFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: ServiceStaffFilters) {
  const named = filters.customer === undefined ? null : await findNamedCustomers(db, filters.customer);
  for await (const batch of allPages((start) => readSortedServices(db, filters, named, start, BATCH))) {
    yield batch.map(inColumns);
  }
}
