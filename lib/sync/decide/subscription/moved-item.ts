import type { StoredSubscription } from '../../store/rows';
import type { Draft } from '../draft';

/** Whether an item is in another subscription as of then: within one second Stripe is asked. */
export function isStillIn(
  draft: Draft,
  other: StoredSubscription | undefined,
  item: string,
  asOf: Date,
): boolean {
  const { stripe_subscription_id: id, stripe_customer_id: customer } = other ?? {};
  if (!other?.provider_as_of || !id || !customer || other.provider_as_of < asOf) return false;
  if (other.provider_as_of > asOf) return true;
  const fetched = draft.ask('subscription', id, customer);
  return fetched.state === 'found' && fetched.object.items.some((one) => one.id === item);
}
