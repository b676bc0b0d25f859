import { eq } from 'drizzle-orm';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import { AppError } from '../../errors';
import { type ProviderEvent, toProviderEvent } from '../../stripe/to-event';
import { UnstorableError } from '../../stripe/unstorable';
import type { SyncDeps } from '../sync-deps';
import { synchronize } from '../synchronize';
import { customerOf, type Delivery, decideDelivery, type EventOutcome, keysOfDelivery } from './delivery';
import { failEvent } from './inbox';
import { lineUp } from './together';

/** Writes its changes together with its inbox row; if that fails, it is kept as failed, and the error is rethrown. */
export async function handleEvent(
  deps: SyncDeps,
  event: ProviderEvent,
  payload: string,
  { again = false }: { again?: boolean } = {},
): Promise<EventOutcome> {
  try {
    const { mode } = deps;
    const expectedMode = mode !== null && event.livemode !== (mode === 'live') ? mode : null;
    return await takeIn(deps, { event, payload, expectedMode, again });
  } catch (error) {
    if (!isDatabaseUnavailable(error))
      await failEvent(deps.db, event, payload, errorCode(error), reasonOf(error));
    throw error;
  }
}

/** Applies a stored event once more. @throws AppError not_found; conflict where its body was dropped */
export async function replayEvent(deps: SyncDeps, id: string): Promise<EventOutcome> {
  const [stored] = await deps.db
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(eq(stripeEvents.id, id));
  if (stored?.payload === '')
    throw new AppError('conflict', 'The body of this event was dropped for its age.');
  const event = stored && toProviderEvent(JSON.parse(stored.payload));
  if (!event) throw new AppError('not_found', `There is no event ${id} in the inbox.`);
  return handleEvent(deps, event, stored.payload, { again: true });
}

export async function takeIn(deps: SyncDeps, delivery: Delivery): Promise<EventOutcome> {
  const keys = keysOfDelivery(delivery); // throws where an event cannot be read
  const { result } = await synchronize(deps, {
    stripeCustomerId: customerOf(delivery),
    keys,
    withOthers: lineUp(deps, delivery, keys),
    decide: (draft) => decideDelivery(draft, delivery),
    toEntries: ({ entry }) => (entry ? [entry] : []),
  });
  const { outcome, entry } = result;
  const warnings = entry?.warnings ?? [];
  if (warnings.length > 0) deps.log.warn({ event: delivery.event.id, warnings }, 'event left questions');
  return outcome;
}

/** Short and without personal data: an SQLSTATE, or the name of the error. */
function errorCode(error: unknown): string {
  return pgErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
}

const reasonOf = (error: unknown) => (error instanceof UnstorableError ? error.message : null);
