import type { ProviderCustomer } from '../../../stripe/provider';
import type { StoredLink } from '../../store/rows';
import type { Draft } from '../draft';
import { fromNoted } from './claims';

export interface Asked {
  known: ProviderCustomer;
  /** Stripe itself answered: it has no other number of its own. */
  isCertain: boolean;
  /** Why it did not answer, although it could have been asked. */
  failure: string | undefined;
}

/** What Stripe knows of the customer comes first: its own number is the strongest it can bring. */
export function askCustomer(draft: Draft, reported: ProviderCustomer, numbers: StoredLink['numbers']): Asked {
  const { stripeCustomerId: id } = reported;
  const fetched = draft.ask('customer', id, id);
  const found = fetched.state === 'found' ? fetched.object : undefined;
  const own =
    found?.customerNumbers ?? reported.customerNumbers.filter(({ source }) => source === 'customer');
  const known = {
    ...reported,
    email: found?.email ?? reported.email,
    details: [...(found?.details ?? []), ...reported.details],
    customerNumbers: [...own, ...fromNoted(numbers)],
  };
  const isFailure = fetched.state === 'unavailable' && fetched.reason !== 'no_api_key';
  return { known, isCertain: found !== undefined, failure: isFailure ? fetched.reason : undefined };
}
