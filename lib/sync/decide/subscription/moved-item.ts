import type { StoredSubscription } from '../../store/rows';
import type { Draft } from '../draft';
import { SHOWN, withAllItems } from './all-items';

/** Whether the other one still has it. If Stripe must be asked and does not answer, the daily job asks for that one. */
export function isStillIn(
  draft: Draft,
  other: StoredSubscription | undefined,
  item: string,
  asOf: Date,
): boolean {
  const { stripe_subscription_id: id, stripe_customer_id: customer } = other ?? {};
  if (!other?.provider_as_of || !id || !customer || other.provider_as_of < asOf) return false;
  if (other.provider_as_of > asOf && draft.itemsOf(other.id).length <= SHOWN) return true;
  const fetched = draft.ask('subscription', id, customer);
  if (fetched.state === 'unavailable') draft.subscriptions.put({ ...other, recheck_at: draft.now });
  if (fetched.state !== 'found') return false;
  const { items } = withAllItems(draft, fetched.object, customer, { origin: 'event', asOf });
  return items.some((one) => one.id === item);
}
