import Stripe from 'stripe';
import { fromEpoch, toEpoch } from '../dates';
import type {
  ProviderCustomer,
  ProviderDispute,
  ProviderInvoice,
  ProviderRefund,
  ProviderSubscription,
} from './provider';
import { toFetchedCustomer } from './to-customer';
import { toProviderInvoice } from './to-invoice';
import { toProviderDispute, toProviderRefund } from './to-money-back';
import { toProviderSubscription } from './to-subscription';
import { UnstorableError } from './unstorable';

export interface ProviderObjects {
  customer: ProviderCustomer;
  subscription: ProviderSubscription;
  invoice: ProviderInvoice;
  refund: ProviderRefund;
  dispute: ProviderDispute;
}

export type Fetched<T> =
  | { state: 'found'; object: T; asOf: Date }
  /** Deleted there, or never there. */
  | { state: 'gone' }
  | { state: 'unavailable'; reason: string };

/**
 * What tells whether an open, attempted invoice's payment failed: four levels, the most Stripe expands. And
 * what was paid without Stripe, however many payments there are.
 */
const INVOICE_EXPAND = ['customer', 'payments.data.payment.payment_intent', 'amount_paid_off_stripe'];

/** The payments of an invoice that are read. If it has more, its own amounts count. */
const MAX_PAYMENTS = 100;

/** Retrieves one object by its id. Never throws for what Stripe or the network does. */
export async function fetchObject<Kind extends keyof ProviderObjects>(
  stripe: Stripe,
  now: () => Date,
  kind: Kind,
  id: string,
): Promise<Fetched<ProviderObjects[Kind]>> {
  const started = now();
  try {
    const response = await retrieve(stripe, kind, id);
    const object = MAPPERS[kind](response) as ProviderObjects[Kind] | null;
    if (object) return { state: 'found', object, asOf: responseTime(response, started, now()) };
    // Any other answer, such as a proxy's page or half an object, does not tell whether the object exists.
    return isDeleted(response) ? { state: 'gone' } : { state: 'unavailable', reason: 'invalid_answer' };
  } catch (error) {
    return isGone(error) ? { state: 'gone' } : unavailable(error);
  }
}

/** What Stripe or the network did, or what no column holds. Anything else is thrown on. */
export function unavailable(error: unknown): { state: 'unavailable'; reason: string } {
  if (error instanceof UnstorableError) return { state: 'unavailable', reason: error.name };
  if (!(error instanceof Stripe.errors.StripeError) && !(error instanceof SyntaxError)) throw error;
  return { state: 'unavailable', reason: stripeErrorCode(error) };
}

const isDeleted = (response: object) => 'deleted' in response && response.deleted === true;

const MAPPERS = {
  customer: toFetchedCustomer,
  subscription: toProviderSubscription,
  invoice: toProviderInvoice,
  refund: toProviderRefund,
  dispute: toProviderDispute,
};

function retrieve(stripe: Stripe, kind: keyof ProviderObjects, id: string) {
  if (kind === 'customer') return stripe.customers.retrieve(id);
  if (kind === 'subscription') return stripe.subscriptions.retrieve(id, { expand: ['customer'] });
  if (kind === 'refund') return stripe.refunds.retrieve(id);
  if (kind === 'dispute') return stripe.disputes.retrieve(id);
  return retrieveInvoice(stripe, id);
}

/** Retrieves an invoice with all its payments. Stripe itself includes only ten. */
async function retrieveInvoice(stripe: Stripe, invoice: string) {
  const found = await stripe.invoices.retrieve(invoice, { expand: INVOICE_EXPAND });
  if (!found.payments?.has_more) return found;
  const expand = ['data.payment.payment_intent'];
  found.payments = await stripe.invoicePayments.list({ invoice, limit: MAX_PAYMENTS, expand });
  return found;
}

/**
 * As of when an answer holds: the moment Stripe answered less the time the request took, in whole seconds,
 * so that no event which the answer may miss looks older than it. Our clock counts only where the answer
 * has no Date.
 */
export function responseTime(
  response: { lastResponse?: { headers?: Record<string, string> } },
  started: Date,
  ended: Date,
): Date {
  const date = Date.parse(response.lastResponse?.headers?.date ?? '');
  if (Number.isNaN(date)) return fromEpoch(toEpoch(started));
  return fromEpoch(Math.floor((date - (ended.getTime() - started.getTime())) / 1000));
}

export function isGone(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 404;
}

/** A short name of what went wrong, for logs and tables: `rate_limit`, `connection`, `api_error`… */
export function stripeErrorCode(error: unknown): string {
  if (!(error instanceof Stripe.errors.StripeError)) return 'invalid_answer';
  const kind = error.type.replace(/^Stripe|Error$/g, '').replace(/(?<=[a-z])[A-Z]/g, '_$&');
  return `stripe_${error.code ?? kind.toLowerCase()}`;
}
