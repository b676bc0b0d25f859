import type { LinkedBy } from '@/lib/customers/sure-link';

/** Names of the ways in which a Stripe customer was linked. */
export const LINKED_BY: Record<LinkedBy, string> = {
  staff: 'Decision by staff',
  number: 'Customer number at Stripe',
  email: 'E-mail address only (not certain)',
  created: 'No match: customer created from Stripe',
};
