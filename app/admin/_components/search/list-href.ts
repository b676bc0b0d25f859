import { toHref } from '@/app/_components/search-params';
import { typedAmounts } from '@/lib/read-amount';
import type { SearchKind } from '@/lib/search/schema';
import { hasTrigram } from '@/lib/search-text';

interface ListFilter {
  path: string;
  /** Query parameter that filters the list by a text. */
  name: string;
  /** Whether the filter finds all records that the search finds. A filter covers fewer fields than the search. */
  findsAll(text: string): boolean;
}

const FILTERS: Partial<Record<SearchKind, ListFilter>> = {
  customer: {
    path: '/admin/customers',
    name: 'q',
    // For several words, the search also finds customers who have them in different fields.
    findsAll: (text) => text.split(/\s+/).filter(hasTrigram).length < 2,
  },
  payment: {
    path: '/admin/payments',
    name: 'reference',
    // The search also finds payments by their amount or by their Stripe payment intent.
    findsAll: (text) => typedAmounts(text).length === 0 && !text.startsWith('pi_'),
  },
  service: {
    path: '/admin/services',
    name: 'domain',
    // The search also finds services by the start or end of their number, which rarely has a dot.
    findsAll: (text) => text.includes('.'),
  },
};

/** Returns the URL of the list with all records of a kind that match a search. Returns null if no filter finds them. */
export function listHref(kind: SearchKind, text: string): string | null {
  const filter = FILTERS[kind];
  return filter?.findsAll(text) ? toHref(filter.path, { [filter.name]: text }) : null;
}
