import Stripe from 'stripe';
import { fromEpoch, isTimeZone, toEpoch } from '../dates';
import { asId, asObject, asText, toCurrency, UnstorableError } from './read';
import { toFetchedCustomer } from './to-customer';
import { toProviderInvoice } from './to-invoice';
import { type ProviderLine, toLines } from './to-invoice-lines';
import { toProviderCreditNote, toProviderDispute, toProviderRefund } from './to-money-back';
import {
  type ProviderSubscriptionItem,
  toProviderCheckout,
  toProviderItem,
  toProviderSubscription,
} from './to-subscription';

/** The objects that can be fetched, keyed by kind. */
export type ProviderObjects = {
  [Kind in keyof typeof MAPPERS]: NonNullable<ReturnType<(typeof MAPPERS)[Kind]>>;
};

export type Fetched<T> =
  | { state: 'found'; object: T; asOf: Date }
  /** The object was deleted at Stripe, or never existed there. */
  | { state: 'gone' }
  | { state: 'unavailable'; reason: string };

/**
 * Expansions of an invoice. The payment intents show whether the payment of an open invoice failed. They are four
 * levels deep, which is Stripe's maximum. `amount_paid_off_stripe` is Stripe's own sum, which also includes payments
 * that are not in the list.
 */
const INVOICE_EXPAND = ['customer', 'payments.data.payment.payment_intent', 'amount_paid_off_stripe'];

/** Stripe's maximum page size. An invoice has far fewer payments, so one page contains all of them. */
const LIMIT = 100;

/** Retrieves one object by its id. Never throws errors from Stripe or the network. */
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
    // Any other response, such as a proxy's page or an incomplete object, does not show whether the object exists.
    return isDeleted(response) ? { state: 'gone' } : { state: 'unavailable', reason: 'invalid_answer' };
  } catch (error) {
    return isGone(error) ? { state: 'gone' } : unavailable(error);
  }
}

/** Returns `unavailable` for an error from Stripe or the network, or for an unstorable value. Rethrows other errors. */
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

/**
 * Retrieves an invoice with its payments and lines. Stripe embeds at most ten of each. If there are more, fetches the
 * whole list, except for an invoice with more than `MAX_PAGES` pages of lines.
 */
async function retrieveInvoice(stripe: Stripe, invoice: string) {
  const found = await stripe.invoices.retrieve(invoice, { expand: INVOICE_EXPAND });
  if (found.payments?.has_more) {
    const expand = ['data.payment.payment_intent'];
    found.payments = await stripe.invoicePayments.list({ invoice, limit: LIMIT, expand });
  }
  if (found.lines?.has_more) {
    const all = await listAll<Stripe.InvoiceLineItem>((page) => stripe.invoices.listLineItems(invoice, page));
    if ('data' in all) found.lines = { ...found.lines, data: all.data, has_more: false };
  }
  return found;
}

/** URLs at Stripe of an invoice's PDF and of its page for the customer. Null if Stripe provides none. */
export interface InvoiceLinks {
  pdf: string | null;
  page: string | null;
}

/**
 * Fetches the URLs of an invoice at Stripe. They are not stored, because they expire, and because they open the invoice
 * without a login. Never throws errors from Stripe or the network.
 *
 * @returns null if Stripe does not answer or responds with an error other than 404
 */
export async function fetchInvoiceLinks(stripe: Stripe, id: string): Promise<InvoiceLinks | null> {
  try {
    return toInvoiceLinks(await stripe.invoices.retrieve(id));
  } catch (error) {
    if (isGone(error)) return { pdf: null, page: null };
    unavailable(error);
    return null;
  }
}

/** Reads the URLs of an invoice. Replaces a URL with null if it is not an https URL of stripe.com. */
export function toInvoiceLinks(object: unknown): InvoiceLinks {
  const { invoice_pdf, hosted_invoice_url } = asObject(object);
  const ofStripe = (value: unknown) => {
    const url = URL.parse(asText(value) ?? '');
    return url?.protocol === 'https:' && /(^|\.)stripe\.com$/.test(url.hostname) ? url.href : null;
  };
  return { pdf: ofStripe(invoice_pdf), page: ofStripe(hosted_invoice_url) };
}

/** Fetches all lines of an invoice. Stripe embeds only ten. Never throws errors from Stripe or the network. */
export const fetchLines = (stripe: Stripe, now: () => Date, invoice: string) =>
  fetchAll<Stripe.InvoiceLineItem, ProviderLine>(
    now,
    (page) => stripe.invoices.listLineItems(invoice, page),
    (data) => toLines(data, toCurrency(data[0]?.currency)),
  );

