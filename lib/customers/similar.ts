import { and, eq, or, sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { customerSerial, customers, mergedCustomers } from '@/db/schema';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { composed, containsPattern } from '../search-text';
import { hasOwnNumber, spellings } from './match-customer';
import { snippetColumns, toCustomerSnippet } from './queries';
import type { CustomerSnippet } from './schema';

/** Maximum number of similar customers to return. */
export const MOST_SIMILAR = 5;

/**
 * Returns a text in lower case without accents and umlauts (`ä` and `ae` become `a`), apostrophes and periods. Hyphens
 * and other separators become spaces. The SQL function `unaccented` does the same with `customers.search_text`.
 */
export function unaccented(text: string): string {
  return composed(text)
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f'’.]/g, '')
    .replace(/[-/,&+_]/g, ' ')
    .replace(/[øłđ]/g, (letter) => ({ ø: 'o', ł: 'l', đ: 'd' })[letter] ?? letter)
    .replace(/æ/g, 'ae')
    .replace(/ae/g, 'a')
    .replace(/oe/g, 'o')
    .replace(/ue/g, 'u');
}

/** Maximum number of words to search for. The longest are chosen, because an index cannot find short words. */
const WORDS = 4;

/**
 * Finds customers whose fields contain the longest words of a text in any order, regardless of accents and punctuation.
 * Returns no customers if no word has three letters or digits.
 */
export async function findSimilar(db: Database, text: string): Promise<CustomerSnippet[]> {
  const words = unaccented(text)
    .split(/[^\p{L}\p{N}]+/u)
    .toSorted((a, b) => b.length - a.length);
  const [longest = ''] = words;
  if (longest.length < 3) return [];
  const [a = '', b = a, c = a, d = a] = words.slice(0, WORDS).filter(Boolean).map(containsPattern);
  return (await readSimilar(db, { a, b, c, d })).map(toCustomerSnippet);
}

/** Number of matches after which the search stops. Comparing every customer with frequent words would take a second. */
const ENOUGH = 100;

const readSimilar = statement(['a', 'b', 'c', 'd'], (db, words) => {
  const text = sql`unaccented(${customers.search_text})`;
  const some = sql`(select ${customers.id} from ${customers} where ${text} like ${words.a} and ${text} like ${words.b}
    and ${text} like ${words.c} and ${text} like ${words.d} limit ${literal(ENOUGH)})`;
  return db
    .select(snippetColumns)
    .from(sql`${some} found`)
    .innerJoin(customers, eq(customers.id, sql`found.id`))
    .orderBy(sql`${customers.customer_number} || ''`)
    .limit(literal(MOST_SIMILAR));
});

const withoutPunctuation = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
/** Maximum number of customers whose numbers are compared with a text. */
const COMPARED = 200;

/**
 * Finds customers whose number differs from a text only in case, punctuation and spaces, or in leading letters that the
 * text lacks.
 */
export async function findByLooseNumber(db: Database, text: string): Promise<CustomerSnippet[]> {
  const wanted = withoutPunctuation(text);
  const digits = /\d+/.exec(wanted)?.[0] ?? '';
  if (wanted === '') return [];
  const c = customers;
  // Many other customers may have these digits elsewhere, for example in a longer number or in an e-mail address.
  const hasSameDigits = sql`regexp_replace(${c.customer_number}, '[^0-9]', '', 'g') = ${wanted.replace(/[^0-9]/g, '')}`;
  const found = await db
    .select(snippetColumns)
    .from(c)
    .where(
      and(
        hasSameDigits,
        or(
          hasOwnNumber(spellings(text)),
          digits.length > 0 && digits.length <= 15
            ? sql`${customerSerial(c.customer_number)} = ${digits}::bigint`
            : undefined,
          digits.length > 2 ? sql`${c.search_text} like ${containsPattern(digits)}` : undefined,
        ),
      ),
    )
    .orderBy(sql`${c.customer_number} || ''`)
    .limit(literal(COMPARED));
  return found.map(toCustomerSnippet).filter(({ customer_number }) => {
    const number = withoutPunctuation(customer_number);
    return number === wanted || number.replace(/^\p{L}+/u, '') === wanted;
  });
}

/** Returns the number of a merged customer, by its id or its number in any case. Returns null if it is not merged. */
export async function findMergedNumber(
  db: Database,
  by: { id: number } | { customer_number: string },
): Promise<string | null> {
  const m = mergedCustomers;
  const [found] = await db
    .select({ number: m.customer_number })
    .from(m)
    .where(
      'id' in by
        ? eq(m.id, Math.min(by.id, MAX_ID))
        : sql`lower(${m.customer_number}) = lower(${by.customer_number})`,
    )
    .limit(literal(1));
  return found?.number ?? null;
}
