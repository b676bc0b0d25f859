import { fromInbox, type ProviderEvent } from '../../stripe/to-event';
import { HANDLED_EVENT_TYPES } from '../inbox/event-types';
import type { Draft } from './draft';

/**
 * All events of one object that Stripe created in one second, the one that is decided on among them. Those of
 * other types change nothing wherever they arrive, so not here either.
 */
export function eventsOfSecond(draft: Draft, objectId: string, at: Date): ProviderEvent[] {
  return draft
    .events({ second: { objectId, at } })
    .filter(({ isStorable }) => isStorable)
    .map(({ payload }) => fromInbox(payload))
    .filter((event) => event.objectId === objectId && event.created.getTime() === at.getTime())
    .filter(({ account, type }) => account === null && HANDLED_EVENT_TYPES.includes(type));
}
