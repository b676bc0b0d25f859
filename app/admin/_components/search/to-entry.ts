import { formatMoney } from '@/app/_components/format';
import type { SearchHit, SearchKind, SearchResults } from '@/lib/search/schema';

/** A search result as the search page and the search dialog show it. */
export interface SearchEntry {
  href: string;
  title: string;
  detail: string;
  /** Status of the record. Null for a page. */
  status: string | null;
  figure: string | null;
}

/** The response body for the search dialog. */
export interface SearchAnswer {
  groups: { label: string; more: boolean; entries: SearchEntry[] }[];
}

const PLACES: Record<SearchKind, string> = {
  customer: '/admin/customers',
  invoice: '/admin/invoices',
  credit_note: '/admin/credit-notes',
  payment: '/admin/payments',
  service: '/admin/services',
  sales_document: '/admin/sales-documents',
  server: '/admin/servers',
  subscription: '/admin/subscriptions',
  event: '/admin/webhooks',
};

export function toAnswer({ groups }: SearchResults): SearchAnswer {
  return { groups: groups.map(({ label, more, hits }) => ({ label, more, entries: hits.map(toEntry) })) };
}

export function toEntry(hit: SearchHit): SearchEntry {
  const { title, detail, status, figure } = hit;
  return {
    href: hrefOf(hit),
    title,
    detail,
    status,
    figure: figure ? formatMoney(figure.amount, figure.currency) : null,
  };
}

/** Returns the URL of a record's page. */
export function hrefOf({ kind, id }: Pick<SearchHit, 'kind' | 'id'>): string {
  return `${PLACES[kind]}/${encodeURIComponent(id)}`;
}

/** Lists what can be searched, as the end of a sentence such as “You can search …”. */
export const SEARCHED =
  'customers by name, number or e-mail address, words in any order; invoices, credit notes, services and sales documents by the beginning or end of their number; payments by any part of their reference; invoices and payments by amount, such as 392.00; invoices also by their open amount; services by domain; servers by name, address or location; and everything by Stripe ID or #ID.';
