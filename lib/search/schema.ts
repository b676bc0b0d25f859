import { z } from 'zod';
import { textLine } from '../fields';

/** What staff search for: a number, a name, part of either, an address, an id of Stripe's. */
export const searchText = z.preprocess(
  (value) => (typeof value === 'string' ? value.trim() : value),
  textLine(200),
);

/** At most so many hits of a kind does a search answer. */
export const MAX_HITS = 5;

export type SearchKind =
  | 'customer'
  | 'invoice'
  | 'payment'
  | 'service'
  | 'sales_document'
  | 'server'
  | 'subscription'
  | 'event';

/** A record that was found, and what tells it from others like it. */
export interface SearchHit {
  kind: SearchKind;
  /** Ours; of an event Stripe's. */
  id: number | string;
  title: string;
  detail: string;
  status: string;
  figure?: { amount: number; currency: string };
}

export interface SearchGroup {
  kind: SearchKind;
  label: string;
  /** Those whose number, address or id is the text first. */
  hits: SearchHit[];
  /** True where there are others. */
  more: boolean;
}

export interface SearchResults {
  groups: SearchGroup[];
  /** The one record that the text names as a whole, where nothing else matches. */
  only: SearchHit | null;
}
