import { spellings } from '../customers/match-customer';
import { prefixPattern } from '../search-text';

/** LIKE patterns for numbers that start with a text, as they are written. */
export function beginnings(text: string): string[] {
  return spellings(text)
    .filter((start) => start !== '')
    .map(prefixPattern);
}
