import type { numberSource } from '@/db/schema';
import { asId, asInteger, asMetadata, asObject, asText, type Json } from './read';

/** The customer of a payload, with the details that the payload contains. */
export interface ProviderCustomer {
  stripeCustomerId: string;
  /** Our customer numbers in the payload's metadata. The number with the highest precedence comes first. */
  customerNumbers: ProviderCustomerNumber[];
  email: string | null;
  /** Name, e-mail address, phone and postal address, each with its source. */
  details: ProviderDetail[];
}

export interface ProviderDetail extends NumberOrigin {
  field: 'name' | 'email' | 'phone' | 'address';
  /** An address has several keys, such as `street` and `city`. Any other field has its own name as the only key. */
  value: Record<string, string | null>;
}

export interface ProviderCustomerNumber extends NumberOrigin {
  number: string;
}

/** The source of a reported customer number or detail, with the event that reported it. */
export interface NumberOrigin {
  source: (typeof numberSource.enumValues)[number];
  /** Time of the reporting event. Null if no event reported it. */
  at: Date | null;
  /**
   * Id of the reporting event. Without an event, the creation time in epoch seconds and the id of the payload. Null
   * without an event if the source is the Stripe customer itself.
   */
  by: string | null;
}

/**
 * Reads the customer of a payload. Fields of an expanded customer object take precedence over fields of the payload
 * itself, such as `customer_email` and `customer_details`. Returns null if the payload contains no customer.
 *
 * @param metadata metadata of the payload's subscription and of the payload itself
 */
export function toProviderCustomer(
  payload: Json,
  metadata: { subscription?: unknown[]; other?: unknown },
): ProviderCustomer | null {
  const stripeCustomerId = asId(payload.customer);
  if (stripeCustomerId === null) return null;
  const expanded = asObject(payload.customer);
  const reported = asObject(payload.customer_details);
  const byPayload = `${asInteger(payload.created)} ${asText(payload.id)}`;
  const numbersIn = (source: NumberOrigin['source'], among: unknown[]) =>
    among.flatMap((metadata) => {
      const number = asMetadata(metadata).customer_number;
      const by = source === 'customer' ? null : byPayload;
      return number ? [{ number, source, at: null, by }] : [];
    });
  return {
    stripeCustomerId,
    customerNumbers: [
      ...numbersIn('customer', [expanded.metadata]),
      ...numbersIn('subscription', metadata.subscription ?? []),
      ...numbersIn('other', [metadata.other]),
    ],
    email: asText(expanded.email) ?? asText(payload.customer_email) ?? asText(reported.email),
    details: [
      ...toDetails({ ...expanded, name: nameOf(expanded) }, { source: 'customer', at: null, by: null }),
      ...toDetails(
        {
          name: asText(payload.customer_name) ?? nameOf(reported),
          email: asText(payload.customer_email) ?? reported.email,
          phone: asText(payload.customer_phone) ?? reported.phone,
          address: payload.customer_address ?? reported.address,
        },
        { source: 'other', at: null, by: byPayload },
      ),
    ],
  };
}

/** Converts a fetched customer object. Returns null for a deleted customer, and for an object without an id. */
export function toFetchedCustomer(object: unknown): ProviderCustomer | null {
  const customer = asObject(object);
  return customer.deleted === true ? null : toProviderCustomer({ customer }, {});
}

/** Returns the name of a Stripe customer. If it has only a business name or a person's name, returns that name. */
const nameOf = ({ name, business_name, individual_name }: Json): string | null =>
  asText(name) ?? asText(business_name) ?? asText(individual_name);

function toDetails({ address, ...single }: Json, origin: NumberOrigin): ProviderDetail[] {
  const found = toAddress(address);
  return [
    ...(['name', 'email', 'phone'] as const).flatMap((field) => {
      const text = asText(single[field]);
      return text === null ? [] : [{ field, value: { [field]: text }, ...origin }];
    }),
    ...(found ? [{ field: 'address' as const, value: found, ...origin }] : []),
  ];
}

function toAddress(value: unknown): ProviderDetail['value'] | null {
  const address = asObject(value);
  const street = [asText(address.line1), asText(address.line2)].filter((line) => line !== null).join(', ');
  const country = asText(address.country);
  const found = {
    street: street === '' ? null : street,
    postal_code: asText(address.postal_code),
    city: asText(address.city),
    country: country && /^[A-Z]{2}$/.test(country) ? country : null,
  };
  return Object.values(found).some((part) => part !== null) ? found : null;
}
