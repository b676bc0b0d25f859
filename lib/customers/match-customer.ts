import { eq, inArray, like, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { type Database, inTexts } from '@/db/database';
import { customers, searchForm } from '@/db/schema';
import { textLine } from '../fields';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { composed, indexedPatterns } from '../search-text';
import { isOfCustomer, numbered } from './merged-customers';

/** The id in a text like `#31`; null for any other text, and for an id that no row can have. */
export function idAfterHash(text: string): number | null {
  const id = /^#(\d{1,10})$/.exec(text)?.[1];
  return id !== undefined && Number(id) <= MAX_ID ? Number(id) : null;
}

/** Numbers are written in capitals, and `K10001` is often typed as `K-10001`. */
export function spellings(text: string): string[] {
  const capitals = text.toUpperCase();
  return [...new Set([text, capitals, capitals.replace(/[-\s]/g, '')])];
}

/** The customer of a `#id` or of a whole customer number; null if it does not exist. */
export async function findCustomerId(db: Database, text: string): Promise<number | null> {
  const [found] = await db
    .select({ id: customers.id })
    .from(customers)
    .where(matchCustomer(text))
    .limit(literal(1));
  return found?.id ?? null;
}

/** The customer of a `#id` or of a whole number as it is typed. */
function matchCustomer(text: string): SQL {
  const id = idAfterHash(text);
  return id === null ? hasNumber(spellings(text)) : eq(customers.id, id);
}

/** Customers of any of these numbers, in any case; of a number that was merged away, the one that it means now. */
export function hasNumber(numbers: (string | SQL)[]): SQL {
  return sql`${customers.id} = any(array(select id from (${numbered(numbers)}) named))`;
}

/** The same without those that were merged away. */
export function hasOwnNumber(numbers: string[]): SQL {
  return inTexts(sql`lower(${customers.customer_number})`, numbers, (text) => sql`lower(${text})`);
}

/** The filter of a list by a whole number, or `#` and our id. */
export function numberFilter(columns: { id: PgColumn; number: PgColumn }) {
  return {
    schema: textLine(100),
    means(text: string) {
      const id = idAfterHash(text);
      const counted = id === null ? { numbers: JSON.stringify(spellings(text)) } : { row_id: id };
      return { where: matchNumbered(columns, text), few: true, counted };
    },
    counted: {
      row_id: { matches: (id: SQL) => eq(columns.id, id) },
      numbers: {
        matches: (numbers: SQL) =>
          sql`${columns.number} in (select jsonb_array_elements_text(${numbers}::jsonb))`,
      },
    },
  };
}

/** Rows by `#id` or by a whole number. */
export function matchNumbered(columns: { id: PgColumn; number: PgColumn }, text: string): SQL {
  const id = idAfterHash(text);
  return id === null ? inArray(columns.number, spellings(text)) : eq(columns.id, id);
}

/** Customers with a text in one of their fields, as an index finds them; undefined where none could. */
export function matchMention(text: string): SQL | undefined {
  return or(...indexedPatterns(composed(text), [' ', '\n']).map(hasAlike));
}

/** Whether one of a customer's fields is like a pattern. */
function hasAlike(pattern: string): SQL {
  return like(customers.search_text, searchForm(sql`${pattern}::text`));
}

/** A text that more customers have is too short to narrow a list by. */
const MAX_NAMED = 200;

/**
 * The filter of a list by customer: the one of a whole number or `#id`; else those with the text in their number, name,
 * company or e-mail address. Only one customer is counted.
 */
export function customerFilter(column: PgColumn) {
  return {
    schema: textLine(200),
    async means(text: string, db: Database) {
      const id = await findCustomerId(db, text);
      if (id !== null) return { where: isOfAny(column, [id]), few: true, counted: { customer_id: id } };
      const mention = matchMention(text);
      const found = mention
        ? await db
            .select({ id: customers.id })
            .from(customers)
            .where(mention)
            .limit(literal(MAX_NAMED + 1))
        : [];
      const tooMany = !mention || found.length > MAX_NAMED;
      const ids = tooMany ? [] : found.map((one) => one.id);
      const none = ids.length === 0 ? ('unknown_customer' as const) : undefined;
      return {
        where: isOfAny(column, ids),
        few: true,
        refused: tooMany ? ('too_many_customers' as const) : none,
      };
    },
    counted: { customer_id: { matches: (id: SQL) => isOfCustomer(column, id) } },
  };
}

/** Rows of some customers. */
function isOfAny(column: PgColumn, ids: number[]): SQL {
  return sql`${column} = any(${`{${ids.join(',')}}`}::int[])`;
}
