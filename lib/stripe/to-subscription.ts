import type { subscriptionStatus } from '@/db/schema';
import { earliest } from '../dates';
import { currencyDecimals, fromMinorUnits, MAX_AMOUNT } from '../money';
import { MAX_ID } from '../page';
import {
  asId,
  asInstant,
  asInteger,
  asList,
  asMetadata,
  asObject,
  asText,
  type Json,
  UnstorableError,
} from './read';
import { toProviderCustomer } from './to-customer';

// Our status for each status of Stripe: https://docs.stripe.com/api/subscriptions/object#subscription_object-status
const STATUS = new Map<string, (typeof subscriptionStatus.enumValues)[number]>(
  Object.entries({
    incomplete: 'incomplete',
    incomplete_expired: 'cancelled',
    trialing: 'trialing',
    active: 'active',
    past_due: 'past_due',
    unpaid: 'unpaid',
    paused: 'paused',
    canceled: 'cancelled',
  } as const),
);

export type ProviderSubscription = NonNullable<ReturnType<typeof toProviderSubscription>>;

/**
 * Converts a subscription of any API version. Before 2025-03-31.basil, the subscription contains the end of the period.
 * From then on, each item contains the end of its own period.
 *
 * @returns null for an object without an id
 * @throws UnstorableError for a quantity that no column can hold
 */
export function toProviderSubscription(object: unknown) {
  const payload = asObject(object);
  const id = asText(payload.id);
  if (id === null) return null;
  const providerStatus = asText(payload.status);
  const periodEnd = asInstant(payload.current_period_end);
  const list = asObject(payload.items);
  const items = asList(list.data).flatMap((item) => toProviderItem(item, payload) ?? []);
  return {
    id,
    customer: toProviderCustomer(payload, { subscription: [payload.metadata] }),
    /** Our status. Null if Stripe's status is unknown. */
    status: STATUS.get(providerStatus ?? '') ?? null,
    providerStatus,
    cancelAtPeriodEnd: payload.cancel_at_period_end === true,
    /** Scheduled end: `cancel_at`, or the end of the period if `cancel_at_period_end` is set. */
    cancelAt:
      asInstant(payload.cancel_at) ??
      (payload.cancel_at_period_end === true ? firstEnd(items, periodEnd) : null),
    /** The pause of payment collection. Null if payments are collected. */
    pause: toPause(asObject(payload.pause_collection)),
    endedAt: asInstant(payload.ended_at),
    /** End of the subscription's period, in API versions whose items have no periods of their own. */
    periodEnd,
    items,
    /** False if the payload does not list all items. */
    itemsComplete: Array.isArray(list.data) && list.has_more !== true,
    metadata: asMetadata(payload.metadata),
  };
}

function firstEnd(items: ProviderSubscriptionItem[], periodEnd: Date | null): Date | null {
  const ends = items.flatMap(({ currentPeriodEnd }) => currentPeriodEnd ?? []);
  return ends.length > 0 ? earliest(...ends) : periodEnd;
}

function toPause({ behavior, resumes_at }: Json) {
  const reported = asText(behavior);
  return reported === null ? null : { behavior: reported, resumesAt: asInstant(resumes_at) };
}

export type ProviderSubscriptionItem = NonNullable<ReturnType<typeof toProviderItem>>;

/**
 * Converts an item of any API version.
 *
 * @param subscription payload of the subscription, if the item comes from such a payload
 * @returns null for an item without an id
 */
export function toProviderItem(object: unknown, subscription: Json = {}) {
  const item = asObject(object);
  const id = asText(item.id);
  if (id === null) return null;
  return {
    id,
    quantity: toQuantity(item.quantity),
    currentPeriodEnd: asInstant(item.current_period_end) ?? asInstant(subscription.current_period_end),
    ...toBilled(item, subscription),
    metadata: asMetadata(item.metadata),
  };
}

/** Reads a quantity. Items with metered prices have no quantity, so it defaults to 1. */
function toQuantity(value: unknown): number {
  const quantity = asInteger(value) ?? 1;
  if (quantity >= 0 && quantity <= 2_147_483_647) return quantity;
  throw new UnstorableError(`The quantity ${quantity} is not between 0 and 2147483647.`);
}