/**
 * Returns the earliest time at which Stripe may have read the state in a response, in whole seconds. It is the Date
 * header minus the duration of the request. An event that the state does not include yet never looks older than this
 * time. Without a Date header, returns the start of the request by our clock.
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

/**
 * Returns a short code for logs and tables, such as `stripe_rate_limit`. Returns `invalid_answer` for an error that is
 * not one of the SDK's.
 */
export function stripeErrorCode(error: unknown): string {
  if (!(error instanceof Stripe.errors.StripeError)) return 'invalid_answer';
  const kind = error.type.replace(/^Stripe|Error$/g, '').replace(/(?<=[a-z])[A-Z]/g, '_$&');
  return `stripe_${error.code ?? kind.toLowerCase()}`;
}

export interface Collection {
  /** Time of Stripe's last collection. Null if Stripe has never collected. */
  at: Date | null;
  /** The latest payment intent with which Stripe collected. */
  paymentIntentId: string | null;
  /** Stripe's ids of all payment intents and charges with which it collected. */
  moneyIds: string[];
}

/**
 * Fetches when and with which payment intents Stripe collected an invoice. Payments that were made elsewhere and only
 * recorded at Stripe do not count. Never throws errors from Stripe or the network.
 */
export function fetchCollection(
  stripe: Stripe,
  now: () => Date,
  invoice: string,
): Promise<Fetched<Collection>> {
  const paid = { invoice, status: 'paid' as const, limit: LIMIT, expand: ['data.payment.payment_intent'] };
  return fetchPayments(stripe, now, paid, (payments) => {
    const collected = payments.filter(({ payment }) => payment.type !== 'payment_record');
    const times = collected.map(({ status_transitions: { paid_at }, created }) => paid_at ?? created);
    const intents = collected.flatMap(({ payment }) => asId(payment.payment_intent) ?? []);
    const charges = collected.flatMap(
      ({ payment }) => asId(payment.charge) ?? asId(asObject(payment.payment_intent).latest_charge) ?? [],
    );
    return {
      at: times.length > 0 ? fromEpoch(Math.max(...times)) : null,
      paymentIntentId: intents[0] ?? null,
      moneyIds: [...intents, ...charges],
    };
  });
}

/**
 * Fetches the Stripe id of a payment intent's invoice. The id is null if the intent belongs to no invoice. Never throws
 * errors from Stripe or the network.
 */
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

/**
 * Fetches all items of a subscription. Stripe embeds only ten. Never throws errors from Stripe or the network.
 */
export const fetchItems = (stripe: Stripe, now: () => Date, subscription: string) =>
  fetchAll<Stripe.SubscriptionItem, ProviderSubscriptionItem>(
    now,
    (page) => stripe.subscriptionItems.list({ subscription, ...page }),
    (data) => data.flatMap((item) => toProviderItem(item) ?? []),
  );

async function fetchAll<T extends { id: string }, Row>(
  now: () => Date,
  list: ListPage<T>,
  convert: (data: T[]) => Row[],
): Promise<Fetched<Row[]>> {
  const started = now();
  try {
    const all = await listAll(list);
    if ('reason' in all) return { state: 'unavailable', reason: all.reason };
    return { state: 'found', object: convert(all.data), asOf: responseTime(all.first, started, now()) };
  } catch (error) {
    return unavailable(error);
  }
}

type ListPage<T> = (page: {
  limit: number;
  starting_after?: string;
}) => PromiseLike<{ data: T[]; has_more: boolean } & Parameters<typeof responseTime>[0]>;

/** Maximum number of pages of 100 entries each. Stripe allows fewer entries for a subscription or an invoice. */
const MAX_PAGES = 5;

/**
 * Fetches all pages of a list. @returns `reason` if there are too many pages, or if a response is not a list
 * @throws Stripe's errors
 */
async function listAll<T extends { id: string }>(list: ListPage<T>) {
  const first = await list({ limit: LIMIT });
  const data: T[] = [];
  for (let [page, answer] = [1, first]; ; page += 1) {
    if (!Array.isArray(answer.data)) return { reason: 'invalid_answer' };
    data.push(...answer.data);
    const last = data.at(-1);
    if (!answer.has_more || !last) return { data, first };
    if (page === MAX_PAGES) return { reason: 'too_many' };
    answer = await list({ limit: LIMIT, starting_after: last.id });
  }
}

/**
 * Checks the API key before it is used for many requests. Returns `other` if the key's account has none of the given
 * customers. Never throws errors from Stripe or the network.
 *
 * @param customers ids of some stored Stripe customers, possibly none; Stripe still returns deleted customers
 */
