import { eq, inArray, like, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { type Database, inTexts, rows } from '@/db/database';
import { customers, searchForm } from '@/db/schema';
import type { CountedFilter } from '../counted-list/list-reader';
import { searchLine } from '../fields';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { composed, indexedPatterns } from '../search-text';
import { isOfCustomer, numbered } from './merged-customers';

/** Returns the id in a text like `#31`. Returns null for any other text, and for an id above `MAX_ID`. */
export function idAfterHash(text: string): number | null {
  const id = /^#(\d{1,10})$/.exec(text)?.[1];
  return id !== undefined && Number(id) <= MAX_ID ? Number(id) : null;
}

/**
 * Returns a typed number as it is, in capitals, and in capitals without hyphens and spaces, because `K10001` is often
 * typed as `k-10001`.
 */
export function spellings(text: string): string[] {
  const capitals = text.toUpperCase();
  return [...new Set([text, capitals, capitals.replace(/[-\s]/g, '')])];
}

/**
 * Finds a customer's id by `#id` or by the whole customer number, and ignores spaces around them. Both `123` and `1-23`
 * may be numbers of customers, so the number as it is typed, in any case, comes before the other spellings. Returns null
 * if the customer does not exist.
 */
export async function findCustomerId(db: Database, typed: string): Promise<number | null> {
  const text = typed.trim();
  const id = idAfterHash(text);
  const [found] = await rows<{ id: number }>(
    db,
    id === null
      ? sql`select id from (${numbered(spellings(text))}) named
          order by lower(customer_number) = lower(${text}::text) desc limit 1`
      : sql`select id from ${customers} where id = ${id}::int`,
  );
  return found?.id ?? null;
}

/**
 * The condition for customers with one of these numbers, in any case. A merged customer's number matches the customer
 * it was merged into.
 */
export function hasNumber(numbers: (string | SQL)[]): SQL {
  return sql`${customers.id} = any(array(select id from (${numbered(numbers)}) named))`;
}

/**
 * The condition for customers whose current number is one of these, in any case. The number of a merged customer
 * matches no customer.
 */
export function hasOwnNumber(numbers: string[]): SQL {
  return inTexts(sql`lower(${customers.customer_number})`, numbers, (text) => sql`lower(${text})`);
}

/** Makes the filter of a list by the whole number of a row, or by `#` and its id. */
export function numberFilter(columns: { id: PgColumn; number: PgColumn }) {
  return {
    schema: searchLine(100),
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

/** Makes the filter of a counted list by several statuses. */
export const statusesFilter = (status: PgColumn): CountedFilter => ({
  matches: (list) => sql`${status} = any(${list}::${sql.raw(status.getSQLType())}[])`,
  isClosed: true,
  severalOf: 'status',
});

/** Converts an MCP tool's filters to the filters of `numberFilter` and `statusesFilter`. */
export const toSelection = ({ id, number, statuses }: Selected) => ({
  ...(id !== undefined && { row_id: id }),
  ...(number !== undefined && { numbers: JSON.stringify(spellings(number)) }),
  ...(statuses && { statuses: `{${statuses}}` }),
});

interface Selected {
  id?: number | undefined;
  number?: string | undefined;
  statuses?: readonly string[] | undefined;
}

/** The condition for the row that a text names by `#id` or by its whole number. */
export function matchNumbered(columns: { id: PgColumn; number: PgColumn }, text: string): SQL {
  const id = idAfterHash(text);
  return id === null ? inArray(columns.number, spellings(text)) : eq(columns.id, id);
}

/**
 * The condition for customers with a text in their number, name, company or email address. A text without three letters
 * or digits in a row matches only at the start of a word. Undefined if no index supports the text.
 */
export function matchMention(text: string): SQL | undefined {
  const patterns = indexedPatterns(composed(text), [' ', '\n']);
  return or(...patterns.map((pattern) => like(customers.search_text, searchForm(sql`${pattern}::text`))));
}

/** Maximum number of customers that a text may match in `customerFilter`. A text that matches more is refused. */
const MAX_NAMED = 200;

/**
 * Makes the filter of a list by customer. A whole number or `#id` selects one customer, whose rows a counted list can
 * count by index. Any other text selects the customers whose number, name, company or email address contains it.
 */
export function customerFilter(column: PgColumn) {
  return {
    schema: searchLine(200),
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

function isOfAny(column: PgColumn, ids: number[]): SQL {
  return sql`${column} = any(${`{${ids.join(',')}}`}::int[])`;
}
