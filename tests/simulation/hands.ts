export type ServiceDate = 'next_billing_date' | 'ends_on';
export type ServiceDates = Partial<Record<ServiceDate, string>>;

/** What staff and programs do here, and what they see of our rows. */
export interface Hands extends Making {
  now(): Date;
  /** All of them, by id. */
  payments(): Promise<SeenPayment[]>;
  invoices(): Promise<SeenInvoice[]>;
  links(): Promise<{ stripe_customer_id: string; customer_id: number }[]>;
  /** Those that Stripe has, by id, with the customer that they are billed to. */
  items(): Promise<SeenItem[]>;
  itemsOf(stripeCustomerId: string): Promise<(string | null)[]>;
  isLinkedByStaff(itemId: number): Promise<boolean>;
  deletePayment(id: number): Promise<void>;
  updatePayment(id: number, changes: { amount?: number; status: 'refunded' | 'completed' }): Promise<void>;
  /** @throws AppError where it does not fit its invoice, or the reference is taken */
  recordPayment(payment: NewPayment): Promise<{ id: number }>;
  /** @throws AppError where another was quicker */
  linkStripeCustomer(id: string, link: { from: number; to: number }): Promise<void>;
  /** @throws AppError where another was quicker */
  linkItem(id: number, serviceNumber: string | null): Promise<void>;
  dateService(id: number, dates: ServiceDates): Promise<void>;
}

/** How rows of ours are made that are there before anything happens. */
export interface Making {
  makeCustomer(email: string | null): Promise<{ id: number; customer_number: string }>;
  /** One that was merged into this one. @returns the number that it had */
  makeMerged(customer_id: number): Promise<string>;
  makeService(service: NewService): Promise<{ id: number; service_number: string }>;
  /** One that waits for its checkout. */
  makeSold(customer_id: number): Promise<{ id: number }>;
  makeSoldItem(item: {
    subscription_id: number;
    customer_service_id: number | null;
    quantity: number;
  }): Promise<void>;
  /** One of our own, sent and not paid, of 100 EUR. */
  makeInvoice(customer_id: number): Promise<{ id: number }>;
  makeLink(link: {
    stripe_customer_id: string;
    customer_id: number;
    linked_by: 'staff' | 'email';
  }): Promise<void>;
}

export interface SeenPayment {
  id: number;
  payment_reference: string;
  source: string;
  provider_amount: string | null;
}

export interface SeenInvoice {
  id: number;
  stripe_invoice_id: string | null;
  customer_id: number;
}

export interface SeenItem {
  id: number;
  stripe_subscription_item_id: string | null;
  customer_service_id: number | null;
  owner: number;
}

export interface NewPayment {
  invoice_id: number;
  customer_id: number;
  amount: number;
  payment_date: string;
  payment_reference: string;
}

export interface NewService {
  customer_id: number;
  next_billing_date: string;
  ends_on: string | null;
  price: string;
  currency: string;
  billing_interval: 'month' | 'quarter' | 'year';
}