export async function probeAccount(stripe: Stripe, customers: string[]) {
  try {
    if (customers.length === 0) await stripe.subscriptions.list({ limit: 1 });
    for (const id of customers) if (await isKnown(stripe, id)) return 'known';
    return customers.length === 0 ? 'known' : 'other';
  } catch (error) {
    if (error instanceof Stripe.errors.StripeAuthenticationError) return 'refused';
    // A restricted key may lack the permission to read customers or subscriptions. The reconciliation reports each list
    // that the key cannot read.
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

/**
 * Fetches the account that a key belongs to, with the time zone of its dashboard and reports. Never throws errors from
 * Stripe or the network.
 *
 * @returns `reason` if the account cannot be read, for example with a restricted key
 */
export async function fetchAccount(stripe: Stripe) {
  try {
    const account = asObject(await stripe.accounts.retrieveCurrent());
    const zone = asText(asObject(asObject(account.settings).dashboard).timezone);
    return { id: asId(account), timeZone: zone !== null && isTimeZone(zone) ? zone : null };
  } catch (error) {
    return { reason: unavailable(error).reason };
  }
}

export interface ListRequest {
  /** Status to filter by. If null, Stripe leaves out cancelled subscriptions. */
  status: string | null;
  createdFrom: Date | null;
  after: string | null;
  /** Limits refunds or disputes to those of one payment. */
  of?: { payment_intent: string } | { charge: string };
}

/** The kinds of objects that sync lists page by page. */
export type ListedKind = Exclude<keyof ProviderObjects, 'customer'>;

/**
 * Fetches a page of objects of one kind, newest first. `refused` lists objects with unstorable values.
 *
 * @throws Stripe's errors
 */
export async function listObjects<Kind extends ListedKind>(
  stripe: Stripe,
  now: () => Date,
  kind: Kind,
  request: ListRequest,
) {
  const started = now();
  const page: Stripe.Response<Stripe.ApiList<{ id: string }>> = await list(stripe, kind, params(request));
  const map = MAPPERS[kind] as (object: unknown) => ProviderObjects[Kind] | null;
  return {
    ...mapAll(map, page.data),
    /** Time of the state on the page, see `responseTime`. */
    asOf: responseTime(page, started, now()),
    /** Cursor of the next page. Null on the last page. */
    next: page.has_more ? (page.data.at(-1)?.id ?? null) : null,
  };
}

function list(stripe: Stripe, kind: ListedKind, request: ReturnType<typeof params>) {
  if (kind === 'subscription') return stripe.subscriptions.list(request);
  // Lists do not contain `amount_paid_off_stripe`. The payments show the amount paid outside Stripe.
  if (kind === 'invoice') return stripe.invoices.list({ ...request, expand: ['data.payments'] });
  return kind === 'refund' ? stripe.refunds.list(request) : stripe.disputes.list(request);
}

export type ProviderCreditNote = NonNullable<ReturnType<typeof toProviderCreditNote>>;

/**
 * Fetches a page of credit notes with all their lines, newest first. `refused` lists credit notes with unstorable
 * values.
 *
 * @param afterLines called after the remaining lines of a credit note were fetched
 * @throws Stripe's errors
 */
export async function listProviderCreditNotes(
  stripe: Stripe,
  request: ListRequest,
  afterLines?: () => Promise<void>,
) {
  const { data, has_more } = await stripe.creditNotes.list(params(request));
  for (const note of data) {
    if (!note.lines?.has_more) continue;
    const all = await listAll<Stripe.CreditNoteLineItem>((page) =>
      stripe.creditNotes.listLineItems(note.id, page),
    );
    if ('data' in all) note.lines = { ...note.lines, data: all.data, has_more: false };
    await afterLines?.();
  }
  const { objects, refused } = mapAll(toProviderCreditNote, data);
  return { notes: objects, refused, next: has_more ? (data.at(-1)?.id ?? null) : null };
}

/**
 * Fetches the completed subscription checkouts among a Stripe customer's latest 100 checkouts. @throws Stripe's errors
 */
export async function listProviderCheckouts(stripe: Stripe, customer: string) {
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
  const refused: { id: string; error: UnstorableError }[] = [];
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

/**
 * Returns whether the cursor's object no longer exists at Stripe. The list must then be read again from its start.
 */
export function isCursorGone(error: unknown): boolean {
  const { code, param } = error as { code?: string; param?: string };
  return code === 'resource_missing' && param === 'starting_after';
}

/** Fetches the payment intents with which Stripe collected an invoice. @throws Stripe's errors */
export async function listIntents(stripe: Stripe, invoice: string): Promise<string[]> {
  const page = await stripe.invoicePayments.list({ invoice, status: 'paid', limit: LIMIT });
  return page.data.flatMap(({ payment }) => asId(payment.payment_intent) ?? []);
}
