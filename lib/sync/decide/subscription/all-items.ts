import type { ProviderSubscription } from '../../../stripe/provider';
import type { Draft } from '../draft';
import type { Source } from '../order';

/** Events, lists and single objects show the first ten items of a subscription. */
export const SHOWN = 10;

export const hasMoreItems = ({ itemsComplete, items }: ProviderSubscription): boolean =>
  !itemsComplete && items.length > 0;

/** Only the reported ones where Stripe cannot be asked; the daily job then leaves it and tries again. */
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
