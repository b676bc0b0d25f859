import { eq } from 'drizzle-orm';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import type { StripeMode } from '../../env-contradictions';
import { AppError } from '../../errors';
import { type ProviderEvent, toProviderEvent } from '../../stripe/to-event';
import { UnstorableError } from '../../stripe/unstorable';
import { decideEvent, keysOfEvent } from '../decide/event';
import type { EventEntry } from '../store/commit';
import { mergeKeys, noKeys } from '../store/keys';
import type { StoredOutcome } from '../store/rows';
import type { StoredEvent } from '../store/snapshot';
import type { SyncDeps } from '../sync-deps';
import { synchronize } from '../synchronize';
import { isHandled } from './event-types';
import { failEvent, isSettled, toRow } from './inbox';

export type EventOutcome = 'processed' | 'duplicate' | 'stale' | 'ignored' | 'unmatched';

/**
 * Takes in one verified event: what it changes and what the inbox says of it are written together. When that fails
 * none of it is, the event is kept as failed, and the error is thrown on.
 *
 * @param mode of the configured keys; an event of the other mode is kept and ignored, as is one of a connected account
 * @param again apply it even if it was applied before (a replay by staff)
 */
export async function handleEvent(
  deps: SyncDeps,
  event: ProviderEvent,
  payload: string,
  { mode = null, again = false }: { mode?: StripeMode | null; again?: boolean } = {},
): Promise<EventOutcome> {
  try {
    const expectedMode = mode !== null && event.livemode !== (mode === 'live') ? mode : null;
    return await takeIn(deps, { event, payload, expectedMode, again });
  } catch (error) {
    if (!isDatabaseUnavailable(error))
      await failEvent(deps.db, event, payload, errorCode(error), reasonOf(error));
    throw error;
  }
}

/** Applies a stored event once more. @throws AppError not_found */
export async function replayEvent(deps: SyncDeps, id: string): Promise<EventOutcome> {
  const [stored] = await deps.db
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(eq(stripeEvents.id, id));
  const event = stored && toProviderEvent(JSON.parse(stored.payload));
  if (!event) throw new AppError('not_found', `There is no event ${id} in the inbox.`);
  return handleEvent(deps, event, stored.payload, { again: true });
}

export interface Delivery {
  event: ProviderEvent;
  payload: string;
  /** The mode of the configured keys, where the event is of the wrong one. */
  expectedMode: StripeMode | null;
  again: boolean;
}

/** Takes in an event, or nothing of it. */
export async function takeIn(
  deps: SyncDeps,
  { event, payload, expectedMode, again }: Delivery,
): Promise<EventOutcome> {
  const handled = expectedMode === null && event.account === null && isHandled(event) ? event : null;
  const { result, warnings } = await synchronize(deps, {
    stripeCustomerId: handled && event.stripeCustomerId,
    keys: handled ? keysOfEvent(handled) : mergeKeys(noKeys(), { events: [event.id] }),
    event: { id: event.id, outcome: 'failed', attempts: 1, payload, isStorable: true },
    decide: (draft): EventOutcome => {
      const before = draft.snapshot.events.get(event.id);
      if (before && isSettled(before.outcome) && !again) return 'duplicate';
      if (expectedMode) draft.warnings.add(wrongMode(event, expectedMode));
      return handled ? decideEvent(draft, handled) : 'ignored';
    },
    toEntry: (outcome, snapshot) => {
      if (outcome === 'duplicate') return null;
      const before = snapshot.events.get(event.id);
      return toEntry(event, payload, outcome, before, deps.now());
    },
  });
  if (warnings.length > 0) deps.log.warn({ event: event.id, warnings }, 'event left questions');
  return result;
}

function toEntry(
  event: ProviderEvent,
  payload: string,
  outcome: StoredOutcome,
  before: StoredEvent | undefined,
  processed_at: Date,
): EventEntry {
  return {
    ...toRow(event, payload),
    outcome,
    processed_at,
    before: before ? `${before.outcome} ${before.attempts}` : null,
  };
}

function wrongMode({ livemode }: ProviderEvent, mode: StripeMode): string {
  return `a ${livemode ? 'live' : 'test'} event, while the configured keys are ${mode} keys`;
}

/** Short and without personal data: an SQLSTATE, or the name of the error. */
function errorCode(error: unknown): string {
  return pgErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
}

const reasonOf = (error: unknown) => (error instanceof UnstorableError ? error.message : null);
