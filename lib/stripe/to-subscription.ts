import { earliest } from '../dates';
import type { ProviderSubscription, ProviderSubscriptionItem } from './provider';
import { asInstant, asInteger, asList, asMetadata, asObject, asText, type Json } from './read';
import { toBilled } from './to-billed';
import { toProviderCustomer } from './to-customer';
import { UnstorableError } from './unstorable';

// https://docs.stripe.com/api/subscriptions/object#subscription_object-status
const STATUS = new Map<string, NonNullable<ProviderSubscription['status']>>(
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

/**
 * One shape from every API version. Before 2025-03-31.basil the period end stood on the subscription;
 * from then on it stands on each item.
 *
 * @returns null for an object without an id
 * @throws UnstorableError for a quantity that no column holds
 */
export function toProviderSubscription(object: unknown): ProviderSubscription | null {
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
    status: STATUS.get(providerStatus ?? '') ?? null,
    providerStatus,
    cancelAtPeriodEnd: payload.cancel_at_period_end === true,
    cancelAt:
      asInstant(payload.cancel_at) ??
      (payload.cancel_at_period_end === true ? firstEnd(items, periodEnd) : null),
    pause: toPause(asObject(payload.pause_collection)),
    endedAt: asInstant(payload.ended_at),
    periodEnd,
    items,
    itemsComplete: Array.isArray(list.data) && list.has_more !== true,
    metadata: asMetadata(payload.metadata),
  };
}

function firstEnd(items: ProviderSubscriptionItem[], periodEnd: Date | null): Date | null {
  const ends = items.flatMap(({ currentPeriodEnd }) => currentPeriodEnd ?? []);
  return ends.length > 0 ? earliest(...ends) : periodEnd;
}

function toPause({ behavior, resumes_at }: Json): ProviderSubscription['pause'] {
  const reported = asText(behavior);
  return reported === null ? null : { behavior: reported, resumesAt: asInstant(resumes_at) };
}

/**
 * One shape of an item.
 *
 * @param subscription as it was reported, where it came with the item
 * @returns null for one without an id
 */
export function toProviderItem(object: unknown, subscription: Json = {}): ProviderSubscriptionItem | null {
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

/** Metered prices have none. */
function toQuantity(value: unknown): number {
  const quantity = asInteger(value) ?? 1;
  if (quantity >= 0 && quantity <= 2_147_483_647) return quantity;
  throw new UnstorableError(`The quantity ${quantity} is none between 0 and 2147483647.`);
}
