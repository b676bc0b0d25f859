import { MAX_ID } from '../page';
import type { ProviderCheckout } from './provider';
import { asId, asMetadata, asObject, asText } from './read';
import { toProviderCustomer } from './to-customer';

/**
 * A completed checkout that bought a subscription.
 *
 * @param completedAt when its event reported that it was
 * @returns null for one that did not (mode payment or setup, or no mode at all)
 */
export function toProviderCheckout(
  object: unknown,
  completedAt: Date | null = null,
): ProviderCheckout | null {
  const payload = asObject(object);
  const id = asText(payload.id);
  if (id === null || payload.mode !== 'subscription') return null;
  return {
    id,
    customer: toProviderCustomer(payload, { other: payload.metadata }),
    stripeSubscriptionId: asId(payload.subscription),
    // The program that created the checkout sets metadata. The payer may have set the other in a payment link.
    reference: toReference(
      asMetadata(payload.metadata).subscription_id ?? asText(payload.client_reference_id),
    ),
    paid: payload.payment_status !== 'unpaid',
    completedAt,
  };
}

/** Returns null for a text that cannot be one of our ids. */
function toReference(text: string | null): number | null {
  const id = /^\d{1,10}$/.test(text?.trim() ?? '') ? Number(text) : 0;
  return id >= 1 && id <= MAX_ID ? id : null;
}
