/** Money that comes back: what Stripe refunds, what a bank takes away, and what an invoice is credited with. */
type Metadata = Readonly<Record<string, string>>;

export interface Refund {
  readonly object: 'refund';
  readonly id: string;
  readonly created: number;
  readonly amount: number;
  readonly charge: string;
  readonly paymentIntent: string;
  readonly customer: string;
  readonly currency: string;
  readonly status: 'pending' | 'requires_action' | 'succeeded' | 'failed' | 'canceled';
  readonly reason: 'duplicate' | 'fraudulent' | 'requested_by_customer' | null;
  readonly failureReason: string | null;
  readonly balanceTransaction: string;
  /** Gives the money back to the account, which a failed refund does. */
  readonly failureBalanceTransaction: string | null;
  readonly metadata: Metadata;
}

export type DisputeStatus =
  | 'lost'
  | 'needs_response'
  | 'prevented'
  | 'under_review'
  | 'warning_closed'
  | 'warning_needs_response'
  | 'warning_under_review'
  | 'won';

export interface DisputeTransaction {
  readonly id: string;
  readonly created: number;
  /** Negative where the money is taken from us. */
  readonly amount: number;
}

export interface Dispute {
  readonly object: 'dispute';
  readonly id: string;
  readonly created: number;
  readonly amount: number;
  readonly charge: string;
  readonly paymentIntent: string;
  readonly currency: string;
  readonly reason: string;
  readonly status: DisputeStatus;
  /** As Stripe writes it: 0 where the bank takes no answer. */
  readonly evidenceDueBy: number;
  readonly submissionCount: number;
  /** The last evidence came too late. */
  readonly pastDue: boolean;
  readonly balanceTransactions: readonly DisputeTransaction[];
}

export interface CreditNote {
  readonly object: 'credit_note';
  readonly id: string;
  readonly created: number;
  readonly number: string;
  readonly invoice: string;
  readonly customer: string;
  readonly currency: string;
  readonly amount: number;
  /** By how much the invoice had less to pay. */
  readonly prePaymentAmount: number;
  /** What goes back of the money that was paid: refunded, to the customer's balance, off Stripe. */
  readonly postPaymentAmount: number;
  readonly outOfBandAmount: number;
  readonly customerBalanceTransaction: string | null;
  readonly refunds: readonly { readonly refund: string; readonly amount: number }[];
  readonly reason: 'duplicate' | 'fraudulent' | 'order_change' | 'product_unsatisfactory' | null;
  readonly status: 'issued' | 'void';
  readonly voidedAt: number | null;
  readonly metadata: Metadata;
}

/** Made of a payment intent where it is needed: the world keeps none. */
export interface Charge {
  readonly object: 'charge';
  readonly id: string;
  readonly created: number;
  readonly amount: number;
  readonly amountRefunded: number;
  readonly disputed: boolean;
  readonly customer: string;
  readonly currency: string;
  readonly paymentIntent: string;
  readonly invoice: string | null;
}
