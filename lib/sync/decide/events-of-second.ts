import { fromInbox, type ProviderEvent } from '../../stripe/to-event';
import { HANDLED_EVENT_TYPES } from '../inbox/event-types';
import type { Draft } from './draft';

/** Including the one that is decided on; types that change nothing elsewhere are left out here, too. */
export function eventsOfSecond(draft: Draft, objectId: string, at: Date): ProviderEvent[] {
  return draft
    .events({ second: { objectId, at } })
    .filter(({ isStorable }) => isStorable)
    .map(({ payload }) => fromInbox(payload))
    .filter((event) => event.objectId === objectId && event.created.getTime() === at.getTime())
    .filter(({ account, type }) => account === null && HANDLED_EVENT_TYPES.includes(type));
}
