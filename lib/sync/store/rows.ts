import type {
  customerServices,
  customers,
  invoices,
  payments,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';

/** What sync stores, row by row. */
export type StoredLink = typeof stripeCustomers.$inferSelect;
export type StoredSubscription = typeof subscriptions.$inferSelect;
export type StoredItem = typeof subscriptionItems.$inferSelect;
export type StoredInvoice = typeof invoices.$inferSelect;
export type StoredPayment = typeof payments.$inferSelect;
export type StoredOutcome = (typeof stripeEvents.$inferSelect)['outcome'];

export type StoredCustomer = Pick<
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
  | 'version'
>;

export type StoredService = Pick<
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
  | 'version'
>;

/** A live item, of a surely known customer, of a subscription that was not read as a whole. */
export interface BillingElsewhere {
  customer_service_id: number;
  subscription_id: number;
  until: Date;
  endsAt: Date | null;
}
