import type { ProviderSubscription } from '../../../stripe/provider';
import { fromInbox } from '../../../stripe/to-event';
import { toProviderSubscription } from '../../../stripe/to-subscription';
import { SUBSCRIPTION_EVENT_TYPES } from '../../inbox/event-types';
import type { StoredItem, StoredSubscription } from '../../store/rows';
import type { Draft } from '../draft';
import { toItemState } from '../subscription/item-state';
import { type BilledItem, matchSold, type SoldItem } from './match-sold';
import { mergeIntoSold } from './merge-into-sold';

/** Whether a subscription's checkout names a sold subscription that has not become it. */
export const isWaiting = <Row extends Waiting>(row: Row): row is Row & { checkout_reference: number } =>
  row.checkout_reference !== null && !row.reference_declined;

type Waiting = Pick<StoredSubscription, 'checkout_reference' | 'reference_declined'>;

/**
 * Adopts only if Stripe has reported exactly what was sold, since a payer can write any reference into a payment link.
 * Any reported state counts, so the order of the events does not matter. The customer's link must be sure.
 */
export function adoptSold(
  draft: Draft,
  made: StoredSubscription,
  reported?: ProviderSubscription[],
): StoredSubscription {
  const { stripe_subscription_id: id } = made;
  const ours = isWaiting(made) ? referenced(draft, made.checkout_reference, made.customer_id) : undefined;
  if (!ours || !id) return made;
  const sold = soldItems(draft, ours.id);
  const stored = made.provider_as_of ? [storedItems(draft, made.id)] : [];
  for (const billed of [...stored, ...(reported ?? reportedStates(draft, id)).flatMap(toBilledItems)]) {
    const pairs = matchSold(sold, billed);
    if (typeof pairs !== 'string') return mergeIntoSold(draft, ours, made, pairs);
  }
  return made;
}

export function soldItems(draft: Draft, subscriptionId: number): SoldItem[] {
  const own = draft.itemsOf(subscriptionId).filter((item) => item.stripe_subscription_item_id === null);
  return own.map(({ id, quantity, customer_service_id }) => {
    const service = customer_service_id === null ? undefined : draft.service(customer_service_id);
    return {
      id,
      quantity,
      serviceId: customer_service_id,
      service: service
        ? {
            id: service.id,
            number: service.service_number,
            price: service.price,
            currency: service.currency,
            interval: service.billing_interval,
            isEnded: ENDED.has(service.status),
          }
        : null,
    };
  });
}

const ENDED = new Set(['cancelled', 'terminated']);

export const storedItems = (draft: Draft, subscriptionId: number): BilledItem[] =>
  draft.itemsOf(subscriptionId).map(toBilledItem);

function referenced(draft: Draft, reference: number, customerId: number): StoredSubscription | undefined {
  const row = draft.subscriptionById(reference);
  const isOpen = row && row.stripe_subscription_id === null && row.status !== 'cancelled';
  return isOpen && row.customer_id === customerId ? row : undefined;
}

function toBilledItem(item: StoredItem | ReturnType<typeof toItemState>): BilledItem {
  return {
    stripeItemId: item.stripe_subscription_item_id,
    amount: item.amount,
    currency: item.currency,
    interval: item.interval,
    intervalCount: item.interval_count,
    namedServiceId: item.named_service_id,
    namedServiceNumber: item.named_service_number,
  };
}

function toBilledItems(state: ProviderSubscription): BilledItem[][] {
  if (!state.itemsComplete) return [];
  return [state.items.map((item) => toBilledItem(toItemState(state, item)))];
}

const MOST = 100;

function reportedStates(draft: Draft, id: string): ProviderSubscription[] {
  return draft
    .events({ reported: id })
    .filter(({ outcome }) => outcome === 'processed' || outcome === 'stale')
    .map(({ payload }) => fromInbox(payload))
    .filter(({ objectId, type }) => objectId === id && SUBSCRIPTION_EVENT_TYPES.includes(type))
    .sort((a, b) => b.created.getTime() - a.created.getTime() || (a.id < b.id ? 1 : -1))
    .slice(0, MOST)
    .map(({ object }) => toProviderSubscription(object))
    .filter((state) => state !== null);
}
