import type { StripeMode } from '../../env-contradictions';
import { fromInbox, type ProviderEvent } from '../../stripe/to-event';
import { withoutPersonalData } from '../../stripe/without-personal-data';
import type { Draft } from '../decide/draft';
import { isErased, keysOfOwners, ownersOf } from '../decide/erased';
import { decideEvent, keysOfEvent } from '../decide/event';
import type { EventEntry } from '../store/committed';
import { type Keys, mergeKeys, noKeys } from '../store/keys';
import type { StoredOutcome } from '../store/rows';
import { type HandledEvent, isHandled, THIN_WARNING } from './event-types';
import { isSettled, toRow } from './inbox';

export type EventOutcome = 'processed' | 'duplicate' | 'stale' | 'ignored' | 'unmatched';

export interface Delivery {
  event: ProviderEvent;
  payload: string;
  /** The mode of the configured keys, where the event is of the wrong one. */
  expectedMode: StripeMode | null;
  /** Apply it even if it was applied before. */
  again: boolean;
}

export interface Taken {
  outcome: EventOutcome;
  /** What the inbox then says of it; null: what it said. */
  entry: EventEntry | null;
}

export function customerOf(delivery: Delivery): string | null {
  return handledOf(delivery)?.stripeCustomerId ?? null;
}

export function keysOfDelivery(delivery: Delivery): Keys {
  const handled = handledOf(delivery);
  const keys = handled ? keysOfEvent(handled) : mergeKeys(noKeys(), { events: [delivery.event.id] });
  return mergeKeys(keys, keysOfOwners(delivery));
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

/** Of an erased customer nothing personal is looked at, nor stored. */
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
