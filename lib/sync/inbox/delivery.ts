import type { StripeMode } from '../../env';
import { fromInbox, type ProviderEvent, withoutPersonalData } from '../../stripe/event';
import type { Draft } from '../decide/draft';
import { decideEvent, keysOfEvent } from '../decide/event';
import { type HandledEvent, isHandled, THIN_WARNING } from '../event-types';
import { type Keys, mergeKeys, noKeys, type StoredOutcome } from '../snapshot';
import type { EventEntry } from '../store/commit';

export type EventOutcome = 'processed' | 'duplicate' | 'stale' | 'ignored' | 'unmatched';

export interface Delivery {
  event: ProviderEvent;
  payload: string;
  /** The mode of the configured keys if the event is of the other one. */
  expectedMode: StripeMode | null;
  /** Apply it even if it was applied before. */
  again: boolean;
}

export interface Taken {
  outcome: EventOutcome;
  /** The inbox row to write. Null if it stays as it is. */
  entry: EventEntry | null;
}

export function customerOf(delivery: Delivery): string | null {
  return handledOf(delivery)?.stripeCustomerId ?? null;
}

export function keysOfDelivery(delivery: Delivery): Keys {
  const handled = handledOf(delivery);
  const keys = handled ? keysOfEvent(handled) : mergeKeys(noKeys(), { events: [delivery.event.id] });
  return mergeKeys(keys, { stripeCustomers: stripeCustomersIn(delivery), intents: intentsOf(delivery) });
}

export function decideDelivery(draft: Draft, delivered: Delivery): Taken {
  const before = draft.snapshot.events.get(delivered.event.id);
  const isKnown =
    draft.arrived.has(delivered.event.id) ||
    (before !== undefined && isSettled(before.outcome) && !delivered.again);
  if (isKnown) return { outcome: 'duplicate', entry: null };
  const owners = ownersOf(draft, delivered);
  const isOfErased = owners.some((id) => isErased(draft, id));
  const delivery = isOfErased ? toReduced(delivered) : delivered;
  const { event, payload, expectedMode } = delivery;
  const arrived = {
    id: event.id,
    outcome: 'failed' as StoredOutcome,
    attempts: 1,
    payload,
    checkout: null,
    isStorable: true,
  };
  draft.arrived.set(event.id, arrived);
  const known = draft.changes.length;
  draft.warnings.clear();
  if (event.isThin) draft.warnings.add(THIN_WARNING);
  else if (expectedMode) draft.warnings.add(wrongMode(event, expectedMode));
  const handled = handledOf(delivery);
  const outcome = handled ? decideEvent(draft, handled) : 'ignored';
  arrived.outcome = outcome;
  const entry: EventEntry = {
    ...toRow(event, payload),
    owners: isOfErased ? [] : owners,
    outcome,
    processed_at: draft.now,
    warnings: [...draft.warnings],
    changes: draft.changes.slice(known),
    before: before ? `${before.outcome} ${before.attempts}` : null,
  };
  return { outcome, entry };
}

/** Outcomes that a further delivery does not change; the others are tried again. */
const SETTLED: StoredOutcome[] = ['processed', 'stale', 'ignored'];

export const isSettled = (outcome: StoredOutcome) => SETTLED.includes(outcome);

/** Reduces the event of an erased customer before it is decided or stored, so that nothing personal stays in it. */
function toReduced(delivery: Delivery): Delivery {
  const payload = withoutPersonalData(delivery.payload);
  return { ...delivery, event: fromInbox(payload), payload };
}

/** A thin event, and one of the other mode, of a connected account or of another type is kept, and changes nothing. */
function handledOf({ event, expectedMode }: Delivery): HandledEvent | null {
  const isOurs = expectedMode === null && event.account === null;
  return isOurs && !event.isThin && isHandled(event) ? event : null;
}

function wrongMode({ livemode }: ProviderEvent, mode: StripeMode): string {
  return `a ${livemode ? 'live' : 'test'} event, while the configured keys are ${mode} keys`;
}

/** The columns of the inbox that the event itself determines. */
export function toRow(event: ProviderEvent, payload: string) {
  return {
    id: event.id,
    type: event.type,
    api_version: event.apiVersion,
    livemode: event.livemode,
    stripe_created: event.created,
    object_id: event.objectId,
    stripe_customer_id: event.stripeCustomerId,
    payload,
  };
}

/** What names the customers of an event. */
export interface Told {
  event: ProviderEvent;
  payload: string;
}

/** The Stripe customers it is about: those it names anywhere and, for disputes, the owner of the payment. */
function ownersOf(draft: Draft, told: Told): string[] {
  const payers = intentsOf(told).flatMap((id) => draft.paymentsByIntent(id).map((row) => draft.ownerOf(row)));
  return [...new Set([...stripeCustomersIn(told), ...payers])].filter((id) => id !== null);
}

function isErased(draft: Draft, stripeCustomerId: string): boolean {
  const link = draft.link(stripeCustomerId);
  return Boolean(link && draft.customers.get(link.customer_id)?.erased_at);
}

/** The Stripe customers of an event that are looked at. */
const MOST_NAMED = 20;

export function stripeCustomersIn({ event: { stripeCustomerId: own }, payload }: Told): string[] {
  const named = payload.match(/\bcus_\w{1,100}/g) ?? [];
  return [...new Set(own === null ? named : [own, ...named])].slice(0, MOST_NAMED);
}

export function intentsOf({ event: { stripeCustomerId, object } }: Told): string[] {
  const { payment_intent: intent } = object;
  return stripeCustomerId === null && typeof intent === 'string' ? [intent] : [];
}
