import type { numberSource } from '@/db/schema';

/** The customer of a payload, with the details that the payload contains. */
export interface ProviderCustomer {
  stripeCustomerId: string;
  /** Our customer numbers in the payload's metadata, the strongest first. */
  customerNumbers: ProviderCustomerNumber[];
  email: string | null;
  /** Name, e-mail address, phone and postal address, each with its source. */
  details: ProviderDetail[];
}

export interface ProviderDetail extends NumberOrigin {
  field: 'name' | 'email' | 'phone' | 'address';
  /** Text by key. An address has several keys (`street`, `city`…). Any other field has one, its own name. */
  value: Record<string, string | null>;
}

export interface ProviderCustomerNumber extends NumberOrigin {
  number: string;
}

/** The source of a reported number or detail of a customer, with the reporting event and its time. */
export interface NumberOrigin {
  source: (typeof numberSource.enumValues)[number];
  /** Time of the reporting event. Null if no event reported it. */
  at: Date | null;
  /** Id of the reporting event. Without one, the creation time (seconds since 1970) and the id of the source object. */
  by: string | null;
}
