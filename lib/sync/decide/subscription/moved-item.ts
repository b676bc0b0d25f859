import type { StoredSubscription } from '../../store/rows';
import type { Draft } from '../draft';

/** Whether an item is in another subscription as of then: within one second Stripe is asked. */
export function isStillIn(
  draft: Draft,
  other: StoredSubscription | undefined,
  item: string,
  asOf: Date,
): boolean {
  if (!other?.provider_as_of || other.provider_as_of < asOf) return false;
  if (other.provider_as_of > asOf) return true;
  const { stripe_subscription_id: id, stripe_customer_id: customer } = other;
  const fetched = draft.ask('subscription', id ?? '', customer ?? '');
  return fetched.state === 'found' && fetched.object.items.some((one) => one.id === item);
}
