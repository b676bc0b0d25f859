import { like, or, type SQL, sql } from 'drizzle-orm';
import { customers, searchForm } from '@/db/schema';
import { composed, indexedPatterns } from '../search-text';

/** Customers with a text in one of their fields, as an index finds them; undefined where none could. */
export function matchMention(text: string): SQL | undefined {
  return or(...indexedPatterns(composed(text), [' ', '\n']).map(hasAlike));
}

/** Whether one of a customer's fields is like a pattern. */
export function hasAlike(pattern: string): SQL {
  return like(customers.search_text, searchForm(sql`${pattern}::text`));
}
