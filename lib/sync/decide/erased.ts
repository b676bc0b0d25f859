import type { ProviderEvent } from '../../stripe/to-event';
import { type Keys, mergeKeys, noKeys } from '../store/keys';
import type { Draft } from './draft';

/** An event, and the text that was signed. */
export interface Told {
  event: ProviderEvent;
  payload: string;
}

/** What `isOfErased` looks at. */
export const keysOfOwners = (told: Told): Keys =>
  mergeKeys(noKeys(), { stripeCustomers: stripeCustomersIn(told), intents: intentsOf(told) });

/**
 * Whether an event tells of a customer whose personal data was erased: it names one of its Stripe customers anywhere,
 * or, as disputes do, one of its payments alone.
 */
export function isOfErased(draft: Draft, told: Told): boolean {
  return ownersOf(draft, told).some((id) => {
    const link = draft.link(id);
    return Boolean(link && draft.customers.get(link.customer_id)?.erased_at);
  });
}

/** The Stripe customers that an event tells of. */
export function ownersOf(draft: Draft, told: Told): string[] {
  const payers = intentsOf(told).flatMap((id) =>
    draft.paymentsByIntent(id).flatMap((row) => draft.ownerOf(row) ?? []),
  );
  return [...new Set([...stripeCustomersIn(told), ...payers])];
}

/** No event names more. */
const MOST = 20;

/** The Stripe customers that an event names, its own first. */
export function stripeCustomersIn({ event: { stripeCustomerId: own }, payload }: Told): string[] {
  const named = payload.match(/\bcus_\w{1,100}/g) ?? [];
  return [...new Set(own === null ? named : [own, ...named])].slice(0, MOST);
}

function intentsOf({ event: { stripeCustomerId, object } }: Told): string[] {
  const { payment_intent: intent } = object;
  return stripeCustomerId === null && typeof intent === 'string' ? [intent] : [];
}
