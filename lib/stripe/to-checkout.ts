import type { ProviderCheckout } from './provider';
import { asId, asMetadata, asObject, asText } from './read';
import { toProviderCustomer } from './to-customer';

/**
 * A completed checkout that bought a subscription.
 *
 * @returns null for one that did not (mode payment or setup, or no mode at all)
 */
export function toProviderCheckout(object: unknown): ProviderCheckout | null {
  const payload = asObject(object);
  const id = asText(payload.id);
  if (id === null || payload.mode !== 'subscription') return null;
  return {
    id,
    customer: toProviderCustomer(payload, { other: payload.metadata }),
    stripeSubscriptionId: asId(payload.subscription),
    reference: asText(payload.client_reference_id) ?? asMetadata(payload.metadata).subscription_id ?? null,
    paid: payload.payment_status !== 'unpaid',
  };
}
