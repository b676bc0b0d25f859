import { and, asc, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { hasNumber, idAfterHash, spellings } from '../customers/match-customer';
import { matchMention } from '../customers/match-mention';
import { matchRank } from '../customers/queries';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { literal } from '../page-query';
import { hasTrigram } from '../search-text';
import { CANDIDATES, collect, type Found } from './collect';
import type { SearchHit } from './schema';

/** By number, e-mail address or Stripe's id; then by part of number, name, company or address. */
export function findCustomerHits(db: Database, text: string): Promise<Found> {
  const mention = matchMention(text);
  const words = mentionsAll(text);
  return collect(
    (limit) => readCustomers(db, isNamed(db, text), asc(customers.id), limit),
    async (limit) => (mention ? readBest(db, mention, text, limit) : []),
    async (limit) => (words ? readBest(db, words, text, limit) : []),
  );
}

/** Those that have each of several words, in any order and in any field; undefined where there are not several. */
function mentionsAll(text: string): SQL | undefined {
  const words = text.split(/\s+/).filter(hasTrigram).slice(0, MAX_WORDS);
  return words.length > 1 ? and(...words.map(matchMention)) : undefined;
}

const MAX_WORDS = 5;

function isNamed(db: Database, text: string): SQL | undefined {
  const linked = db
    .select({ id: stripeCustomers.customer_id })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.stripe_customer_id, text));
  const id = idAfterHash(text);
  if (id !== null) return eq(customers.id, id);
  if (text.startsWith('cus_')) return inArray(customers.id, linked);
  return or(hasNumber(spellings(text)), eq(sql`lower(${customers.email})`, text.toLowerCase()));
}

function readBest(db: Database, mention: SQL, text: string, limit: number) {
  const some = db.select({ id: customers.id }).from(customers).where(mention).limit(literal(CANDIDATES));
  return readCustomers(db, inArray(customers.id, some), matchRank(text), limit);
}

async function readCustomers(
  db: Database,
  where: SQL | undefined,
  order: SQL,
  limit: number,
): Promise<SearchHit[]> {
  const rows = await db
    .select(snippetColumns)
    .from(customers)
    .where(where)
    .orderBy(order, customers.customer_number)
    .limit(literal(limit));
  return rows.map(toCustomerSnippet).map(({ id, name, customer_number, email, status }) => ({
    kind: 'customer',
    id,
    title: name || customer_number,
    detail: [name && customer_number, email].filter(Boolean).join(' · '),
    status,
  }));
}
