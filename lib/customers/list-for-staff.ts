import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerSortName, customers } from '@/db/schema';
import { orderOf, readSortedPage, type SortedPage } from '../counted-list/sorted-page';
import { constant, type PageStart } from '../cursor-page';
import { hasNumber, idAfterHash, spellings } from './match-customer';
import { matchMention } from './match-mention';
import { customerName } from './snippet';
import type { CustomerFilters } from './staff-filters';

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
