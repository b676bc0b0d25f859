import { eq, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import { type Database, pickColumns, statement } from '@/db/database';
import { customers } from '@/db/schema';
import { MAX_ID } from '../page';
import { prefixPattern } from '../search-text';
import { hasNumber } from './match-customer';
import { findMergedInto } from './merged-customers';
import {
  type CustomerDetails,
  type CustomerRow,
  type CustomerSnippet,
  customerDetails,
  customerRow,
} from './schema';

type CustomerRecord = typeof customers.$inferSelect;
type Key = { id: number } | { customer_number: string };

/** Returns a customer by id or number, or the customer it was merged into. Returns null if it does not exist. */
export async function getCustomer(db: Database, by: Key): Promise<CustomerRow | null> {
  const record = await findCustomer(db, by);
  return record && customerRow.parse({ ...record, name: customerName(record) });
}

/** Returns the same customer as `getCustomer`, with the fields that only staff see. */
export async function getCustomerDetails(db: Database, by: Key): Promise<CustomerDetails | null> {
  const record = await findCustomer(db, by);
  return record && toCustomerDetails(record);
}

async function findCustomer(db: Database, by: Key): Promise<CustomerRecord | null> {
  if ('id' in by && by.id > MAX_ID) return null;
  const [record] = await ('id' in by ? findById(db, by) : findByNumber(db, by));
  if (record) return record;
  const survivor = 'id' in by ? await findMergedInto(db, by.id) : null;
  return survivor === null ? null : findCustomer(db, { id: survivor });
}

const findById = statement(['id'], (db, { id }) => db.select().from(customers).where(eq(customers.id, id)));

const findByNumber = statement(['customer_number'], (db, { customer_number }) =>
  db
    .select()
    .from(customers)
    .where(hasNumber([customer_number])),
);

/** Converts a customer to the fields that staff see. The schema drops all other columns. */
export function toCustomerDetails(record: CustomerRecord): CustomerDetails {
  return customerDetails.parse({ ...record, name: customerName(record) });
}

/** Returns when a customer was erased. Returns null if it was not erased or does not exist. */
export async function findErasedAt(db: Database, id: number): Promise<Date | null> {
  const [found] = await db
    .select({ erased_at: customers.erased_at })
    .from(customers)
    .where(eq(customers.id, Math.min(id, MAX_ID)));
  return found?.erased_at ?? null;
}

/** The rank of a match: 0 if the number or email address equals the query, 1 if a field starts with it, otherwise 2. */
export function matchRank(query: string): SQL {
  const prefix = prefixPattern(query);
  const c = customers;
  return sql`case
    when lower(${c.customer_number}) = lower(${query}) or lower(${c.email}) = lower(${query}) then 0
    when ${c.customer_number} ilike ${prefix} or ${c.email} ilike ${prefix} or ${c.company} ilike ${prefix}
      or ${c.first_name} || ' ' || ${c.last_name} ilike ${prefix}
      or ${c.first_name} ilike ${prefix} or ${c.last_name} ilike ${prefix} then 1
    else 2 end`;
}

/** The columns of `customers` that `toCustomerSnippet` converts. */
export const snippetColumns = {
  ...pickColumns(customers, 'id', 'customer_number', 'first_name', 'last_name', 'company'),
  ...pickColumns(customers, 'email', 'status'),
};

type SnippetRecord = Pick<typeof customers.$inferSelect, keyof typeof snippetColumns>;

export function toCustomerSnippet(record: SnippetRecord): CustomerSnippet {
  const { id, customer_number, email, status } = record;
  return { id, customer_number, name: customerName(record), email, status };
}

/** Returns the company, otherwise the first and last name. Returns '' if all of them are missing. */
export function customerName(
  record: Pick<typeof customers.$inferSelect, 'company' | 'first_name' | 'last_name'>,
): string {
  return record.company || [record.first_name, record.last_name].filter(Boolean).join(' ');
}

/**
 * Returns the columns to select for a row's schema: the columns of its table, and `customer` with the columns of its
 * customer.
 */
export function rowColumns<T extends PgTable, Shape extends z.ZodRawShape>(
  table: T,
  { shape }: z.ZodObject<Shape>,
) {
  type Name = keyof T & keyof Shape;
  const names = Object.keys(shape).filter((name) => name !== 'customer') as Name[];
  return { ...pickColumns(table, ...names), customer: snippetColumns };
}

/** A row selected with `rowColumns`: its columns of the table, and its customer. */
export type RecordOf<Table extends PgTable, Columns> = Pick<
  Table['$inferSelect'],
  keyof Columns & keyof Table['$inferSelect']
> & { customer: SnippetRecord };

/** The columns for a row's customer in exported files. */
export const CUSTOMER_COLUMNS = ['customer_id', 'customer_number', 'customer_name'];

/** Returns the columns of an exported file for a row's schema, with the columns of the customer at the end. */
export const fileColumns = ({ shape }: z.ZodObject, ...more: string[]): string[] => [
  ...Object.keys(shape).filter((column) => column !== 'customer'),
  ...more,
  ...CUSTOMER_COLUMNS,
];

/** Replaces the customer of a row with the columns that `CUSTOMER_COLUMNS` names. */
export function inColumns<Row extends { customer: CustomerSnippet }>({ customer, ...row }: Row) {
  return {
    ...row,
    customer_id: customer.id,
    customer_number: customer.customer_number,
    customer_name: customer.name,
  };
}
