import Stripe from 'stripe';
import { fromEpoch, isTimeZone, toEpoch } from '../dates';
import type {
  ProviderCheckout,
  ProviderCustomer,
  ProviderDispute,
  ProviderInvoice,
  ProviderRefund,
  ProviderSubscription,
  ProviderSubscriptionItem,
} from './provider';
import { asId, asInstant, asObject, asText, UnstorableError } from './read';
import { toFetchedCustomer } from './to-customer';
import { toProviderInvoice } from './to-invoice';
import { toProviderDispute, toProviderRefund } from './to-money-back';
import { toProviderCheckout, toProviderItem, toProviderSubscription } from './to-subscription';

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
function unavailable(error: unknown): { state: 'unavailable'; reason: string } {
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
function responseTime(
  response: { lastResponse?: { headers?: Record<string, string> } },
  started: Date,
  ended: Date,
): Date {
  const date = Date.parse(response.lastResponse?.headers?.date ?? '');
  if (Number.isNaN(date)) return fromEpoch(toEpoch(started));
  return fromEpoch(Math.floor((date - (ended.getTime() - started.getTime())) / 1000));
}

function isGone(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 404;
}

/** A short name of what went wrong, for logs and tables: `rate_limit`, `connection`, `api_error`… */
export function stripeErrorCode(error: unknown): string {
  if (!(error instanceof Stripe.errors.StripeError)) return 'invalid_answer';
  const kind = error.type.replace(/^Stripe|Error$/g, '').replace(/(?<=[a-z])[A-Z]/g, '_$&');
  return `stripe_${error.code ?? kind.toLowerCase()}`;
}

/** Far more than one invoice has; the newest come first. */
const MAX_COLLECTED = 100;

/**
 * When Stripe last collected something for an invoice; null: it never did. What was paid elsewhere and only
 * noted there does not count. Never throws for what Stripe or the network does.
 */
export function fetchCollectedAt(stripe: Stripe, now: () => Date, invoice: string) {
  const paid = { invoice, status: 'paid', limit: MAX_COLLECTED } as const;
  return fetchPayments(stripe, now, paid, (payments) => {
    const times = payments
      .filter(({ payment }) => payment.type !== 'payment_record')
      .map(({ status_transitions: { paid_at }, created }) => paid_at ?? created);
    return times.length > 0 ? fromEpoch(Math.max(...times)) : null;
  });
}

/** Which invoice a payment intent was made for; null: none. Never throws for what Stripe or the network does. */
export function fetchInvoicePaid(stripe: Stripe, now: () => Date, payment_intent: string) {
  const payment = { type: 'payment_intent', payment_intent } as const;
  return fetchPayments(stripe, now, { payment, limit: 1 }, ([first]) => asId(first?.invoice));
}

async function fetchPayments<T>(
  stripe: Stripe,
  now: () => Date,
  request: Stripe.InvoicePaymentListParams,
  read: (payments: Stripe.InvoicePayment[]) => T,
): Promise<Fetched<T>> {
  const started = now();
  try {
    const page = await stripe.invoicePayments.list(request);
    if (!Array.isArray(page.data)) return { state: 'unavailable', reason: 'invalid_answer' };
    return { state: 'found', object: read(page.data), asOf: responseTime(page, started, now()) };
  } catch (error) {
    return unavailable(error);
  }
}

/** The most that Stripe gives at once. */
const ITEM_PAGE = 100;
/** Of 100 each: far more than a subscription may have. */
const MAX_PAGES = 5;

/**
 * All items of a subscription, of which its object shows the first ten. Never throws for what Stripe or the
 * network does.
 */
export async function fetchItems(
  stripe: Stripe,
  now: () => Date,
  subscription: string,
): Promise<Fetched<ProviderSubscriptionItem[]>> {
  const started = now();
  const items: ProviderSubscriptionItem[] = [];
  try {
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const cursor = after === undefined ? {} : { starting_after: after };
      const answer = await stripe.subscriptionItems.list({ subscription, limit: ITEM_PAGE, ...cursor });
      if (!Array.isArray(answer.data)) return { state: 'unavailable', reason: 'invalid_answer' };
      items.push(...answer.data.flatMap((item) => toProviderItem(item) ?? []));
      after = answer.data.at(-1)?.id;
      if (!answer.has_more)
        return { state: 'found', object: items, asOf: responseTime(answer, started, now()) };
    }
    return { state: 'unavailable', reason: 'too_many_items' };
  } catch (error) {
    return unavailable(error);
  }
}

/** Whether a key opens the account that we know: `other` knows none of the customers it was asked for. */
type Probe = 'known' | 'other' | 'refused' | { silent: string };

/**
 * Tries a key out before much is asked with it. Never throws for what Stripe or the network does.
 *
 * @param customers some of the account's, if any are known; deleted ones are known to Stripe all the same
 */
export async function probeAccount(stripe: Stripe, customers: string[]): Promise<Probe> {
  try {
    if (customers.length === 0) await stripe.subscriptions.list({ limit: 1 });
    for (const id of customers) if (await isKnown(stripe, id)) return 'known';
    return customers.length === 0 ? 'known' : 'other';
  } catch (error) {
    if (error instanceof Stripe.errors.StripeAuthenticationError) return 'refused';
    // A restricted key that may not read these: the run tells what it may not read.
    if (error instanceof Stripe.errors.StripePermissionError) return 'known';
    if (!(error instanceof Stripe.errors.StripeError) && !(error instanceof SyntaxError)) throw error;
    return { silent: stripeErrorCode(error) };
  }
}

