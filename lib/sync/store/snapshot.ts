import type { KeptCheckout } from '@/db/schema';
import type { Keys } from './keys';
import type { BillingElsewhere, KeyOf, StoredOutcome, StoredRows, TableName } from './rows';

/** Rows by what identifies them, in the order of that. */
export type Rows = { [Name in TableName]: Map<KeyOf<Name>, StoredRows[Name]> };

/** An event of the inbox, as far as a decision looks at it. */
export interface StoredEvent {
  id: string;
  outcome: StoredOutcome;
  attempts: number;
  /** Empty where only its outcome was asked for, or the body was removed. */
  payload: string;
  /** What is kept of a checkout without its body. */
  checkout: (KeptCheckout & { completed_at: string; stripe_customer_id: string }) | null;
  isStorable: boolean;
}

/** What was stored at one moment, as far as its keys lead. */
export interface Snapshot {
  keys: Keys;
  rows: Rows;
  billing: BillingElsewhere[];
  /** Numbers, in lower case, of customers that were merged into another one, and which that is. */
  merged: Map<string, number>;
  /** Customers by the e-mail addresses that were asked for, as the database compares them. */
  withEmail: Map<string, number[]>;
  /** References whose payment was deleted. */
  tombstones: Set<string>;
  events: Map<string, StoredEvent>;
}
