import type { disputeStatus, numberSource, refundStatus, subscriptionStatus } from '@/db/schema';

/** The customer of a payload, with the details that the payload contains. */
export interface ProviderCustomer {
  stripeCustomerId: string;
  /** Our customer numbers in the payload's metadata, the strongest first. */
  customerNumbers: ProviderCustomerNumber[];
  email: string | null;
  /** Name, e-mail address, phone and postal address, each with its source. */
  details: ProviderDetail[];
}

export interface ProviderDetail extends NumberOrigin {
  field: 'name' | 'email' | 'phone' | 'address';
  /** The text by the name of its field. An address has several parts. */
  value: Record<string, string | null>;
}

export interface ProviderCustomerNumber extends NumberOrigin {
  number: string;
}

/** The source of a reported number or detail of a customer, with the reporting event and its time. */
export interface NumberOrigin {
  source: (typeof numberSource.enumValues)[number];
  /** Time of the reporting event. Null if no event reported it. */
  at: Date | null;
  /** Id of the reporting event. Without one, the creation time (seconds since 1970) and the id of the source object. */
  by: string | null;
}

/** The price of an item. */
export interface ProviderBilled {
  /** Amount for the whole quantity and one interval, before tax, in whole units. Null if the price does not show it. */
  amount: string | null;
  currency: string | null;
  /** day, week, month or year. */
  interval: string | null;
  intervalCount: number | null;
}

export interface ProviderSubscriptionItem extends ProviderBilled {
  id: string;
  quantity: number;
  currentPeriodEnd: Date | null;
  metadata: Record<string, string>;
}

export interface ProviderSubscription {
  id: string;
  customer: ProviderCustomer | null;
  /** Our status. Null if Stripe added its status after this was written. */
  status: (typeof subscriptionStatus.enumValues)[number] | null;
  providerStatus: string | null;
  cancelAtPeriodEnd: boolean;
  /** Scheduled end: `cancel_at`, or the period's end if the subscription is cancelled then. */
  cancelAt: Date | null;
  /** Pause of the collection. Null if collection is not paused. */
  pause: { behavior: string; resumesAt: Date | null } | null;
  endedAt: Date | null;
  /** End of the subscription's period, in API versions whose items have no periods of their own. */
  periodEnd: Date | null;
  items: ProviderSubscriptionItem[];
  /** False if the payload does not list all items. */
  itemsComplete: boolean;
  metadata: Record<string, string>;
}

export interface ProviderInvoice {
  id: string;
  number: string | null;
  customer: ProviderCustomer | null;
  stripeSubscriptionId: string | null;
  /** The invoice that this one replaces. Stripe voided it when it finalized this one. */
  revises: string | null;
  /** Our status. Null if Stripe added its status after this was written. */
  status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void' | null;
  providerStatus: string | null;
  /** Date on the invoice: the date set for it, or else the time it was finalized, or else created. */
  issuedAt: Date | null;
  dueAt: Date | null;
  paidAt: Date | null;
  attempted: boolean;
  currency: string;
  /** Amounts in whole units of the currency, as decimal text; the subtotal is the total without tax. */
  subtotal: string;
  tax: string;
  total: string;
  /** Amount that the customer paid, including overpayments. */
  amountPaid: string;
  /** Amount that Stripe counts as remaining. A void invoice may have a remaining amount, although it is not owed. */
  amountDue: string;
  /** Amount paid outside Stripe. Null if the payload does not contain it. */
  amountOffStripe: string | null;
  /** Part of the total settled by credit notes, before and after payment. Null if the payload does not contain it. */
  amountCredited: string | null;
  /** Amount paid from the customer's balance, minus the amount added to it. Null if the payload does not contain it. */
  balanceApplied: string | null;
  paymentIntentId: string | null;
  /** All payment intents and charges that the payload names. */
  moneyIds: string[];
  /** True if the invoice is open and its payment was refused. Only expanded payment intents show it. */
  paymentFailed: boolean;
}

export interface ProviderCheckout {
  id: string;
  customer: ProviderCustomer | null;
  stripeSubscriptionId: string | null;
  /** Id of our subscription. The payer's browser may have sent it, so it must be checked. */
  reference: number | null;
  /** True if the checkout was paid, or if nothing had to be paid. */
  paid: boolean;
  /** Time of completion. Null if unknown. */
  completedAt: Date | null;
}

/** The common fields of refunds and disputes. */
interface ProviderMoneyBack {
  id: string;
  /** Amount in whole units of the currency, as decimal text. */
  amount: string;
  currency: string;
  reason: string | null;
  issuedAt: Date | null;
  /** The status as Stripe words it. */
  providerStatus: string | null;
  paymentIntentId: string | null;
  chargeId: string | null;
}

export interface ProviderRefund extends ProviderMoneyBack {
  object: 'refund';
  /** Our status. Null if Stripe added its status after this was written. */
  status: (typeof refundStatus.enumValues)[number] | null;
}

export interface ProviderDispute extends ProviderMoneyBack {
  object: 'dispute';
  /** Our status. Null if Stripe added its status after this was written. */
  status: (typeof disputeStatus.enumValues)[number] | null;
  evidenceDueAt: Date | null;
  fundsWithdrawnAt: Date | null;
  fundsReturnedAt: Date | null;
}
