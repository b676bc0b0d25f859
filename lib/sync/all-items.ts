import type { ProviderSubscription } from '../stripe/provider';
import type { Source, SyncContext } from './context';
import { NotToldError } from './lookups';

/** Events, lists and single objects show the first ten items of a subscription. */
export const hasMoreItems = ({ itemsComplete, items }: ProviderSubscription): boolean =>
  !itemsComplete && items.length > 0;

/**
 * A subscription with all of its items; with those that were told, where Stripe cannot be asked.
 *
 * @param held `updated_at` of the row we hold, as this transaction found it
 * @throws NotToldError in the daily job, which tries it again
 */
export function withAllItems(
  { lookups }: SyncContext,
  provider: ProviderSubscription,
  source: Source,
  held: Date | null,
): ProviderSubscription {
  if (!hasMoreItems(provider)) return provider;
  const fetched = lookups.get('items', provider.id, held);
  if (fetched.state === 'found') return { ...provider, items: fetched.object, itemsComplete: true };
  if (source.origin !== 'event') throw new NotToldError(fetched, `the items of ${provider.id}`);
  return provider;
}
