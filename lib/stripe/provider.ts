import type { disputeStatus, numberSource, refundStatus, subscriptionStatus } from '@/db/schema';

/** What a payload tells of the customer it belongs to. */
export interface ProviderCustomer {
  stripeCustomerId: string;
  /** Our customer numbers in the metadata at hand, the strongest first. */
  customerNumbers: ProviderCustomerNumber[];
  email: string | null;
  /** Name, e-mail address, phone and postal address, each with where it stands. */
  details: ProviderDetail[];
}

export interface ProviderDetail extends NumberOrigin {
  field: 'name' | 'email' | 'phone' | 'address';
  /** Of an address its parts. */
  value: Record<string, string | null>;
}

export interface ProviderCustomerNumber extends NumberOrigin {
  number: string;
}

/** Where something that is reported of a customer stands, and which event reported it when. */
export interface NumberOrigin {
  source: (typeof numberSource.enumValues)[number];
  /** Null: no event did. */
  at: Date | null;
  /** The id of that event; else when the object it stands in was created (seconds since 1970), and its id. */
  by: string | null;
}

/** What an item is billed with. */
export interface ProviderBilled {
  /** For all of its quantity and one interval, before tax, in whole units; null: the price does not tell. */
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
  /** Null: a status that Stripe added after this was written. */
  status: (typeof subscriptionStatus.enumValues)[number] | null;
  providerStatus: string | null;
  cancelAtPeriodEnd: boolean;
  /** When it is to end, whichever of the two says so. */
  cancelAt: Date | null;
  /** While it is not to be collected. */
  pause: { behavior: string; resumesAt: Date | null } | null;
  endedAt: Date | null;
  /** Of the subscription as a whole, where its items have none of their own. */
  periodEnd: Date | null;
  items: ProviderSubscriptionItem[];
  /** False while more items exist than the payload lists. */
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
  /** Null: a status that Stripe added after this was written. */
  status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void' | null;
  providerStatus: string | null;
  /** The date on the invoice: the one that was set for it, else when it was finalized, else when it was created. */
  issuedAt: Date | null;
  dueAt: Date | null;
  paidAt: Date | null;
  attempted: boolean;
  currency: string;
  /** Amounts in whole units of the currency, as decimal text; the subtotal is the total without tax. */
  subtotal: string;
  tax: string;
  total: string;
  /** What customers paid, overpayments included. */
  amountPaid: string;
  /** What Stripe still counts as remaining. A void invoice has a remaining amount, too, although it is not owed. */
  amountDue: string;
  /** Paid without Stripe; null: the payload does not tell. */
  amountOffStripe: string | null;
  /** Of the total, by credit notes, before and after payment; null: the payload does not tell. */
  amountCredited: string | null;
  /** Paid from the customer's balance, less what was added to it; null: not told. */
  balanceApplied: string | null;
  paymentIntentId: string | null;
  /** All payment intents and charges that the payload names. */
  moneyIds: string[];
  /** Open, and its payment was tried and refused; reported by expanded payment intents alone. */
  paymentFailed: boolean;
}

export interface ProviderCheckout {
  id: string;
  customer: ProviderCustomer | null;
  stripeSubscriptionId: string | null;
  /** Our subscription's id, perhaps as the payer's browser sent it: to be believed only after checks. */
  reference: number | null;
  /** Paid, or nothing was to be paid. */
  paid: boolean;
  /** When it was completed; null: nothing tells. */
  completedAt: Date | null;
}

/** What refunds and disputes tell alike. */
interface ProviderMoneyBack {
  id: string;
  /** In whole units of the currency, as decimal text. */
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
  /** Null: a status that Stripe added after this was written. */
  status: (typeof refundStatus.enumValues)[number] | null;
}

export interface ProviderDispute extends ProviderMoneyBack {
  object: 'dispute';
  /** Null: a status that Stripe added after this was written. */
  status: (typeof disputeStatus.enumValues)[number] | null;
  evidenceDueAt: Date | null;
  fundsWithdrawnAt: Date | null;
  fundsReturnedAt: Date | null;
}
