import type { disputeStatus } from '@/db/schema';

/** Immutable records of the local Stripe, for all API versions. Amounts are in minor units, times in epoch seconds. */

export type Metadata = Readonly<Record<string, string>>;

interface Entity<Kind extends string> {
  readonly object: Kind;
  readonly id: string;
  readonly created: number;
}

export interface Address {
  readonly line1: string;
  readonly line2: string | null;
  readonly postal_code: string;
  readonly city: string;
  readonly country: string;
}

export interface Customer extends Entity<'customer'> {
  readonly email: string | null;
  readonly name: string | null;
  readonly address: Address | null;
  readonly metadata: Metadata;
  readonly deleted: boolean;
  /** Prefix of the customer's invoice numbers. */
  readonly invoicePrefix: string;
  readonly nextInvoiceSequence: number;
}

export const SUBSCRIPTION_STATUSES = [
  'active',
  'past_due',
  'unpaid',
  'canceled',
  'incomplete',
  'incomplete_expired',
  'trialing',
  'paused',
] as const;

/** Units of Stripe's billing intervals. */
export const INTERVALS = ['day', 'week', 'month', 'year'] as const;
export type Interval = (typeof INTERVALS)[number];

export interface SubscriptionItem {
  readonly id: string;
  readonly created: number;
  readonly priceId: string;
  readonly unitAmount: number;
  readonly interval: Interval;
  readonly intervalCount: number;
  readonly quantity: number;
  readonly currentPeriodStart: number;
  readonly currentPeriodEnd: number;
  readonly metadata: Metadata;
}

export interface Subscription extends Entity<'subscription'> {
  readonly customer: string;
  readonly status: (typeof SUBSCRIPTION_STATUSES)[number];
  readonly currency: string;
  readonly collectionMethod: CollectionMethod;
  readonly cancelAtPeriodEnd: boolean;
  /** Planned end. With flexible billing, the customer portal sets this field and leaves `cancelAtPeriodEnd` false. */
  readonly cancelAt: number | null;
  readonly canceledAt: number | null;
  readonly endedAt: number | null;
  readonly pauseCollection: { readonly behavior: string; readonly resumesAt: number | null } | null;
  readonly trialEnd: number | null;
  readonly latestInvoice: string | null;
  readonly metadata: Metadata;
  readonly items: readonly SubscriptionItem[];
}

export type CollectionMethod = 'charge_automatically' | 'send_invoice';

export interface InvoiceLine {
  readonly id: string;
  /** Amount before the discount and without tax. */
  readonly amount: number;
  /** Discount of the line. Worlds saved by an older version lack it. */
  readonly discount?: number;
  readonly description: string | null;
  readonly quantity: number;
  readonly priceId: string | null;
  readonly subscriptionItem: string | null;
  readonly periodStart: number;
  readonly periodEnd: number;
}

export const discountOf = (lines: readonly { readonly discount?: number | undefined }[]): number =>
  lines.reduce((sum, { discount = 0 }) => sum + discount, 0);

export interface Invoice extends Entity<'invoice'> {
  readonly customer: string;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly customerAddress: Address | null;
  readonly subscription: string | null;
  readonly subscriptionMetadata: Metadata;
  readonly status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void';
  readonly number: string | null;
  readonly currency: string;
  readonly billingReason: 'manual' | 'subscription_create' | 'subscription_cycle';
  readonly collectionMethod: CollectionMethod;
  readonly dueDate: number | null;
  readonly subtotal: number;
  readonly tax: number;
  readonly total: number;
  /** Stripe's `amount_due`. Credit notes before payment reduce it. Payments and later credit notes do not. */
  readonly amountDue: number;
  /** The customer's balance when the invoice was created. Negative for a credit, positive for a debt. */
  readonly startingBalance: number;
  readonly amountPaid: number;
  /** Part of `amountPaid` that Stripe did not collect itself. */
  readonly amountPaidOffStripe: number;
  /** Amount that credit notes subtracted from `amountDue` before payment. */
  readonly prePaymentCreditNotesAmount: number;
  /** Amount that credit notes returned after payment. It does not change `amountPaid`. */
  readonly postPaymentCreditNotesAmount: number;
  readonly attempted: boolean;
  readonly attemptCount: number;
  readonly nextPaymentAttempt: number | null;
  readonly finalizedAt: number | null;
  /** Id of the invoice that this invoice revises. Null if it revises no invoice. */
  readonly revises: string | null;
  /** The date printed on the invoice. If null, the invoice shows the date of its finalization. */
  readonly effectiveAt: number | null;
  readonly paidAt: number | null;
  readonly voidedAt: number | null;
  readonly markedUncollectibleAt: number | null;
  readonly periodStart: number;
  readonly periodEnd: number;
  readonly metadata: Metadata;
  readonly lines: readonly InvoiceLine[];
  readonly paymentIntent: string | null;
  readonly charge: string | null;
}

