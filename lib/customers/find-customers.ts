import { asc, inArray, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { customers, searchForm } from '@/db/schema';
import { literal } from '../page-query';
import { composed, containsPattern, hasTrigram, letterPairs } from '../search-text';
import { numbered } from './merged-customers';
import { customerName, snippetColumns, toCustomerSnippet } from './queries';
import { type CustomerMatches, type CustomerRow, customerMatches, MAX_MATCHES } from './schema';
import { type TaxHome, type TaxRule, taxRuleOf } from './tax';

/**
 * The customers with a text in their number, e-mail, first name, last name, "first last" or company:
 * exact number or e-mail first, then those that start with it, then the rest, by number.
 *
 * Stops as soon as there are as many as are shown. Costs the same however many customers there are, but where many
 * have the text and all of them are far back in the list.
 *
 * @param query as `customerQuery` parsed it: trimmed, without control characters
 */
export async function findCustomers(db: Database, query: string): Promise<CustomerMatches> {
  let found = await findBeginnings(db, query);
  // A merged customer's old number may also be part of another text.
  if (found.length < WANTED)
    found = withoutDoubles(found, await findWithin(db, query, WANTED - found.length));
  return toMatches(found);
}

/** The customers whose number is a text or begins with it, for readers from whom all other fields are hidden. */
export async function findCustomersByNumber(db: Database, query: string): Promise<CustomerMatches> {
  return toMatches(await readByNumber(db, { query }));
}

function toMatches(found: Found[]): CustomerMatches {
  const matches = found.slice(0, MAX_MATCHES).map(toCustomerSnippet);
  return customerMatches.parse({ count: matches.length, truncated: found.length > MAX_MATCHES, matches });
}

type Found = Parameters<typeof toCustomerSnippet>[0];

/** Finds exact matches, and customers with a field that starts with the text. */
async function findBeginnings(db: Database, query: string): Promise<Found[]> {
  const values = { query, start: containsPattern(`\n${query}`) };
  const few = await readFew(db, values);
  const exact = few.filter(isFound);
  if (areAll(few)) return exact;
  const near = withoutDoubles(exact, await readNearBeginnings(db, values));
  if (near.length >= WANTED) return near;
  const some = await readSome(db, values);
  if (areAll(some)) return some.filter(isFound);
  return withoutDoubles(exact, await readBeginnings(db, values));
}

type Begun = { [Name in keyof Found]: Found[Name] | null } & { are_all: boolean };
const areAll = ([first]: Begun[]): boolean => first?.are_all === true;
const isFound = (row: Begun): row is Begun & Found => row.id !== null;

function withoutDoubles(exact: Found[], others: Found[]): Found[] {
  const known = new Set(exact.map(({ id }) => id));
  return [...exact, ...others.filter(({ id }) => !known.has(id))].slice(0, WANTED);
}

/** Those that have the text somewhere else. */
async function findWithin(db: Database, query: string, wanted: number): Promise<Found[]> {
  const values = { text: containsPattern(query), start: containsPattern(`\n${query}`) };
  const near = await readNear(db, values);
  if (near.length >= wanted) return near;
  const text = composed(query);
  if (hasTrigram(text)) return readByTrigram(db, values);
  return readByPairs(db, { ...values, pairs: JSON.stringify(letterPairs(text)) });
}

// What a search for customers asks. All answer so many at most:
const WANTED = MAX_MATCHES + 1;

/** So many that begin with a text are read and sorted, before and after the start of the list was gone through. */
const FEW = 200;
const SOME = 5000;
/** So far the list is gone through for a text: one that is rarer has few entries in an index. */
const NEAR = 2000;
const FAR = 5000;
/** As it is searched; a subquery, lest it is computed for each row. */
const once = (text: SQL) => sql`(select ${searchForm(sql`${text}::text`)})`;

/** Those with the text as their whole number or e-mail address. */
const exactIds = (query: SQL) =>
  sql`select id from (${numbered([query])}) named
    union select id from ${customers} where lower(email) = lower(${query}::text)`;
const isExact = (query: SQL) => sql`${customers.id} = any(array(${exactIds(query)}))`;

/** All that begin with a text; where of some field there are more than so many, the exact ones alone. */
const beginningsUpTo = (most: number) =>
  statement(['query'], (db, { query }) => {
    const limit = sql.raw(String(most));
    return db
      .select({ ...snippetColumns, are_all: sql<boolean>`begun.are_all` })
      .from(
        sql`(with some_of_each as materialized (
            select * from customers_beginning(${once(query)}, ${limit} + 1)
          ), counted as (
            select not exists (select from some_of_each group by field having count(*) > ${limit}) as are_all
          )
          select are_all, array(
            select customer_id from some_of_each where are_all union ${exactIds(query)}
          ) as ids from counted) begun`,
      )
      .leftJoin(customers, sql`${customers.id} = any(begun.ids)`)
      .orderBy(sql`${isExact(query)} is true desc`, asc(customers.customer_number))
      .limit(WANTED);
  });
const readFew = beginningsUpTo(FEW);
const readSome = beginningsUpTo(SOME);

/** Those whose number is the text or begins with it. No other field is searched. */
const readByNumber = statement(['query'], (db, { query }) => {
  const exact = sql`select id from (${numbered([query])}) named`;
  const begun = sql`select customer_id from customers_beginning(${once(query)}, ${sql.raw(String(WANTED))})
    where field = 'number'`;
  return db
    .select(snippetColumns)
    .from(customers)
    .where(sql`${customers.id} = any(array(${exact} union ${begun}))`)
    .orderBy(sql`${customers.id} = any(array(${exact})) desc`, asc(customers.customer_number))
    .limit(WANTED);
});

const has = (pattern: SQL) => sql`${customers.search_text} like ${once(pattern)}`;
/** The same condition in a form that no index can answer, so that PostgreSQL tests rows it has already found. */
const shows = (pattern: SQL, searched: SQLWrapper = customers.search_text) =>
  sql`${searched} || '' like ${once(pattern)}`;
/** Sorted, without going through the list in its order. */
const sorted = sql`${customers.customer_number} || ''`;

const readBeginnings = statement(['start'], (db, { start }) =>
  db
    .select(snippetColumns)
    .from(customers)
    .where(shows(start))
    .orderBy(asc(customers.customer_number))
    .limit(WANTED),
);

/** Of the first so many of the list. */
const firstOf = (db: Database, count: number) =>
  db
    .select({ ...snippetColumns, search_text: customers.search_text })
    .from(customers)
    .orderBy(asc(customers.customer_number))
    .limit(literal(count))
    .as('first_ones');

const readNearBeginnings = statement(['start'], (db, { start }) => {
  const near = firstOf(db, NEAR);
  const { search_text, ...columns } = near._.selectedFields;
  return db
    .select(columns)
    .from(near)
    .where(shows(start, search_text))
    .orderBy(asc(near.customer_number))
    .limit(WANTED);
});

const readNear = statement(['text', 'start'], (db, { text, start }) => {
  const near = firstOf(db, FAR);
  const { search_text, ...columns } = near._.selectedFields;
  return db
    .select(columns)
    .from(near)
    .where(sql`${shows(text, search_text)} and not ${shows(start, search_text)}`)
    .orderBy(asc(near.customer_number))
    .limit(WANTED);
});

const readByTrigram = statement(['text', 'start'], (db, { text, start }) =>
  db
    .select(snippetColumns)
    .from(customers)
    .where(sql`${has(text)} and not ${shows(start)}`)
    .orderBy(sorted)
    .limit(WANTED),
);

const readByPairs = statement(['text', 'start', 'pairs'], (db, { text, start, pairs }) =>
  db
    .select(snippetColumns)
    .from(customers)
    .where(
      sql`letter_pairs(${customers.search_text}) collate "C"
          @> array(select jsonb_array_elements_text(${once(pairs)}::jsonb))
        and ${shows(text)} and not ${shows(start)}`,
    )
    .orderBy(sorted)
    .limit(WANTED),
);

/** A customer as a form offers it, with what its records begin with. */
export interface CustomerChoice {
  customer_number: string;
  /** Company, else "first last". */
  name: string;
  status: CustomerRow['status'];
  currency: string;
  tax: TaxRule;
}

type Columns = Pick<
  CustomerRow,
  'customer_number' | 'status' | 'currency' | 'tax_exempt' | 'country' | 'vat_id'
>;

export function toCustomerChoice(row: Columns & { name: string }, home: TaxHome): CustomerChoice {
  const { customer_number, name, status, currency } = row;
  return { customer_number, name, status, currency, tax: taxRuleOf(row, home) };
}

/** The customers to choose from for a text, in the order of `findCustomers`. @param query as `customerQuery` parsed it */
export async function findCustomerChoices(
  db: Database,
  query: string,
  home: TaxHome,
): Promise<CustomerChoice[]> {
  const ids = (await findCustomers(db, query)).matches.map(({ id }) => id);
  if (ids.length === 0) return [];
  const found = await db
    .select({
      ...{ id: customers.id, customer_number: customers.customer_number, status: customers.status },
      ...{ company: customers.company, first_name: customers.first_name, last_name: customers.last_name },
      ...{ currency: customers.currency, tax_exempt: customers.tax_exempt },
      ...{ country: customers.country, vat_id: customers.vat_id },
    })
    .from(customers)
    .where(inArray(customers.id, ids));
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row ? [toCustomerChoice({ ...row, name: customerName(row) }, home)] : [];
  });
}
