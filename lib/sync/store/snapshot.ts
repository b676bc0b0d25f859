import type { KeptCheckout } from '@/db/schema';
import type { Keys } from './keys';
import type { BillingElsewhere, KeyOf, StoredOutcome, StoredRows, TableName } from './rows';

export type Rows = { [Name in TableName]: Map<KeyOf<Name>, StoredRows[Name]> };

export interface StoredEvent {
  id: string;
  outcome: StoredOutcome;
  attempts: number;
  /** Empty where only its outcome was asked for, or the body was removed. */
  payload: string;
  checkout: (KeptCheckout & { completed_at: string; stripe_customer_id: string }) | null;
  isStorable: boolean;
}

export interface Snapshot {
  keys: Keys;
  rows: Rows;
  billing: BillingElsewhere[];
  /** Numbers, in lower case, of customers that were merged into another one, and which that is. */
  merged: Map<string, number>;
  /** Customers by the e-mail addresses that were asked for, as the database compares them. */
  withEmail: Map<string, number[]>;
  tombstones: Set<string>;
  /** Those of the tasks that were asked for that staff know of. */
  told: Set<string>;
  events: Map<string, StoredEvent>;
}