/** Returns a line's share of the invoice's tax. The shares of all lines add up to the tax. */
export function lineTax({ tax, lines }: Invoice, line: InvoiceLine): number {
  const nets = lines.map(({ amount, discount = 0 }) => amount - discount);
  const net = nets.reduce((sum, one) => sum + one, 0);
  const at = lines.indexOf(line);
  if (net === 0) return at === 0 ? tax : 0;
  const upTo = (end: number) =>
    Math.round((tax * nets.slice(0, end).reduce((sum, one) => sum + one, 0)) / net);
  return upTo(at + 1) - upTo(at);
}

export interface InvoicePayment extends Entity<'invoice_payment'> {
  readonly invoice: string;
  readonly amountRequested: number;
  /** Amount paid. Null until the payment succeeds. */
  readonly amountPaid: number | null;
  readonly currency: string;
  readonly isDefault: boolean;
  readonly status: 'open' | 'paid' | 'canceled';
  readonly payment:
    | { readonly type: 'payment_intent'; readonly payment_intent: string }
    | { readonly type: 'payment_record'; readonly payment_record: string };
  readonly paidAt: number | null;
  readonly canceledAt: number | null;
}

export interface PaymentIntent extends Entity<'payment_intent'> {
  readonly customer: string;
  readonly invoice: string | null;
  readonly amount: number;
  readonly amountReceived: number;
  readonly currency: string;
  readonly status: 'requires_payment_method' | 'processing' | 'succeeded' | 'canceled';
  readonly latestCharge: string | null;
  readonly lastPaymentError: { readonly code: string; readonly message: string } | null;
  readonly canceledAt: number | null;
  /** Bank debits that failed after they had begun. */
  readonly failedDebits?: readonly FailedDebit[];
}

/** A bank debit that failed. Stripe adds its money to the balance when it begins, and takes it back when it fails. */
export interface FailedDebit {
  readonly charge: string;
  readonly amount: number;
  readonly failedAt: number;
}

export interface CheckoutSession extends Entity<'checkout.session'> {
  readonly customer: string | null;
  readonly customerEmail: string | null;
  readonly mode: 'payment' | 'setup' | 'subscription';
  readonly status: 'open' | 'complete' | 'expired';
  readonly paymentStatus: 'paid' | 'unpaid' | 'no_payment_required';
  readonly subscription: string | null;
  readonly invoice: string | null;
  readonly clientReferenceId: string | null;
  readonly currency: string;
  readonly amountTotal: number;
  readonly metadata: Metadata;
  /** Items of the subscription that the checkout will create. */
  readonly lineItems: readonly ItemInput[];
  readonly subscriptionMetadata: Metadata;
}

export type ItemInput = Pick<SubscriptionItem, 'unitAmount'> &
  Partial<Pick<SubscriptionItem, 'quantity' | 'interval' | 'intervalCount' | 'priceId' | 'metadata'>>;

