import { and, asc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { type Database, inTexts, rows } from '@/db/database';
import { customers, mergedCustomers } from '@/db/schema';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import type { CustomerRow } from './schema';

/**
 * What these numbers mean, in any case, as `id` and `customer_number`: the customers that have them, and those that
 * the customers which had them were merged into.
 */
export function numbered(numbers: (string | SQL)[]): SQL {
  const wanted = sql.join(
    numbers.map((number) => sql`lower(${number}::text)`),
    sql`, `,
  );
  return having((number) => sql`${number} in (${wanted})`);
}

/** @param isWanted of a number in lower case */
const having = (isWanted: (number: SQL) => SQL): SQL => sql`
  select id, customer_number from ${customers} where ${isWanted(sql`lower(customer_number)`)}
  union all select customer_id, customer_number from ${mergedCustomers} where ${isWanted(sql`lower(customer_number)`)}`;

/** The ids of customers by their numbers, as these were asked for. */
export async function findCustomerIds(db: Database, numbers: string[]): Promise<Map<string, number>> {
  if (numbers.length === 0) return new Map();
  const found = await rows<{ id: number; customer_number: string }>(
    db,
    having((number) => inTexts(number, numbers, (text) => sql`lower(${text})`)),
  );
  const ids = new Map(found.map(({ id, customer_number }) => [customer_number.toLowerCase(), id]));
  return new Map(
    numbers.flatMap((number): [string, number][] => {
      const id = ids.get(number.toLowerCase());
      return id === undefined ? [] : [[number, id]];
    }),
  );
}

/** As `findCustomerIds`, without erased customers: nothing may be written about them. */
export async function findWritableCustomerIds(db: Database, numbers: string[]): Promise<Map<string, number>> {
  const ids = await findCustomerIds(db, numbers);
  if (ids.size === 0) return ids;
  const erased = await db
    .select({ id: customers.id })
    .from(customers)
    .where(and(inArray(customers.id, [...ids.values()]), isNotNull(customers.erased_at)));
  const isErased = new Set(erased.map(({ id }) => id));
  return new Map([...ids].filter(([, id]) => !isErased.has(id)));
}

/** Why a customer cannot be given a number: those of customers that were merged into others, in lower case. */
export async function findMergedNumbers(db: Database, numbers: string[]): Promise<Map<string, string>> {
  const found = await rows<{ number: string; now: string }>(
    db,
    sql`select m.customer_number as number, c.customer_number as now
      from ${mergedCustomers} m join ${customers} c on c.id = m.customer_id
      where lower(m.customer_number) in (select lower(jsonb_array_elements_text(${JSON.stringify(numbers)}::jsonb)))`,
  );
  return new Map(
    found.map(({ number, now }) => [
      number.toLowerCase(),
      `belongs to ${now}: the customer that had it was merged into that one`,
    ]),
  );
}

/** The customer that the one of this id was merged into; null where it was not. */
export async function findMergedInto(db: Database, id: number): Promise<number | null> {
  const [found] = await db
    .select({ customer_id: mergedCustomers.customer_id })
    .from(mergedCustomers)
    .where(eq(mergedCustomers.id, Math.min(id, MAX_ID)))
    .limit(literal(1));
  return found?.customer_id ?? null;
}

/** Rows of the customer of an id, or of that which it was merged into. */
export function isOfCustomer(column: PgColumn, id: SQL): SQL {
  const m = mergedCustomers;
  return sql`${column} = coalesce((select ${m.customer_id} from ${m} where ${m.id} = ${id}), ${id})`;
}

/** The customers that were merged into one, the first of them first. */
export async function listMergedInto(db: Database, id: number) {
  return db
    .select({ id: mergedCustomers.id, customer_number: mergedCustomers.customer_number })
    .from(mergedCustomers)
    .where(eq(mergedCustomers.customer_id, id))
    .orderBy(asc(mergedCustomers.created_at), asc(mergedCustomers.id));
}

/** The ids that a customer has had: its own, and those of the customers that were merged into it. */
export const idsOf = (id: number): SQL =>
  sql`select ${id}::int as id union all select id from ${mergedCustomers} where customer_id = ${id}::int`;

/**
 * The fields that the customer who stays may take over from the other, in the order of the page. A new field of customers
 * does not compile until it stands here.
 */
const MERGED_FIELDS = Object.keys({
  company: true,
  first_name: true,
  last_name: true,
  email: true,
  phone: true,
  street: true,
  postal_code: true,
  city: true,
  country: true,
  vat_id: true,
  tax_exempt: true,
  currency: true,
  status: true,
} satisfies Record<MergedField, true>) as MergedField[];
export type MergedField = Exclude<keyof CustomerRow, 'id' | 'customer_number' | 'name'>;

type Fields = Pick<typeof customers.$inferSelect, MergedField>;

/** The fields in which two customers differ, and the one that goes has something that could be taken over. */
export function differingFields(kept: Fields, gone: Fields): MergedField[] {
  return MERGED_FIELDS.filter(
    (field) => gone[field] !== null && gone[field] !== '' && gone[field] !== kept[field],
  );
}
