import {
  customerServices,
  customers,
  disputes,
  invoices,
  payments,
  refunds,
  stripeCustomers,
  type stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';

/** The tables that sync reads and writes, in the order in which ids are made. */
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

/** A live item, of a surely known customer, of a subscription that was not read as a whole. */
export interface BillingElsewhere {
  customer_service_id: number;
  subscription_id: number;
  until: Date;
  endsAt: Date | null;
}
