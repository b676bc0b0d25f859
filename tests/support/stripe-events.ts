import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Stripe from 'stripe';

export const WEBHOOK_SECRET = 'whsec_test_secret';

const RECORDED = join(process.cwd(), '../shared/fixtures');
const FIXTURES = join(RECORDED, 'events');

export interface Fixture {
  type: string;
  file: string;
  read(): Record<string, unknown>;
}

/**
 * Reads recorded Stripe events of many API versions. Returns an empty list if the recordings are not on this machine.
 */
export function recordedEvents(): Fixture[] {
  if (!existsSync(FIXTURES)) return [];
  return readdirSync(FIXTURES).flatMap((type) =>
    readdirSync(join(FIXTURES, type)).map((file) => ({
      type,
      file: `${type}/${file}`,
      read: () => JSON.parse(readFileSync(join(FIXTURES, type, file), 'utf8')),
    })),
  );
}

/**
 * Reads the invoices of recorded events and of recorded answers of Stripe's API. Leaves out previews of invoices, which
 * have no id.
 *
 * @throws Error if the recordings are not on this machine
 */
export function recordedInvoices(): { file: string; invoice: Json }[] {
  const folder = 'objects/invoice';
  const objects = readdirSync(join(RECORDED, folder)).map((name) => {
    const invoice = JSON.parse(readFileSync(join(RECORDED, folder, name), 'utf8')) as Json;
    return { file: `${folder}/${name}`, invoice };
  });
  const events = recordedEvents().map(({ file, read }) => {
    const { data } = read() as { data: { object: Json } };
    return { file: `events/${file}`, invoice: data.object };
  });
  return [...objects, ...events].filter(
    ({ invoice }) => invoice.object === 'invoice' && typeof invoice.id === 'string',
  );
}

/** The time of the test clock, 2026-03-15T12:00:00Z, in seconds since the epoch. */
export const NOON = 1_773_576_000;
export const DAY = 86_400;

type Json = Record<string, unknown>;

/** The content of an event. `at` is in seconds after noon. Additional fields override fields of the event. */
export interface EventContent extends Json {
  type: string;
  object: Json;
  at?: number;
}

const eventBuilder =
  (type: string, buildObject: (id: string, more?: Json) => Json) =>
  (id: string, more?: Json, ofEvent?: Partial<EventContent>): EventContent => ({
    type,
    object: buildObject(id, more),
    ...ofEvent,
  });

/** Builds the nth event as Stripe sends it. By default, event n is created n seconds after noon. */
export function toEvent({ type, object, at, ...more }: EventContent, n: number): Json & { id: string } {
  const event = { id: `evt_${n}`, object: 'event', type, api_version: '2026-10-28.endive' };
  return { ...event, created: NOON + (at ?? n), livemode: false, data: { object }, ...more };
}

/** Builds an open invoice of `cus_1` for 119 EUR. */
const openInvoice = (id: string, more: Json = {}): Json => ({
  ...{ id, object: 'invoice', status: 'open', number: `NO-${id}`, customer: 'cus_1', currency: 'eur' },
  ...{ subtotal: 10_000, total: 11_900, total_excluding_tax: 10_000 },
  ...{ amount_due: 11_900, amount_paid: 0, amount_remaining: 11_900, attempted: false },
  ...{ created: NOON - 100, status_transitions: { finalized_at: NOON - 50, paid_at: null } },
  ...more,
});

const paidInvoice = (id: string, more: Json = {}): Json =>
  openInvoice(id, {
    ...{ status: 'paid', amount_paid: 11_900, amount_remaining: 0, attempted: true },
    status_transitions: { finalized_at: NOON - 50, paid_at: NOON },
    ...more,
  });

/** Builds an item at 9.90 EUR a month, paid until 14 April. */
export const item = (id: string, more: Json = {}): Json => ({
  ...{ id, object: 'subscription_item', quantity: 1, current_period_end: NOON + 30 * DAY, metadata: {} },
  price: { currency: 'eur', unit_amount: 990, recurring: { interval: 'month', interval_count: 1 } },
  ...more,
});

/** Builds the item list of a subscription. */
export const items = (...data: Json[]) => ({ items: { object: 'list', has_more: false, data } });

/** Builds an active subscription of `cus_1`. `sub_1` has the item `si_sub_1`. */
const subscription = (id: string, more: Json = {}): Json => ({
  ...{ id, object: 'subscription', status: 'active', customer: 'cus_1', cancel_at_period_end: false },
  ...{ metadata: {}, ...items(item(`si_${id}`)), ...more },
});

/** Builds a paid checkout of `cus_1` for `sub_1`. */
const checkout = (id: string, more: Json = {}): Json => ({
  ...{ id, object: 'checkout.session', mode: 'subscription', payment_status: 'paid' },
  ...{ customer: 'cus_1', subscription: 'sub_1', ...more },
});

// The events that sync handles. Each function takes the id of the object.
export const finalized = eventBuilder('invoice.finalized', openInvoice);
export const paid = eventBuilder('invoice.paid', paidInvoice);
export const succeeded = eventBuilder('invoice.payment_succeeded', paidInvoice);
export const failed = eventBuilder('invoice.payment_failed', openInvoice);
export const created = eventBuilder('customer.subscription.created', subscription);
export const updated = eventBuilder('customer.subscription.updated', subscription);
export const deleted = eventBuilder('customer.subscription.deleted', subscription);
export const completed = eventBuilder('checkout.session.completed', checkout);
/** An event type that sync does not handle. */
export const voided = eventBuilder('invoice.voided', openInvoice);

/** Builds metadata with a customer number. */
export const named = (customer_number: string) => ({ metadata: { customer_number } });

/** Builds the signature header of a delivery. */
export function signatureOf(payload: string, now: Date, secret = WEBHOOK_SECRET): string {
  return Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    // The timestamp is in seconds, although the comment on the type says milliseconds.
    timestamp: Math.floor(now.getTime() / 1000),
  });
}

/** Posts a signed event to a webhook. */
export function postEvent(
  url: string,
  event: unknown,
  now: Date,
  options: { header?: string; body?: string } = {},
): Promise<Response> {
  const payload = JSON.stringify(event);
  const signature = options.header ?? signatureOf(payload, now);
  const headers = { 'Content-Type': 'application/json', 'Stripe-Signature': signature };
  return fetch(`${url}/api/stripe/webhook`, { method: 'POST', headers, body: options.body ?? payload });
}

/** Posts a signed event. @returns the status and the response body */
export async function deliver(
  ...delivery: Parameters<typeof postEvent>
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await postEvent(...delivery);
  return { status: response.status, body: await response.json() };
}
