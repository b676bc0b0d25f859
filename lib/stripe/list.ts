import type Stripe from 'stripe';
import { toEpoch } from '../dates';
import { responseTime } from './fetch';
import type {
  ProviderCheckout,
  ProviderDispute,
  ProviderInvoice,
  ProviderRefund,
  ProviderSubscription,
} from './provider';
import { asId, asInstant, UnstorableError } from './read';
import { toProviderInvoice } from './to-invoice';
import { toProviderDispute, toProviderRefund } from './to-money-back';
import { toProviderCheckout, toProviderSubscription } from './to-subscription';

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

/** A page of subscriptions, newest first. @throws Stripe's errors */
export async function listProviderSubscriptions(stripe: Stripe, now: () => Date, request: ListRequest) {
  return readPage(now, toProviderSubscription, () => stripe.subscriptions.list(params(request)));
}

/** A page of invoices, newest first. @throws Stripe's errors */
export async function listProviderInvoices(stripe: Stripe, now: () => Date, request: ListRequest) {
  // Only its payments tell what was paid without Stripe.
  const expand = ['data.payments'];
  return readPage(now, toProviderInvoice, () => stripe.invoices.list({ ...params(request), expand }));
}

/** A page of refunds, newest first. @throws Stripe's errors */
export async function listProviderRefunds(stripe: Stripe, now: () => Date, request: ListRequest) {
  return readPage(now, toProviderRefund, () => stripe.refunds.list(params(request)));
}

/** A page of disputes, newest first. @throws Stripe's errors */
export async function listProviderDisputes(stripe: Stripe, now: () => Date, request: ListRequest) {
  return readPage(now, toProviderDispute, () => stripe.disputes.list(params(request)));
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

async function readPage<T extends ProviderSubscription | ProviderInvoice | ProviderRefund | ProviderDispute>(
  now: () => Date,
  map: (object: unknown) => T | null,
  request: () => Promise<Stripe.Response<Stripe.ApiList<{ id?: string }>>>,
): Promise<ProviderPage<T>> {
  const started = now();
  const page = await request();
  const last = page.data.at(-1)?.id;
  return {
    ...mapAll(map, page.data),
    asOf: responseTime(page, started, now()),
    next: page.has_more && last ? last : null,
  };
}

function mapAll<T>(map: (object: unknown) => T | null, data: { id?: string }[]) {
  const objects: T[] = [];
  const refused: ProviderPage<T>['refused'] = [];
  for (const one of data) {
    try {
      const object = map(one);
      if (object) objects.push(object);
    } catch (error) {
      if (!(error instanceof UnstorableError)) throw error;
      refused.push({ id: one.id ?? '', error });
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
