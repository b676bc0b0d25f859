import Stripe from 'stripe';
import { asId, asInstant, asIsoInstant, asList, asObject, asText, type Json } from './read';
import type { ProviderCustomer } from './to-customer';

/** Maximum difference in seconds between a signed timestamp and our clock, in both directions. */
const TOLERANCE = 300;

type Verified =
  | { ok: true; event: ProviderEvent; payload: string }
  | { ok: false; reason: 'invalid_signature' | 'invalid_payload' }
  /**
   * The signature is valid, but its timestamp differs from our clock by more than `TOLERANCE`. `age` is in seconds. It
   * is negative for a timestamp in the future.
   */
  | { ok: false; reason: 'wrong_time'; age: number };

/**
 * Verifies a delivery's signature over its raw bytes, then parses the delivery.
 * https://docs.stripe.com/webhooks#verify-manually
 *
 * @param secrets the accepted signing secrets, several during a rotation; if empty, every delivery is rejected
 */
export function verifyEvent(
  bytes: Uint8Array,
  header: string | null,
  secrets: string[],
  now: Date,
): Verified {
  const payload = decodeExactly(bytes);
  const signedAt = timeOf(header ?? '');
  if (!header || payload === null || signedAt === null) return { ok: false, reason: 'invalid_signature' };
  if (!secrets.some((secret) => isSigned(payload, header, secret, signedAt))) {
    return { ok: false, reason: 'invalid_signature' };
  }
  const age = now.getTime() / 1000 - signedAt;
  if (Math.floor(age) > TOLERANCE || age < -TOLERANCE) {
    return { ok: false, reason: 'wrong_time', age: Math.round(age) };
  }
  const event = parseEvent(payload);
  return event ? { ok: true, event, payload } : { ok: false, reason: 'invalid_payload' };
}

function isSigned(payload: string, header: string, secret: string, signedAt: number): boolean {
  try {
    const { signature } = Stripe.webhooks;
    return signature?.verifyHeader(payload, header, secret, TOLERANCE, undefined, signedAt * 1000) ?? false;
  } catch {
    return false; // The SDK throws for a malformed header and for a signature that does not match.
  }
}

