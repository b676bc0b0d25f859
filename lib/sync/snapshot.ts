import {
  customerServices,
  customers,
  disputes,
  invoices,
  type KeptCheckout,
  payments,
  refunds,
  stripeCustomers,
  type stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';

export type Rows = { [Name in TableName]: Map<KeyOf<Name>, StoredRows[Name]> };

export interface StoredEvent {
  id: string;
  outcome: StoredOutcome;
  attempts: number;
  /** Body of the event. Empty if only the outcome was requested, or if the body was removed. */
  payload: string;
  checkout: (KeptCheckout & { completed_at: string; stripe_customer_id: string }) | null;
  isStorable: boolean;
}

export interface Snapshot {
  keys: Keys;
  rows: Rows;
  billing: BillingElsewhere[];
  /** Numbers of customers that were merged into another one, in lower case, with the id of that other customer. */
  merged: Map<string, number>;
  /** Ids of the customers with each requested e-mail address, as the database compares addresses. */
  withEmail: Map<string, number[]>;
  tombstones: Set<string>;
  /** Requested tasks that staff were already told of. */
  told: Set<string>;
  events: Map<string, StoredEvent>;
}

/** Returns an empty set of keys for reading a snapshot. A snapshot also contains related rows: see `read`. */
export const noKeys = () => ({
  events: [] as string[],
  /** Ids of Stripe customers, to read their links and linked customers. */
  stripeCustomers: [] as string[],
  /** Ids of Stripe customers, to read all their subscriptions. */
  whole: [] as string[],
  /** Ids of Stripe customers, to read their completed checkouts. */
  checkouts: [] as string[],
  /** Ids of our customers, to read all their links. */
  linked: [] as number[],
  /** Customer numbers, in any case. */
  numbers: [] as string[],
  emails: [] as string[],
  subscriptions: [] as string[],
  subscriptionIds: [] as number[],
  items: [] as string[],
  serviceIds: [] as number[],
  serviceNumbers: [] as string[],
  invoices: [] as string[],
  /** References of payments and of deleted payments. */
  payments: [] as string[],
  /** Payments by our ids, with their refunds and disputes, and by Stripe's payment intents. */
  paymentIds: [] as number[],
  intents: [] as string[],
  /** Refunds and disputes by Stripe's ids, each with its payment. */
  refunds: [] as string[],
  disputes: [] as string[],
  /** A second and an object's id (`secondKey`), to read all events of the object that Stripe created in that second. */
  seconds: [] as string[],
  /** Staff tasks that may already exist, by kind and subject. */
  tasks: [] as string[],
  /** Subscriptions, to read their applied events, the latest first. */
  reported: [] as string[],
});

export type Keys = ReturnType<typeof noKeys>;
type Key = Keys[keyof Keys][number];

/** Returns a full set of keys in which all others are empty. */
export const keysOf = (some: Partial<Keys>): Keys => mergeKeys(noKeys(), some);

export function mergeKeys(one: Keys, more: Partial<Keys>): Keys {
  const merged: Record<string, Key[]> = { ...one };
  for (const name in more) {
    const known: Key[] = merged[name] ?? [];
    const keys: Key[] = more[name as keyof Keys] ?? [];
    if (!keys.every((key) => known.includes(key))) merged[name] = [...new Set([...known, ...keys])];
  }
  return merged as unknown as Keys;
}

export function uniteKeys(all: Keys[]): Keys {
  const [first = noKeys(), ...others] = all;
  if (others.length === 0) return first;
  const names = Object.keys(first) as (keyof Keys)[];
  const united = names.map((name) => [name, [...new Set<Key>(all.flatMap((keys): Key[] => keys[name]))]]);
  return Object.fromEntries(united) as Keys;
}

export const secondKey = (objectId: string, second: Date): string => `${second.toISOString()} ${objectId}`;

/** The tables that sync reads and writes, in the order in which the commit creates ids. */
export const TABLES = {
  links: stripeCustomers,
  customers,
  services: customerServices,
  subscriptions,
  items: subscriptionItems,
  invoices,
  payments,
  refunds,
  disputes,
} as const;

export type TableName = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

export type KeyOf<Name extends TableName> = Name extends 'links' ? string : number;
export const keyColumn = (name: TableName) => (name === 'links' ? 'stripe_customer_id' : 'id');

export type StoredRows = {
  [Name in TableName]: Name extends keyof InPart ? InPart[Name] : (typeof TABLES)[Name]['$inferSelect'];
};

interface InPart {
  customers: Pick<
    typeof customers.$inferSelect,
    | 'id'
    | 'customer_number'
    | 'email'
    | 'last_name'
    | 'phone'
    | 'street'
    | 'postal_code'
    | 'city'
    | 'country'
    | 'erased_at'
    | 'version'
  >;
  services: Pick<
    typeof customerServices.$inferSelect,
    | 'id'
    | 'customer_id'
    | 'service_number'
    | 'status'
    | 'price'
    | 'currency'
    | 'billing_interval'
    | 'next_billing_date'
    | 'synced_billing_date'
    | 'ends_on'
    | 'synced_ends_on'
    | 'version'
  >;
}

export type StoredLink = StoredRows['links'];
export type StoredCustomer = StoredRows['customers'];
export type StoredService = StoredRows['services'];
export type StoredSubscription = StoredRows['subscriptions'];
export type StoredItem = StoredRows['items'];
export type StoredInvoice = StoredRows['invoices'];
export type StoredPayment = StoredRows['payments'];
export type StoredRefund = StoredRows['refunds'];
export type StoredDispute = StoredRows['disputes'];
export type StoredOutcome = (typeof stripeEvents.$inferSelect)['outcome'];

/** A live item of a sure customer, in a subscription that the snapshot does not contain as a whole. */
export interface BillingElsewhere {
  customer_service_id: number;
  subscription_id: number;
  until: Date;
  endsAt: Date | null;
}
