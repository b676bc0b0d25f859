import {
  customerNotes,
  customerServices,
  invoices,
  mergedCustomers,
  payments,
  salesDocuments,
  stripeCustomers,
  subscriptions,
  toolCalls,
} from '@/db/schema';

/** In the order in which it is written; a test asks the database whether it is complete. */
export const REFERRING = [
  { table: stripeCustomers, noun: 'Stripe customer' },
  { table: mergedCustomers, noun: 'merged customer' },
  { table: customerNotes, noun: 'note' },
  { table: customerServices, noun: 'service' },
  { table: subscriptions, noun: 'subscription' },
  { table: invoices, noun: 'invoice' },
  { table: salesDocuments, noun: 'sales document' },
  { table: payments, noun: 'payment' },
  { table: toolCalls, noun: 'tool call' },
] as const;
