import { and, eq, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerSortName, customers } from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { type CursorPage, constant, type PageStart, readCursorPage } from '../cursor-page';
import { MAX_ID } from '../page';
import { hasNumber, idAfterHash, spellings } from './match-customer';
import { matchMention } from './match-mention';
import { customerName } from './snippet';
import type { CustomerFilters, CustomerSort } from './staff-filters';

/** Each has an index that ends in the id, or is unique, so that a page costs the same at any depth. */
const COLUMNS = {
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

/** One page of the customers that match; a start that is none: the first. */
export async function listCustomersForStaff(
  db: Database,
  filters: CustomerFilters,
  start: PageStart,
): Promise<CursorPage<ListedCustomer>> {
  return readLimited(db, async (tx) => {
    const page = await readCursorPage(
      start,
      filters.per_page,
      async (cursor, backwards, limit) =>
        tx
          .select(columns)
          .from(customers)
          .where(and(matchFilters(filters), await beyond(tx, cursor, filters.sort, backwards)))
          .orderBy(...orderOf(filters, backwards))
          .limit(limit),
      ({ id }) => String(id),
    );
    return { ...page, data: page.data.map(toListedCustomer) };
  });
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

/** The row of a cursor holds what its neighbours are found by; once it is gone, the page is the first. */
async function beyond(tx: Database, cursor: string | null, sort: CustomerSort, backwards: boolean) {
  if (cursor === null || !/^\d{1,10}$/.test(cursor) || Number(cursor) > MAX_ID) return undefined;
  const column = COLUMNS[keyOf(sort)];
  const [at] = await tx
    .select({ value: sql<string | number>`${column}` })
    .from(customers)
    .where(eq(customers.id, Number(cursor)));
  if (!at) return undefined;
  const operator = descends(sort, backwards) ? sql`<` : sql`>`;
  return sql`(${column}, ${customers.id}) ${operator} (${at.value}, ${Number(cursor)}::int)`;
}

function orderOf({ sort, q }: CustomerFilters, backwards: boolean): SQL[] {
  const direction = descends(sort, backwards) ? sql`desc` : sql`asc`;
  const column = COLUMNS[keyOf(sort)];
  // Walking an index in this order would read every customer where all that match are at its other end.
  const unindexed = keyOf(sort) === 'created' ? sql`${column} + 0` : sql`${column} || ''`;
  return [sql`${q === undefined ? column : unindexed} ${direction}`, sql`${customers.id} ${direction}`];
}

function descends(sort: CustomerSort, backwards: boolean): boolean {
  return sort.startsWith('-') !== backwards;
}

function keyOf(sort: CustomerSort): keyof typeof COLUMNS {
  return sort.replace('-', '') as keyof typeof COLUMNS;
}
