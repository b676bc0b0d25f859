import type { ProviderSubscription, ProviderSubscriptionItem } from '../../../stripe/provider';
import type { StoredItem } from '../../store/rows';
import { isSameState } from '../changes';
import { hasMoreItems } from './all-items';

/** Of a single item its subscription's metadata counts too. */
export function toItemState(
  provider: ProviderSubscription,
  item: ProviderSubscriptionItem,
  row?: StoredItem,
) {
  const metadata = provider.items.length === 1 ? { ...provider.metadata, ...item.metadata } : item.metadata;
  return {
    stripe_subscription_item_id: item.id,
    quantity: item.quantity,
    amount: item.amount,
    currency: item.currency,
    interval: item.interval,
    interval_count: item.intervalCount,
    current_period_end: item.currentPeriodEnd ?? row?.current_period_end ?? null,
    named_service_id: metadata.customer_service_id || null,
    named_service_number: metadata.service_number || null,
  };
}

export function isSameItems(stored: StoredItem[], provider: ProviderSubscription): boolean {
  if (hasMoreItems(provider)) return false; // the payload does not list all items
  const byId = new Map(stored.map((item) => [item.stripe_subscription_item_id, item]));
  const same = provider.items.every((item) => {
    const row = byId.get(item.id);
    return row && isSameState(row, toItemState(provider, item, row));
  });
  const known = stored.filter((item) => item.stripe_subscription_item_id !== null);
  return same && (!provider.itemsComplete || known.length === provider.items.length);
}
