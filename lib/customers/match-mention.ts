import { ilike, or, type SQL } from 'drizzle-orm';
import { customers } from '@/db/schema';
import { indexedPatterns } from '../search-text';

/** Customers with a text in one of their fields, as an index finds them; undefined where none could. */
export function matchMention(text: string): SQL | undefined {
  return or(...indexedPatterns(text, [' ', '\n']).map((pattern) => ilike(customers.search_text, pattern)));
}
