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
  if (found.length < MATCH_LIMIT)
    found = withoutDoubles(found, await findWithin(db, query, MATCH_LIMIT - Math.max(0, found.length - 1)));
  return toMatches(found);
}

/** Finds the customers whose number is the text or starts with it, for callers who may not search personal data. */
export async function findCustomersByNumber(db: Database, query: string): Promise<CustomerMatches> {
  return toMatches(await readByNumber(db, { query }));
}

function toMatches(found: FoundCustomer[]): CustomerMatches {
  const matches = found.slice(0, MAX_MATCHES).map(toCustomerSnippet);
  return customerMatches.parse({ count: matches.length, truncated: found.length > MAX_MATCHES, matches });
}

type FoundCustomer = Parameters<typeof toCustomerSnippet>[0];

/** Finds exact matches, and customers with a field that starts with the text. */
async function findBeginnings(db: Database, query: string): Promise<FoundCustomer[]> {
  const values = { query, start: containsPattern(`\n${query}`) };
  const few = await readFew(db, values);
  const exact = few.filter(isFound);
  if (areAll(few)) return exact;
  const near = withoutDoubles(exact, await readNearBeginnings(db, values));
  if (near.length >= MATCH_LIMIT) return near;
  const some = await readSome(db, values);
  if (areAll(some)) return some.filter(isFound);
  return withoutDoubles(exact, await readBeginnings(db, values));
}

type BeginningRow = { [Name in keyof FoundCustomer]: FoundCustomer[Name] | null } & { are_all: boolean };
const areAll = ([first]: BeginningRow[]): boolean => first?.are_all === true;
const isFound = (row: BeginningRow): row is BeginningRow & FoundCustomer => row.id !== null;

function withoutDoubles(exact: FoundCustomer[], others: FoundCustomer[]): FoundCustomer[] {
  const known = new Set(exact.map(({ id }) => id));
  return [...exact, ...others.filter(({ id }) => !known.has(id))].slice(0, MATCH_LIMIT);
}

/** Finds customers with the text inside a field, but not at the start of one. */
async function findWithin(db: Database, query: string, wanted: number): Promise<FoundCustomer[]> {
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
const MATCH_LIMIT = MAX_MATCHES + 1;

/** `findBeginnings` reads all matches by index and sorts them if no field has more matches than this. */
const FEW = 200;
/** The limit of a second attempt, in place of `FEW`, if the start of the list contains too few matches. */
const SOME = 5000;
/** Number of rows at the start of the list to search for fields that start with a frequent text. */
const NEAR_ROWS = 2000;
/** Number of rows at the start of the list that are sampled to see whether a text inside a field is rare. */
const SAMPLE_ROWS = 1000;
/** Number of rows at the start of the list to search for a text that is not rare, before an index is searched. */
const FAR_ROWS = 5000;
/** The search form of a text. It is a subquery, so that PostgreSQL computes it once and not for each row. */
const searchFormOf = (text: SQL) => sql`(select ${searchForm(sql`${text}::text`)})`;

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
            select * from customers_beginning(${searchFormOf(query)}, ${limit} + 1)
          ), counted as (
            select not exists (select from some_of_each group by field having count(*) > ${limit}) as are_all
          )
          select are_all, array(
            select customer_id from some_of_each where are_all union ${exactIds(query)}
          ) as ids from counted) begun`,
      )
      .leftJoin(customers, sql`${customers.id} = any(begun.ids)`)
      .orderBy(sql`${isExact(query)} is true desc`, asc(customers.customer_number))
      .limit(MATCH_LIMIT);
  });
const readFew = beginningsUpTo(FEW);
const readSome = beginningsUpTo(SOME);

/** Reads the customers whose number is the text or starts with it. */
const readByNumber = statement(['query'], (db, { query }) => {
  const exact = sql`select id from (${numbered([query])}) named`;
  const begun = sql`select customer_id from customers_beginning(${searchFormOf(query)}, ${sql.raw(String(MATCH_LIMIT))})
    where field = 'number'`;
  return selectMatching(
    db,
    sql`${customers.id} = any(array(${exact} union ${begun}))`,
    sql`${customers.id} = any(array(${exact})) desc`,
    asc(customers.customer_number),
  );
});

const containsText = (pattern: SQL) => sql`${customers.search_text} like ${searchFormOf(pattern)}`;
/**
 * The condition of `containsText`, written so that PostgreSQL cannot use an index and tests only rows it has already
 * found.
 */
const containsTextUnindexed = (pattern: SQL, searched: SQLWrapper = customers.search_text) =>
  sql`${searched} || '' like ${searchFormOf(pattern)}`;
/**
 * The order by number, written so that PostgreSQL cannot use an index for it and sorts the rows it has already found.
 */
const byNumberUnindexed = sql`${customers.customer_number} || ''`;

const selectMatching = (db: Database, where: SQL, ...order: SQL[]) =>
  db
    .select(snippetColumns)
    .from(customers)
    .where(where)
    .orderBy(...order)
    .limit(MATCH_LIMIT);

/** Searches only the first `count` rows of the list. */
function selectFirstMatching(db: Database, count: number, where: (searched: SQLWrapper) => SQL) {
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
    .limit(MATCH_LIMIT);
}

const readBeginnings = statement(['start'], (db, { start }) =>
  selectMatching(db, containsTextUnindexed(start), asc(customers.customer_number)),
);

const readNearBeginnings = statement(['start'], (db, { start }) =>
  selectFirstMatching(db, NEAR_ROWS, (searched) => containsTextUnindexed(start, searched)),
);

const searchFirstRows = (count: number) =>
  statement(['text', 'start'], (db, { text, start }) =>
    selectFirstMatching(
      db,
      count,
      (searched) =>
        sql`${containsTextUnindexed(text, searched)} and not ${containsTextUnindexed(start, searched)}`,
    ),
  );
const readSample = searchFirstRows(SAMPLE_ROWS);
const readNear = searchFirstRows(FAR_ROWS);

const readByTrigram = statement(['text', 'start'], (db, { text, start }) =>
  selectMatching(db, sql`${containsText(text)} and not ${containsTextUnindexed(start)}`, byNumberUnindexed),
);

const readByPairs = statement(['text', 'start', 'pairs'], (db, { text, start, pairs }) => {
  const hasPairs = sql`letter_pairs(${customers.search_text}) collate "C"
    @> array(select jsonb_array_elements_text(${searchFormOf(pairs)}::jsonb))`;
  return selectMatching(
    db,
    sql`${hasPairs} and ${containsTextUnindexed(text)} and not ${containsTextUnindexed(start)}`,
    byNumberUnindexed,
  );
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
