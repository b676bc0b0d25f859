import type { LinkedBy } from '@/lib/sync/decide/customer/link';

/** How we know whose a Stripe customer is. */
export const LINKED_BY: Record<LinkedBy, string> = {
  staff: 'Staff, who said so',
  number: 'The customer number at Stripe',
  email: 'The e-mail address alone, which is not certain',
  created: 'Nothing: the customer was created for it',
};
