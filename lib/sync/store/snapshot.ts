import type { Keys } from './keys';
import type {
  BillingElsewhere,
  StoredCustomer,
  StoredInvoice,
  StoredItem,
  StoredLink,
  StoredOutcome,
  StoredPayment,
  StoredService,
  StoredSubscription,
} from './rows';

/** Rows by what identifies them, in the order of that. */
export interface Rows {
  links: Map<string, StoredLink>;
  customers: Map<number, StoredCustomer>;
  services: Map<number, StoredService>;
  subscriptions: Map<number, StoredSubscription>;
  items: Map<number, StoredItem>;
  invoices: Map<number, StoredInvoice>;
  payments: Map<number, StoredPayment>;
}

/** An event of the inbox, as far as a decision looks at it. */
export interface StoredEvent {
  id: string;
  outcome: StoredOutcome;
  attempts: number;
  /** Empty where only its outcome was asked for. */
  payload: string;
  isStorable: boolean;
}

/** What was stored at one moment, as far as its keys lead. */
export interface Snapshot {
  keys: Keys;
  rows: Rows;
  billing: BillingElsewhere[];
  /** References whose payment was deleted. */
  tombstones: Set<string>;
  events: Map<string, StoredEvent>;
}
