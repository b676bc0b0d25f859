import { asc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { type Database, inTexts, rows } from '@/db/database';
import { customers, mergedCustomers } from '@/db/schema';
import { ChangedMeanwhileError } from '@/db/transaction';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import type { CustomerDetails } from './schema';

/**
 * Returns a query for customer ids by number, in any case. The number of a merged customer maps to the customer it was
 * merged into.
 */
export function numbered(numbers: (string | SQL)[]): SQL {
  const wanted = sql.join(
    numbers.map((number) => sql`lower(${number}::text)`),
    sql`, `,
  );
  return having((number) => sql`${number} in (${wanted})`);
}

/**
 * Returns a query for the customer numbers that meet a condition, with the ids of their customers.
 *
 * @param isWanted function that returns the condition for a number in lower case
 */
const having = (isWanted: (number: SQL) => SQL): SQL => sql`
  select id, customer_number from ${customers} where ${isWanted(sql`lower(customer_number)`)}
  union all select customer_id, customer_number from ${mergedCustomers} where ${isWanted(sql`lower(customer_number)`)}`;

/**
 * Finds the ids of customers by their numbers, in any case. The number of a merged customer maps to the id of the
 * customer that it was merged into.
 *
 * @returns a map from the given numbers to ids, without unknown numbers
 */
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

/**
 * Finds ids like `findCustomerIds`, but leaves out erased customers because they accept no writes. Locks the others
 * until the transaction ends, so that none of them is erased or merged before its record is written.
 *
 * @throws ChangedMeanwhileError if a customer was merged into another one meanwhile
 */
export async function findWritableCustomerIds(tx: Database, numbers: string[]): Promise<Map<string, number>> {
  const ids = await findCustomerIds(tx, numbers);
  if (ids.size === 0) return ids;
  const wanted = [...new Set(ids.values())];
  const locked = await tx
    .select({ id: customers.id, erased_at: customers.erased_at })
    .from(customers)
    .where(inArray(customers.id, wanted))
    .orderBy(asc(customers.id))
    .for('key share');
  if (locked.length < wanted.length) throw new ChangedMeanwhileError();
  const isErased = new Set(locked.filter(({ erased_at }) => erased_at !== null).map(({ id }) => id));
  return new Map([...ids].filter(([, id]) => !isErased.has(id)));
}

/** Returns an error message for each number that belongs to a merged customer, keyed by the number in lower case. */
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
      `belongs to ${now}, because the customer that had it was merged into ${now}`,
    ]),
  );
}

/** Returns the id of the customer that a customer was merged into. Returns null if it was not merged. */
export async function findMergedInto(db: Database, id: number): Promise<number | null> {
  const [found] = await db
    .select({ customer_id: mergedCustomers.customer_id })
    .from(mergedCustomers)
    .where(eq(mergedCustomers.id, Math.min(id, MAX_ID)))
    .limit(literal(1));
  return found?.customer_id ?? null;
}

/** The condition for rows of a customer, or of the customer that it was merged into. */
export function isOfCustomer(column: PgColumn, id: SQL): SQL {
  const m = mergedCustomers;
  return sql`${column} = coalesce((select ${m.customer_id} from ${m} where ${m.id} = ${id}), ${id})`;
}

/** Lists the customers that were merged into a customer, the earliest merge first. */
export async function listMergedInto(db: Database, id: number) {
  return db
    .select({ id: mergedCustomers.id, customer_number: mergedCustomers.customer_number })
    .from(mergedCustomers)
    .where(eq(mergedCustomers.customer_id, id))
    .orderBy(asc(mergedCustomers.created_at), asc(mergedCustomers.id));
}

/** Returns a query for all ids of a customer: its own id, and the ids of the customers that were merged into it. */
export const idsOf = (id: number): SQL =>
  sql`select ${id}::int as id union all select id from ${mergedCustomers} where customer_id = ${id}::int`;

/** Fields that the remaining customer may take over, in the order of the merge page. Omitting one is a type error. */
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
  buyer_reference: true,
  document_language: true,
  payment_terms: true,
  currency: true,
  status: true,
} satisfies Record<MergedField, true>) as MergedField[];
export type MergedField = Exclude<keyof CustomerDetails, 'id' | 'customer_number' | 'name'>;

type Fields = Pick<typeof customers.$inferSelect, MergedField>;

/** Returns the fields in which two customers differ and in which the merged customer has a value. */
export function differingFields(kept: Fields, gone: Fields): MergedField[] {
  return MERGED_FIELDS.filter(
    (field) => gone[field] !== null && gone[field] !== '' && gone[field] !== kept[field],
  );
}