function parseEvent(payload: string): ProviderEvent | null {
  try {
    return toProviderEvent(JSON.parse(payload));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Decodes UTF-8 strictly. The SDK would drop a BOM and repair invalid UTF-8, and would then accept a changed body. */
function decodeExactly(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Returns the signed timestamp in seconds. Returns null unless the header is printable ASCII and contains exactly one
 * timestamp in plain digits. The SDK is less strict.
 */
function timeOf(header: string): number | null {
  const times = header.split(',').filter((part) => part.trim().startsWith('t='));
  const [time = ''] = times;
  const isPlain = /^[\x20-\x7e]*$/.test(header) && /^t=\d{1,15}$/.test(time);
  return isPlain && times.length === 1 ? Number(time.slice(2)) : null;
}

/**
 * An event of Stripe. It is either a snapshot event or a thin event (docs.stripe.com/event-destinations#thin-events).
 * `object` has the shape of the event's API version. It is empty for a thin event.
 */
export type ProviderEvent = NonNullable<ReturnType<typeof toProviderEvent>>;

/** Converts JSON to an event. @returns null if the JSON is not an event */
export function toProviderEvent(body: unknown) {
  const payload = asObject(body);
  const isThin = payload.object === 'v2.core.event';
  const data = isThin ? { object: {} } : asObject(payload.data);
  const [id, type] = [asText(payload.id), asText(payload.type)];
  const created = isThin ? asIsoInstant(payload.created) : asInstant(payload.created);
  const isObject = typeof data.object === 'object' && data.object !== null;
  if (id === null || type === null || created === null || !isObject) return null;
  const object = asObject(data.object);
  return {
    id,
    type,
    apiVersion: asText(payload.api_version),
    livemode: payload.livemode === true || payload.livemode === 'true',
    /** The connected account of the event. Null for our own account. */
    account: asText(payload.account),
    created,
    object,
    objectId: isThin ? asId(payload.related_object) : asText(object.id),
    stripeCustomerId: asText(object.object) === 'customer' ? asText(object.id) : asId(object.customer),
    previousAttributes: data.previous_attributes ? asObject(data.previous_attributes) : null,
    /** True if the event names its object but does not contain it. */
    isThin,
  };
}

/** Reads an event from its stored body. */
export function fromInbox(payload: string): ProviderEvent {
  const event = toProviderEvent(JSON.parse(payload));
  if (!event) throw new Error('a stored body is not a Stripe event');
  return event;
}

/**
 * Returns the payment intent's id if the event's object contains an intent but no customer, as a dispute does.
 * Otherwise returns an empty list.
 */
export function intentsOf({ stripeCustomerId, object: { payment_intent: intent } }: ProviderEvent): string[] {
  return stripeCustomerId === null && typeof intent === 'string' ? [intent] : [];
}

/** Marks the customer numbers and details in an event's object as reported by this event at its time. */
export function asReported<T extends { customer: ProviderCustomer | null }>(
  { id, created }: ProviderEvent,
  object: T | null,
): T | null {
  const customer = object?.customer;
  if (!customer) return object;
  const reportedHere = <One>(one: One) => ({ ...one, at: created, by: id });
  const [customerNumbers, details] = [
    customer.customerNumbers.map(reportedHere),
    customer.details.map(reportedHere),
  ];
  return { ...object, customer: { ...customer, customerNumbers, details } };
}

/**
 * Returns the last of several events of one subscription in the same second. `created` comes first and `deleted` last.
 * Between them, an update follows the event whose object equals the update's previous state. The order of arrival does
 * not matter. If several events may be the last one, the event with the greatest id is chosen.
 */
export function lastOfSecond(events: ProviderEvent[]): ProviderEvent | undefined {
  const byId = [...events].sort((a, b) => (a.id < b.id ? 1 : -1));
  const deleted = byId.find((event) => event.type === 'customer.subscription.deleted');
  if (deleted) return deleted;
  const created = byId.find((event) => event.type === 'customer.subscription.created');
  const updates = byId
    .filter((event) => event.type === 'customer.subscription.updated')
    .slice(0, MAX_CHAINED);
  // If no order fits, an event may be missing or the API version may have changed. Then compare only the changed
  // fields.
  const endBy = (isNext: IsNext) => possibleEnds(created, updates, isNext)[0];
  return endBy(follows) ?? endBy(mayFollow) ?? updates[0] ?? byId[0];
}

/**
 * Maximum number of updates in one second that are put in order, because the number of possible orders grows fast. If
 * there are more, those with the lowest ids are left out.
 */
const MAX_CHAINED = 12;

type IsNext = (next: ProviderEvent, event: ProviderEvent) => boolean;

/** Returns the last events of all orders in which each event follows its predecessor, sorted by descending id. */
function possibleEnds(
  created: ProviderEvent | undefined,
  updates: ProviderEvent[],
  isNext: IsNext,
): ProviderEvent[] {
  const nextOf = new Map(
    [created, ...updates].map((event) => [
      event,
      updates.filter((next) => next !== event && (!event || isNext(next, event))),
    ]),
  );
  // The possible ends depend only on the last placed event and the remaining events, so these form the cache key.
  const known = new Map<string, Set<ProviderEvent>>();
  const endsAfter = (last: ProviderEvent | undefined, left: ProviderEvent[]): Set<ProviderEvent> => {
    if (last && left.length === 0) return new Set([last]);
    const key = [last, ...left].map((event) => event?.id).join(' ');
    const ends =
      known.get(key) ??
      new Set(
        left
          .filter((next) => nextOf.get(last)?.includes(next))
          .flatMap((next) => [
            ...endsAfter(
              next,
              left.filter((other) => other !== next),
            ),
          ]),
      );
    known.set(key, ends);
    return ends;
  };
  return [...endsAfter(created, updates)].sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Returns whether the object of `next`, with its change undone, equals the whole object of `event`. */
function follows(next: ProviderEvent, event: ProviderEvent): boolean {
  return (
    next.previousAttributes !== null && isSame(rewind(next.object, next.previousAttributes), event.object)
  );
}

/** Returns whether `event` has the previous values of the fields that `next` changed, and `next` has other values. */
function mayFollow(next: ProviderEvent, event: ProviderEvent): boolean {
  const before = next.previousAttributes;
  if (!before || Object.keys(before).length === 0) return false;
  return (
    isSame(rewind(event.object, before), event.object) && !isSame(rewind(next.object, before), next.object)
  );
}

/** Returns a copy of an object with previous values restored. A changed list is replaced as a whole. */
function rewind(value: unknown, before: unknown): unknown {
  if (typeof before !== 'object' || before === null || Array.isArray(before)) return before;
  const object: Json = { ...asObject(value) };
  for (const [key, entry] of Object.entries(before)) object[key] = rewind(object[key], entry);
  return object;
}

/** Compares two values deeply. A missing field equals null, because `previous_attributes` has null for such a field. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return (a ?? null) === (b ?? null);
  if (Array.isArray(a) !== Array.isArray(b) || asList(a).length !== asList(b).length) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => isSame(Reflect.get(a, key), Reflect.get(b, key)));
}

/**
 * The fields of an event that are kept, because they are not personal data. All others, including unknown ones, are
 * dropped.
 */
const FIELDS = new Set(
  `id object type api_version livemode account created data previous_attributes
  customer metadata status mode subscription parent subscription_details
  items has_more quantity price plan recurring interval interval_count usage_type billing_scheme tiers_mode
  transform_quantity transform_usage divide_by round tax_behavior unit_amount unit_amount_decimal amount amount_decimal
  tax_rates default_tax_rates inclusive currency current_period_end
  cancel_at cancel_at_period_end canceled_at ended_at pause_collection behavior resumes_at
  number status_transitions finalized_at paid_at effective_at date due_date paid closed forgiven attempted
  paid_out_of_band subtotal tax total total_excluding_tax total_taxes total_tax_amounts
  amount_paid amount_due amount_remaining amount_paid_off_stripe amount_overpaid
  pre_payment_credit_notes_amount post_payment_credit_notes_amount starting_balance ending_balance
  lines total_count period start end quantity_decimal discount_amounts taxes tax_amounts taxable_amount
  taxability_reason tax_rate_details tax_rate percentage tax_type
  from_invoice action invoice payments payment payment_intent charge last_payment_error payment_status client_reference_id`.split(
    /\s+/,
  ),
);

/** The metadata fields that our own integration writes. */
const METADATA = ['customer_number', 'customer_service_id', 'service_number', 'subscription_id'];

/** Removes personal data from an event's body, and keeps all other fields needed to apply the event. */
export function withoutPersonalData(payload: string): string {
  return JSON.stringify(reduce(JSON.parse(payload)));
}

function reduce(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reduce);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => FIELDS.has(name));
  return Object.fromEntries(kept.map(([name, entry]) => [name, reduceField(name, entry)]));
}

function reduceField(name: string, value: unknown): unknown {
  if (name === 'metadata') return reduceMetadata(asObject(value));
  // A payer can set this field to any text in the URL of a payment link.
  if (name === 'client_reference_id') return /^\d+$/.test(String(value)) ? value : null;
  return reduce(value);
}

function reduceMetadata(metadata: Json): Json {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => METADATA.includes(name)));
}
