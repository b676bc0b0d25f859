import { asc, inArray, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type Database, pickColumns, statement } from '@/db/database';
import { customers, searchForm } from '@/db/schema';
import { literal } from '../page-query';
import { composed, containsPattern, hasTrigram, letterPairs } from '../search-text';
import { numbered } from './merged-customers';
import { customerName, snippetColumns, toCustomerSnippet } from './queries';
import { type CustomerMatches, type CustomerRow, customerMatches, MAX_MATCHES } from './schema';
import { type TaxHome, taxRuleOf } from './tax';

/**
 * Finds the customers with a text in their number, email address, first name, last name, "first last" or company. The
 * order is: exact number or email address, then fields that start with the text, then the rest, by number.
 *
 * The search stops at 26 matches. Its cost does not depend on the number of customers, unless many customers match and
 * all of them are far down in the list.
 *
 * @param query a text parsed by `customerQuery`: trimmed, without control characters
 */
export async function findCustomers(db: Database, query: string): Promise<CustomerMatches> {
  let found = await findBeginnings(db, query);
  // One customer may match twice: by the number of a customer merged into it, and by a text within a field.
  if (found.length < WANTED)
    found = withoutDoubles(found, await findWithin(db, query, WANTED - found.length));
  return toMatches(found);
}

/** Finds the customers whose number is the text or starts with it, for callers who may not search personal data. */
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

/** Finds customers with the text inside a field, but not at the start of one. */
async function findWithin(db: Database, query: string, wanted: number): Promise<Found[]> {
  const values = { text: containsPattern(query), start: containsPattern(`\n${query}`) };
  const sample = await readSample(db, values);
  if (sample.length >= wanted) return sample;
  // A text without a match in the sample is rare, so searching the index is faster than reading more of the list.
  const near = sample.length === 0 ? [] : await readNear(db, values);
  if (near.length >= wanted) return near;
  const text = composed(query);
  if (hasTrigram(text)) return readByTrigram(db, values);
  return readByPairs(db, { ...values, pairs: JSON.stringify(letterPairs(text)) });
}

// The row limit of each search query. It is one more than the number of matches shown, so that further matches are
// detected.
const WANTED = MAX_MATCHES + 1;

/** `findBeginnings` reads all matches by index and sorts them if no field has more matches than this. */
const FEW = 200;
/** The limit of a second attempt, in place of `FEW`, if the start of the list contains too few matches. */
const SOME = 5000;
/** Number of rows at the start of the list to search for fields that start with a frequent text. */
const NEAR = 2000;
/** Number of rows at the start of the list that are sampled to see whether a text inside a field is rare. */
const SAMPLE = 1000;
/** Number of rows at the start of the list to search for a text that is not rare, before an index is searched. */
const FAR = 5000;
/** The search form of a text. It is a subquery, so that PostgreSQL computes it once and not for each row. */
const once = (text: SQL) => sql`(select ${searchForm(sql`${text}::text`)})`;

/** The ids of customers whose number or email address equals the text. */
const exactIds = (query: SQL) =>
  sql`select id from (${numbered([query])}) named
    union select id from ${customers} where lower(email) = lower(${query}::text)`;
const isExact = (query: SQL) => sql`${customers.id} = any(array(${exactIds(query)}))`;

/**
 * Makes the query for all customers with a field that starts with a text. If one field has more than `most` such
 * customers, the query returns only the exact matches, and `are_all` is false.
 */
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

/** Reads the customers whose number is the text or starts with it. */
const readByNumber = statement(['query'], (db, { query }) => {
  const exact = sql`select id from (${numbered([query])}) named`;
  const begun = sql`select customer_id from customers_beginning(${once(query)}, ${sql.raw(String(WANTED))})
    where field = 'number'`;
  return matching(
    db,
    sql`${customers.id} = any(array(${exact} union ${begun}))`,
    sql`${customers.id} = any(array(${exact})) desc`,
    asc(customers.customer_number),
  );
});

const has = (pattern: SQL) => sql`${customers.search_text} like ${once(pattern)}`;
/** The condition of `has`, written so that PostgreSQL cannot use an index and tests only rows it has already found. */
const shows = (pattern: SQL, searched: SQLWrapper = customers.search_text) =>
  sql`${searched} || '' like ${once(pattern)}`;
/**
 * The order by number, written so that PostgreSQL cannot use an index for it and sorts the rows it has already found.
 */
const sorted = sql`${customers.customer_number} || ''`;

const matching = (db: Database, where: SQL, ...order: SQL[]) =>
  db
    .select(snippetColumns)
    .from(customers)
    .where(where)
    .orderBy(...order)
    .limit(WANTED);

/** Searches only the first `count` rows of the list. */
function matchingFirst(db: Database, count: number, where: (searched: SQLWrapper) => SQL) {
  const first = db
    .select({ ...snippetColumns, search_text: customers.search_text })
    .from(customers)
    .orderBy(asc(customers.customer_number))
    .limit(literal(count))
    .as('first_ones');
  const { search_text, ...columns } = first._.selectedFields;
  return db
    .select(columns)
    .from(first)
    .where(where(search_text))
    .orderBy(asc(first.customer_number))
    .limit(WANTED);
}

const readBeginnings = statement(['start'], (db, { start }) =>
  matching(db, shows(start), asc(customers.customer_number)),
);

const readNearBeginnings = statement(['start'], (db, { start }) =>
  matchingFirst(db, NEAR, (searched) => shows(start, searched)),
);

const within = (count: number) =>
  statement(['text', 'start'], (db, { text, start }) =>
    matchingFirst(db, count, (searched) => sql`${shows(text, searched)} and not ${shows(start, searched)}`),
  );
const readSample = within(SAMPLE);
const readNear = within(FAR);

const readByTrigram = statement(['text', 'start'], (db, { text, start }) =>
  matching(db, sql`${has(text)} and not ${shows(start)}`, sorted),
);

const readByPairs = statement(['text', 'start', 'pairs'], (db, { text, start, pairs }) => {
  const hasPairs = sql`letter_pairs(${customers.search_text}) collate "C"
    @> array(select jsonb_array_elements_text(${once(pairs)}::jsonb))`;
  return matching(db, sql`${hasPairs} and ${shows(text)} and not ${shows(start)}`, sorted);
});

/** A customer in a form's list of choices, with the defaults for a new record. */
export type CustomerChoice = ReturnType<typeof toCustomerChoice>;

type Columns = Pick<
  CustomerRow,
  'customer_number' | 'name' | 'status' | 'currency' | 'tax_exempt' | 'country' | 'vat_id'
>;

export function toCustomerChoice(row: Columns, home: TaxHome) {
  const { customer_number, name, status, currency, country, vat_id, tax_exempt } = row;
  const buyer = { country, vat_id, tax_exempt };
  return { customer_number, name, status, currency, buyer, tax: taxRuleOf(row, home) };
}

/**
 * Finds the customers that a form offers for a text, in the order of `findCustomers`.
 *
 * @param query a text parsed by `customerQuery`
 * @param home our own country and tax rate
 */
export async function findCustomerChoices(db: Database, query: string, home: TaxHome) {
  const ids = (await findCustomers(db, query)).matches.map(({ id }) => id);
  if (ids.length === 0) return [];
  const found = await db
    .select({ ...snippetColumns, ...pickColumns(customers, 'currency', 'tax_exempt', 'country', 'vat_id') })
    .from(customers)
    .where(inArray(customers.id, ids));
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row ? [toCustomerChoice({ ...row, name: customerName(row) }, home)] : [];
  });
}
