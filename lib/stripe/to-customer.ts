import type { NumberOrigin, ProviderAddress, ProviderCustomer } from './provider';
import { asId, asInteger, asMetadata, asObject, asText, type Json } from './read';

/**
 * The customer of a payload. Fields of an expanded customer object come first, then those that the
 * payload itself carries (`customer_email`, `customer_details`…).
 *
 * @param metadata of the payload itself and of its subscription
 */
export function toProviderCustomer(
  payload: Json,
  metadata: { subscription?: unknown[]; other?: unknown },
): ProviderCustomer | null {
  const stripeCustomerId = asId(payload.customer);
  if (stripeCustomerId === null) return null;
  const expanded = asObject(payload.customer);
  const details = asObject(payload.customer_details);
  const numbersIn = (source: NumberOrigin['source'], among: unknown[]) =>
    among.flatMap((metadata) => {
      const number = asMetadata(metadata).customer_number;
      const by = source === 'customer' ? null : `${asInteger(payload.created)} ${asText(payload.id)}`;
      return number ? [{ number, source, at: null, by }] : [];
    });
  return {
    stripeCustomerId,
    customerNumbers: [
      ...numbersIn('customer', [expanded.metadata]),
      ...numbersIn('subscription', metadata.subscription ?? []),
      ...numbersIn('other', [metadata.other]),
    ],
    email: asText(expanded.email) ?? asText(payload.customer_email) ?? asText(details.email),
    name: asText(expanded.name) ?? asText(payload.customer_name) ?? asText(details.name),
    phone: asText(expanded.phone) ?? asText(payload.customer_phone) ?? asText(details.phone),
    address: toAddress(expanded.address ?? payload.customer_address ?? details.address),
  };
}

/** A customer object as fetched; null for a deleted one. */
export function toFetchedCustomer(object: unknown): ProviderCustomer | null {
  const customer = asObject(object);
  return customer.deleted === true ? null : toProviderCustomer({ customer }, {});
}

function toAddress(value: unknown): ProviderAddress | null {
  const address = asObject(value);
  const street = [asText(address.line1), asText(address.line2)].filter((line) => line !== null).join(', ');
  const country = asText(address.country);
  const found = {
    street: street === '' ? null : street,
    postalCode: asText(address.postal_code),
    city: asText(address.city),
    country: country && /^[A-Z]{2}$/.test(country) ? country : null,
  };
  return Object.values(found).some((part) => part !== null) ? found : null;
}
