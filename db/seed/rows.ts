import type {
  customerServices,
  customers,
  disputes,
  invoiceLines,
  invoices,
  payments,
  refunds,
  salesDocumentLines,
  salesDocuments,
  servers,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
} from '../schema';
import type { Calendar } from './calendar';
import type { Chance } from './chance';

/** What the database fills itself is left to it. */
type Seeded<Row> = Omit<
  Row,
  'created_at' | 'updated_at' | 'erased_at' | 'search_text' | 'is_stub' | 'version'
>;

export type CustomerRow = Seeded<typeof customers.$inferSelect>;
export type StripeCustomerRow = Seeded<typeof stripeCustomers.$inferSelect>;
export type ServerRow = Seeded<typeof servers.$inferSelect>;
export type ServiceRow = Seeded<typeof customerServices.$inferSelect>;
export type SubscriptionRow = Seeded<typeof subscriptions.$inferSelect>;
export type SubscriptionItemRow = Seeded<typeof subscriptionItems.$inferSelect>;
export type InvoiceRow = Seeded<typeof invoices.$inferSelect>;
export type InvoiceLineRow = Seeded<typeof invoiceLines.$inferSelect>;
export type SalesDocumentRow = Seeded<typeof salesDocuments.$inferSelect>;
export type SalesDocumentLineRow = Seeded<typeof salesDocumentLines.$inferSelect>;
export type PaymentRow = Seeded<typeof payments.$inferSelect>;
export type RefundRow = Seeded<typeof refunds.$inferSelect>;
export type DisputeRow = Seeded<typeof disputes.$inferSelect>;

/** All rows of the sample company, in the order in which foreign keys let them in. */
export interface SeedRows {
  customers: CustomerRow[];
  stripe_customers: StripeCustomerRow[];
  servers: ServerRow[];
  customer_services: ServiceRow[];
  subscriptions: SubscriptionRow[];
  subscription_items: SubscriptionItemRow[];
  invoices: InvoiceRow[];
  invoice_lines: InvoiceLineRow[];
  sales_documents: SalesDocumentRow[];
  sales_document_lines: SalesDocumentLineRow[];
  payments: PaymentRow[];
  refunds: RefundRow[];
  disputes: DisputeRow[];
}

export interface Source {
  chance: Chance;
  calendar: Calendar;
}
