import { asc, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, searchForm } from '@/db/schema';
import { statement } from '@/db/statement';
import { literal } from '../page-query';
import { numbered } from './merged-customers';
import { MAX_MATCHES } from './schema';
import { snippetColumns } from './snippet';

// What a search for customers asks, see find-customers.ts. All answer so many at most:
export const WANTED = MAX_MATCHES + 1;

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
export const readFew = beginningsUpTo(FEW);
export const readSome = beginningsUpTo(SOME);

/** Those whose number is the text or begins with it. No other field is searched. */
export const readByNumber = statement(['query'], (db, { query }) => {
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
/** The same, of which no index knows. */
const shows = (pattern: SQL, searched: SQLWrapper = customers.search_text) =>
  sql`${searched} || '' like ${once(pattern)}`;
/** Sorted, without going through the list in its order. */
const sorted = sql`${customers.customer_number} || ''`;

export const readBeginnings = statement(['start'], (db, { start }) =>
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

export const readNearBeginnings = statement(['start'], (db, { start }) => {
  const near = firstOf(db, NEAR);
  const { search_text, ...columns } = near._.selectedFields;
  return db
    .select(columns)
    .from(near)
    .where(shows(start, search_text))
    .orderBy(asc(near.customer_number))
    .limit(WANTED);
});

export const readNear = statement(['text', 'start'], (db, { text, start }) => {
  const near = firstOf(db, FAR);
  const { search_text, ...columns } = near._.selectedFields;
  return db
    .select(columns)
    .from(near)
    .where(sql`${shows(text, search_text)} and not ${shows(start, search_text)}`)
    .orderBy(asc(near.customer_number))
    .limit(WANTED);
});

export const readByTrigram = statement(['text', 'start'], (db, { text, start }) =>
  db
    .select(snippetColumns)
    .from(customers)
    .where(sql`${has(text)} and not ${shows(start)}`)
    .orderBy(sorted)
    .limit(WANTED),
);

export const readByPairs = statement(['text', 'start', 'pairs'], (db, { text, start, pairs }) =>
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
