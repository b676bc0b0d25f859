import { and, eq, ilike, inArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, customers, servers } from '@/db/schema';
import { orderOf, readSortedPage, type SortedPage } from '../counted-list/sorted-page';
import { type ListPlace, refusalOf, type StaffPage } from '../counted-list/staff-list';
import { constant, type PageStart } from '../cursor-page';
import { matchNumbered } from '../customers/match-customer';
import { findNamedCustomers, isOfAny, type NamedCustomers } from '../customers/named-customers';
import { containsPattern } from '../search-text';
import { listServices, serviceColumns, toServiceRow } from './queries';
import type { ServiceRow } from './schema';
import type { ServiceStaffFilters } from './staff-filters';

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
export async function readSortedServices(
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