async function isKnown(stripe: Stripe, id: string): Promise<boolean> {
  try {
    await stripe.customers.retrieve(id);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** An account of Stripe's, and the time zone of its dashboard and its reports. */
interface Account {
  id: string | null;
  timeZone: string | null;
}

/**
 * Reads the account that a key belongs to. Never throws for what Stripe or the network does.
 *
 * @returns the reason if it cannot be read; a restricted key may not read it
 */
export async function fetchAccount(stripe: Stripe): Promise<Account | { reason: string }> {
  try {
    const account = asObject(await stripe.accounts.retrieveCurrent());
    const zone = asText(asObject(asObject(account.settings).dashboard).timezone);
    return { id: asId(account), timeZone: zone !== null && isTimeZone(zone) ? zone : null };
  } catch (error) {
    return { reason: unavailable(error).reason };
  }
}

/** The most Stripe gives at once. */
const LIMIT = 100;

export interface ProviderPage<T> {
  objects: T[];
  /** Those that no column holds, with the reason. */
  refused: { id: string; error: UnstorableError }[];
  /** As of when the whole page holds. */
  asOf: Date;
  /** Where the next page begins; null: this was the last. */
  next: string | null;
}

export interface ListRequest {
  /** Null: the filter's default (subscriptions: all but cancelled ones). */
  status: string | null;
  createdFrom: Date | null;
  after: string | null;
  /** Of refunds and disputes those of one payment alone. */
  of?: { payment_intent: string } | { charge: string };
}

type ListedKind = Exclude<keyof ProviderObjects, 'customer'>;

/** A page of objects of one kind, newest first. @throws Stripe's errors */
export async function listObjects<Kind extends ListedKind>(
  stripe: Stripe,
  now: () => Date,
  kind: Kind,
  request: ListRequest,
): Promise<ProviderPage<ProviderObjects[Kind]>> {
  const started = now();
  const page: Stripe.Response<Stripe.ApiList<{ id: string }>> = await list(stripe, kind, params(request));
  const map = MAPPERS[kind] as (object: unknown) => ProviderObjects[Kind] | null;
  return {
    ...mapAll(map, page.data),
    asOf: responseTime(page, started, now()),
    next: page.has_more ? (page.data.at(-1)?.id ?? null) : null,
  };
}

function list(stripe: Stripe, kind: ListedKind, request: ReturnType<typeof params>) {
  if (kind === 'subscription') return stripe.subscriptions.list(request);
  // Only its payments tell what was paid without Stripe.
  if (kind === 'invoice') return stripe.invoices.list({ ...request, expand: ['data.payments'] });
  return kind === 'refund' ? stripe.refunds.list(request) : stripe.disputes.list(request);
}

/** Of a page of credit notes, newest first, which invoice each changed when. @throws Stripe's errors */
export async function listProviderCreditNotes(stripe: Stripe, request: ListRequest) {
  const { data, has_more } = await stripe.creditNotes.list(params(request));
  const notes = data.flatMap((note) => {
    const invoice = asId(note.invoice);
    const changedAt = asInstant(note.voided_at) ?? asInstant(note.created);
    return invoice && changedAt ? { invoice, changedAt } : [];
  });
  return { notes, next: has_more ? (data.at(-1)?.id ?? null) : null };
}

/** The latest completed checkouts of a Stripe customer. @throws Stripe's errors */
export async function listProviderCheckouts(stripe: Stripe, customer: string): Promise<ProviderCheckout[]> {
  const page = await stripe.checkout.sessions.list({ customer, limit: LIMIT });
  return page.data
    .filter((session) => session.status === 'complete')
    .map((session) => toProviderCheckout(session))
    .filter((checkout) => checkout !== null);
}

function params({ status, createdFrom, after, of }: ListRequest) {
  return {
    limit: LIMIT,
    ...(status && { status: status as 'all' }),
    ...(createdFrom && { created: { gte: toEpoch(createdFrom) } }),
    ...(after && { starting_after: after }),
    ...of,
  };
}

function mapAll<T>(map: (object: unknown) => T | null, data: { id: string }[]) {
  const objects: T[] = [];
  const refused: ProviderPage<T>['refused'] = [];
  for (const one of data) {
    try {
      const object = map(one);
      if (object) objects.push(object);
    } catch (error) {
      if (!(error instanceof UnstorableError)) throw error;
      refused.push({ id: one.id, error });
    }
  }
  return { objects, refused };
}

/** The cursor's object left the filter meanwhile: the list has to be begun again. */
export function isCursorGone(error: unknown): boolean {
  const { code, param } = error as { code?: string; param?: string };
  return code === 'resource_missing' && param === 'starting_after';
}

/** Far more than one invoice has. */
const MAX_INTENTS = 100;

/** The payment intents that collected for an invoice. @throws Stripe's errors */
export async function listIntents(stripe: Stripe, invoice: string): Promise<string[]> {
  const page = await stripe.invoicePayments.list({ invoice, status: 'paid', limit: MAX_INTENTS });
  return page.data.flatMap(({ payment }) => asId(payment.payment_intent) ?? []);
}