export interface Refund extends Entity<'refund'> {
  readonly amount: number;
  readonly charge: string;
  readonly paymentIntent: string;
  readonly customer: string;
  readonly currency: string;
  readonly status: 'pending' | 'requires_action' | 'succeeded' | 'failed' | 'canceled';
  readonly reason: 'duplicate' | 'fraudulent' | 'requested_by_customer' | null;
  readonly failureReason: string | null;
  readonly balanceTransaction: string;
  /**
   * Balance transaction that returns the money of a failed or canceled refund to the account. Null for other refunds.
   */
  readonly failureBalanceTransaction: string | null;
  readonly metadata: Metadata;
}

export type DisputeStatus = (typeof disputeStatus.enumValues)[number];

export interface DisputeTransaction {
  readonly id: string;
  readonly created: number;
  /** Amount that moved. Negative if the money is withdrawn from our account. */
  readonly amount: number;
}

export interface Dispute extends Entity<'dispute'> {
  readonly amount: number;
  readonly charge: string;
  readonly paymentIntent: string;
  readonly currency: string;
  readonly reason: string;
  readonly status: DisputeStatus;
  /** Deadline for evidence, in epoch seconds. As at Stripe, it is 0 if the bank accepts no evidence. */
  readonly evidenceDueBy: number;
  readonly submissionCount: number;
  /** True if the last evidence was submitted after the deadline. */
  readonly pastDue: boolean;
  readonly balanceTransactions: readonly DisputeTransaction[];
}

export interface CreditNote extends Entity<'credit_note'> {
  readonly number: string;
  readonly invoice: string;
  readonly customer: string;
  readonly currency: string;
  readonly amount: number;
  /** Amount by which the note reduced the invoice's unpaid amount. */
  readonly prePaymentAmount: number;
  /** Paid amount that is returned: by a refund, to the customer's balance, or outside Stripe. */
  readonly postPaymentAmount: number;
  readonly outOfBandAmount: number;
  readonly customerBalanceTransaction: string | null;
  readonly refunds: readonly { readonly refund: string; readonly amount: number }[];
  readonly reason: 'duplicate' | 'fraudulent' | 'order_change' | 'product_unsatisfactory' | null;
  readonly status: 'issued' | 'void';
  readonly voidedAt: number | null;
  readonly metadata: Metadata;
}

/** A movement of the account's balance. The world stores a movement only when a payout contains it. */
export interface BalanceTransaction extends Entity<'balance_transaction'> {
  readonly type:
    | ('charge' | 'payment' | 'payment_failure_refund' | 'refund' | 'refund_failure')
    | ('adjustment' | 'payout' | 'payout_failure');
  /** Amount in minor units. Negative if money leaves the balance. */
  readonly amount: number;
  readonly fee: number;
  readonly currency: string;
  readonly description: string | null;
  /** Id of the charge, refund, dispute or payout. */
  readonly source: string;
  /** Id of the payout that contains the movement. A manual payout contains only its own movement. */
  readonly payout: string;
}

export interface Payout extends Entity<'payout'> {
  /** Amount in minor units. Negative if Stripe withdraws money from the bank account. */
  readonly amount: number;
  readonly currency: string;
  readonly arrivalDate: number;
  readonly automatic: boolean;
  readonly status: 'paid' | 'failed';
  readonly failureCode: string | null;
  readonly balanceTransaction: string;
}

/** A charge, which `chargeOf` derives from a payment intent. The world does not store charges. */
export interface Charge extends Entity<'charge'> {
  readonly amount: number;
  readonly amountRefunded: number;
  readonly disputed: boolean;
  readonly customer: string;
  readonly currency: string;
  readonly paymentIntent: string;
  readonly invoice: string | null;
  readonly hasFailed: boolean;
}

export type WorldObject =
  | Customer
  | Subscription
  | Invoice
  | InvoicePayment
  | PaymentIntent
  | CheckoutSession
  | Charge
  | Refund
  | Dispute
  | CreditNote
  | BalanceTransaction
  | Payout;

/** An event, stored independently of API versions. `renderEvent` renders it for one API version. */
export interface WorldEvent extends Entity<'event'> {
  readonly type: string;
  readonly about: WorldObject;
  /** The record before the change. Null unless the event reports an update. */
  readonly previous: WorldObject | null;
}
