import type { KeptCheckout } from '@/db/schema';
import type { ProviderCheckout } from '../../../stripe/provider';
import { toProviderCheckout } from '../../../stripe/to-checkout';
import { asReported, fromInbox } from '../../../stripe/to-event';
import type { StoredEvent } from '../../store/snapshot';

/** Null if it did not buy a known subscription. */
export function toKeptCheckout(payload: string): KeptCheckout | null {
  const { object, account } = fromInbox(payload);
  const checkout = toProviderCheckout(object);
  if (!checkout || account !== null) return null;
  const { id, stripeSubscriptionId: stripe_subscription_id, reference, paid } = checkout;
  return { id, stripe_subscription_id, reference, paid };
}

/** Its customer's details were noted when it was applied first. Null: no such checkout of this customer's. */
export function toStoredCheckout(stored: StoredEvent, stripeCustomerId: string): ProviderCheckout | null {
  if (stored.payload !== '') return fromBody(stored.payload, stripeCustomerId);
  if (stored.checkout?.stripe_customer_id !== stripeCustomerId) return null;
  const { id, stripe_subscription_id, reference, paid, completed_at } = stored.checkout;
  return {
    id,
    customer: { stripeCustomerId, customerNumbers: [], email: null, details: [] },
    stripeSubscriptionId: stripe_subscription_id,
    reference,
    paid,
    completedAt: new Date(completed_at),
  };
}

function fromBody(payload: string, stripeCustomerId: string): ProviderCheckout | null {
  const event = fromInbox(payload);
  const isIts = event.stripeCustomerId === stripeCustomerId && event.account === null;
  if (!isIts || event.type !== 'checkout.session.completed') return null;
  return asReported(event, toProviderCheckout(event.object, event.created));
}
