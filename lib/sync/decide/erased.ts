import type { ProviderEvent } from '../../stripe/to-event';
import { type Keys, mergeKeys, noKeys } from '../store/keys';
import type { Draft } from './draft';

export interface Told {
  event: ProviderEvent;
  payload: string;
}

export const keysOfOwners = (told: Told): Keys =>
  mergeKeys(noKeys(), { stripeCustomers: stripeCustomersIn(told), intents: intentsOf(told) });

/** The Stripe customers it is about: those it names anywhere and, for disputes, the owner of the payment. */
export function ownersOf(draft: Draft, told: Told): string[] {
  const payers = intentsOf(told).flatMap((id) => draft.paymentsByIntent(id).map((row) => draft.ownerOf(row)));
  return [...new Set([...stripeCustomersIn(told), ...payers])].filter((id) => id !== null);
}

export function isErased(draft: Draft, stripeCustomerId: string): boolean {
  const link = draft.link(stripeCustomerId);
  return Boolean(link && draft.customers.get(link.customer_id)?.erased_at);
}

const MOST = 20;

export function stripeCustomersIn({ event: { stripeCustomerId: own }, payload }: Told): string[] {
  const named = payload.match(/\bcus_\w{1,100}/g) ?? [];
  return [...new Set(own === null ? named : [own, ...named])].slice(0, MOST);
}

export function intentsOf({ event: { stripeCustomerId, object } }: Told): string[] {
  const { payment_intent: intent } = object;
  return stripeCustomerId === null && typeof intent === 'string' ? [intent] : [];
}
