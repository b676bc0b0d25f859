import { searchLine } from '../fields';

/** Schema of a search text, such as a number, a name, an e-mail or IP address, a domain, an amount or a Stripe id. */
export const searchText = searchLine(200);

/** Maximum number of hits of each kind. */
export const MAX_HITS = 5;

export type SearchKind =
  | 'customer'
  | 'invoice'
  | 'credit_note'
  | 'payment'
  | 'service'
  | 'sales_document'
  | 'server'
  | 'subscription'
  | 'event';

/** A record that a search found, with the details that distinguish it from similar records. */
export interface SearchHit {
  kind: SearchKind;
  /** Our id. For an event, it is the Stripe id. */
  id: number | string;
  title: string;
  detail: string;
  status: string;
  figure?: { amount: number; currency: string };
}

export interface SearchGroup {
  kind: SearchKind;
  label: string;
  /** Hits of this kind. Exact hits come first. */
  hits: SearchHit[];
  /** Whether more records of this kind match than are in `hits`. */
  more: boolean;
}

export interface SearchResults {
  groups: SearchGroup[];
  /** The hit, if it is the only one and matches the text exactly. Otherwise null. */
  only: SearchHit | null;
}
