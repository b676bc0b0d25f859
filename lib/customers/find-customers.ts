import type { Database } from '@/db/database';
import { composed, containsPattern, hasTrigram, letterPairs } from '../search-text';
import {
  readBeginnings,
  readByNumber,
  readByPairs,
  readByTrigram,
  readFew,
  readNear,
  readNearBeginnings,
  readSome,
  WANTED,
} from './find-statements';
import { type CustomerMatches, customerMatches, MAX_MATCHES } from './schema';
import { toCustomerSnippet } from './snippet';

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

/** The exact ones, and those of which a field starts with the text. */
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