export type ProviderBilled = ReturnType<typeof toBilled>;

/**
 * Reads the price of an item from its `price` or, in old API versions, its `plan`.
 *
 * The amount, in major units, is for the whole quantity and one interval, before tax. It is null if price and quantity
 * alone do not determine it, e.g. with tiers, metered use, packages, or tax in the price. It is also null if it is too
 * large or not a whole number of minor units.
 */
function toBilled(item: Json, subscription: Json) {
  const [price, plan] = [asObject(item.price), asObject(item.plan)];
  const terms = { ...plan, ...asObject(price.recurring) };
  const count = asInteger(terms.interval_count);
  const own = asText(price.currency) ?? asText(plan.currency);
  const currency = (asText(subscription.currency) ?? own)?.toLowerCase() ?? null;
  const isPlain =
    own?.toLowerCase() === currency &&
    terms.usage_type !== 'metered' &&
    [price, plan].every((one) => one.billing_scheme !== 'tiered' && one.tiers_mode == null) &&
    [price.transform_quantity, plan.transform_usage].every((transform) => transform == null) &&
    !includesTax(item, subscription);
  return {
    amount: isPlain && currency ? amountOf(item, currency) : null,
    currency,
    /** Billing interval: `day`, `week`, `month` or `year`. */
    interval: asText(terms.interval),
    intervalCount: count !== null && count > 0 && count <= 1000 ? count : null,
  };
}

function includesTax(item: Json, subscription: Json): boolean {
  const own = asList(item.tax_rates);
  const rates = own.length > 0 ? own : asList(subscription.default_tax_rates);
  return (
    asObject(item.price).tax_behavior === 'inclusive' ||
    rates.some((rate) => asObject(rate).inclusive === true)
  );
}

function amountOf(item: Json, currency: string): string | null {
  const quantity = asInteger(item.quantity);
  const unit = item.price ? unitOf(asObject(item.price), 'unit_') : unitOf(asObject(item.plan), '');
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,12}))?$/.exec(unit) ?? [];
  if (quantity === null || quantity < 0 || whole === undefined) return null;
  const [scaled, scale] = [BigInt(whole + fraction) * BigInt(quantity), 10n ** BigInt(fraction.length)];
  const minor = scaled / scale;
  const fits = minor <= BigInt(MAX_AMOUNT) * 10n ** BigInt(currencyDecimals(currency));
  return fits && scaled % scale === 0n ? fromMinorUnits(Number(minor), currency) : null;
}

/** Returns the unit price in minor units as text, or ''. Stripe's client returns decimals as objects. */
function unitOf(priced: Json, prefix: string): string {
  const value = priced[`${prefix}amount`] ?? priced[`${prefix}amount_decimal`];
  return value == null ? '' : String(value);
}

export type ProviderCheckout = NonNullable<ReturnType<typeof toProviderCheckout>>;

/**
 * Converts a completed checkout that bought a subscription. The caller checks that it is completed.
 *
 * @param completedAt time of the event that reported the completion
 * @returns null for a checkout in payment or setup mode, and for an object without an id
 */
export function toProviderCheckout(object: unknown, completedAt: Date | null = null) {
  const payload = asObject(object);
  const id = asText(payload.id);
  if (id === null || payload.mode !== 'subscription') return null;
  return {
    id,
    customer: toProviderCustomer(payload, { other: payload.metadata }),
    stripeSubscriptionId: asId(payload.subscription),
    /**
     * Our id of the sold subscription. It must be checked, because the payer may have set `client_reference_id` in the
     * URL of a payment link. Only the creator of the checkout can set `metadata`.
     */
    reference: toReference(
      asMetadata(payload.metadata).subscription_id ?? asText(payload.client_reference_id),
    ),
    /** True if the checkout was paid, or if nothing had to be paid. */
    paid: payload.payment_status !== 'unpaid',
    completedAt,
  };
}

/** Parses a subscription id. Returns null if the text is not a valid id. */
function toReference(text: string | null): number | null {
  const id = /^\d{1,10}$/.test(text?.trim() ?? '') ? Number(text) : 0;
  return id >= 1 && id <= MAX_ID ? id : null;
}
