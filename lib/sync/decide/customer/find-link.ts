import type { ProviderCustomer, ProviderCustomerNumber } from '../../../stripe/provider';
import type { Draft } from '../draft';
import { takesPrecedence } from './claims';
import type { Link, LinkedBy } from './link';

const STRENGTH: Record<LinkedBy, number> = { created: 0, email: 1, number: 2, staff: 3 };

export function isStronger(one: Link, other: Link): boolean {
  if (one.linkedBy !== other.linkedBy) return STRENGTH[one.linkedBy] > STRENGTH[other.linkedBy];
  return one.origin !== null && takesPrecedence(one.origin, other.origin);
}

/** @param before the link that there is: only a stronger one is looked for, and another by number */
export function findLink(draft: Draft, reported: ProviderCustomer, before?: Link): Link | undefined {
  const byNumber = firstOfNumbers(draft, reported.customerNumbers);
  if (byNumber) return { ...byNumber, linkedBy: 'number' };
  const isWeaker = before === undefined || STRENGTH[before.linkedBy] < STRENGTH.email;
  if (!draft.settings.linkByEmail || !reported.email || !isWeaker) return undefined;
  // The customer that was created for it has the address, too, and is not the one looked for.
  const [only, ...others] = draft
    .customersByEmail(reported.email)
    .filter(({ id }) => id !== before?.customerId);
  return only && others.length === 0 ? { customerId: only.id, linkedBy: 'email', origin: null } : undefined;
}

/** Never link another Stripe customer to an erased customer. It keeps those that it had. */
function firstOfNumbers(draft: Draft, reported: ProviderCustomerNumber[]) {
  const [first] = reported.flatMap(({ number, ...origin }) => {
    const customer = draft.customerByNumber(number);
    return !customer || customer.erased_at ? [] : [{ customerId: customer.id, origin }];
  });
  return first;
}
