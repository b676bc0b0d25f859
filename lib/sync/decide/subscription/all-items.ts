import type { ProviderSubscription } from '../../../stripe/provider';
import type { Draft } from '../draft';
import type { Source } from '../order';

/** Events, lists and single objects show the first ten items of a subscription. */
export const SHOWN = 10;

export const hasMoreItems = ({ itemsComplete, items }: ProviderSubscription): boolean =>
  !itemsComplete && items.length > 0;

/** Only the reported ones where Stripe does not answer; the daily job then leaves the subscription to its next run. */
export function withAllItems(
  draft: Draft,
  provider: ProviderSubscription,
  stripeCustomerId: string,
  source: Source,
): ProviderSubscription {
  if (!hasMoreItems(provider)) return provider;
  const fetched = draft.ask('items', provider.id, stripeCustomerId);
  if (fetched.state === 'found') return { ...provider, items: fetched.object, itemsComplete: true };
  if (source.origin !== 'event') draft.leave(`the items of ${provider.id}`, fetched);
  return provider;
}
