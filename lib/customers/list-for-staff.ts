import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { customerSortName, customerStatus, customers } from '@/db/schema';
import { allPages, orderOf, readSortedPage, type SortedPage } from '../counted-list/sorted-page';
import { toCsv } from '../csv';
import { oneOf } from '../fields';
import { perPageParam } from '../page';
import { constant, type PageStart } from '../page-query';
import { countryCode } from '../records/fields';
import { hasNumber, idAfterHash, matchMention, spellings } from './match-customer';
import { customerName } from './queries';
import { customerQuery } from './schema';

export const CUSTOMER_STATUSES = customerStatus.enumValues;

/** Orders of the staff's list; a minus stands for the last or latest first. */
const SORTS = ['-created', 'created', 'number', '-number', 'name', '-name'] as const;

/** What staff narrow a list of customers to. */
export const customerFilters = z.object({
  /** A whole number or e-mail address, or part of one, of a name or a company. */
  q: customerQuery.optional(),
  status: oneOf(CUSTOMER_STATUSES).optional(),
  country: countryCode.optional(),
  sort: z.enum(SORTS).catch('-created'),
  per_page: perPageParam,
});
export type CustomerFilters = z.infer<typeof customerFilters>;

/** Each has an index that ends in the id, or is unique, so that a page costs the same at any depth. */
const ORDERS = {
  created: sql`${customers.id}`,
  number: sql`${customers.customer_number}`,
  name: customerSortName(customers),
};

const columns = {
  id: customers.id,
  customer_number: customers.customer_number,
  first_name: customers.first_name,
  last_name: customers.last_name,
  company: customers.company,
  email: customers.email,
  city: customers.city,
  country: customers.country,
  currency: customers.currency,
  status: customers.status,
};

/** One page of matching customers. An invalid cursor returns the first page. */
export async function listCustomersForStaff(
  db: Database,
  filters: CustomerFilters,
  start: PageStart,
  size = filters.per_page,
): Promise<SortedPage<ListedCustomer>> {
  const rows = {
    table: customers,
    where: matchFilters(filters),
    ...orderOf(ORDERS, filters.sort),
    few: filters.q !== undefined,
  };
  return readSortedPage(db, rows, { start, size }, readCustomers);
}

async function readCustomers(tx: Database, ids: number[]): Promise<ListedCustomer[]> {
  const found = await tx.select(columns).from(customers).where(inArray(customers.id, ids));
  return found.map(toListedCustomer);
}

type CustomerRecord = Pick<typeof customers.$inferSelect, keyof typeof columns>;
export type ListedCustomer = ReturnType<typeof toListedCustomer>;

function toListedCustomer(record: CustomerRecord) {
  const { first_name: _, last_name: __, company: ___, ...row } = record;
  return { ...row, name: customerName(record) };
}

function matchFilters({ q, status, country }: CustomerFilters): SQL | undefined {
  return and(
    q === undefined ? undefined : mentions(q),
    status && sql`${customers.status} = ${constant(status)}`,
    country === undefined ? undefined : eq(customers.country, country),
  );
}

function mentions(text: string): SQL | undefined {
  const id = idAfterHash(text);
  if (id !== null) return eq(customers.id, id);
  return or(hasNumber(spellings(text)), matchMention(text));
}

const BATCH = 1000;
const COLUMNS = ['id', 'customer_number', 'name', 'email', 'city', 'country', 'currency', 'status'];

/** The customers that match as CSV, piece by piece, in the order of the list. */
export function customersCsv(db: Database, filters: CustomerFilters): AsyncGenerator<string> {
  return toCsv(
    COLUMNS,
    allPages((start) => listCustomersForStaff(db, filters, start, BATCH)),
  );
}
