import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { spellings } from '../customers/match-customer';
import { prefixPattern } from '../search-text';

/** LIKE patterns for numbers that start with a text, as they are written. */
export function beginnings(text: string): string[] {
  return spellings(text)
    .filter((start) => start !== '')
    .map(prefixPattern);
}

/** Shorter endings are those of too many. */
const SHORTEST_ENDING = 3;

/** Numbers that end in a text, by the index over their reverse. */
export function endings(number: SQLWrapper, text: string): SQL[] {
  if (text.length < SHORTEST_ENDING) return [];
  return spellings(text).map(
    (end) => sql`reverse(${number}) like ${prefixPattern([...end].reverse().join(''))}`,
  );
}
