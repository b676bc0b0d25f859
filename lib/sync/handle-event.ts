import { eq } from 'drizzle-orm';
import { type Database, isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import { transact } from '@/db/transaction';
import type { StripeMode } from '../env-contradictions';
import { AppError } from '../errors';
import { type ProviderEvent, toProviderEvent } from '../stripe/to-event';
import { UnstorableError } from '../stripe/unstorable';
import { applyEvent, readAhead } from './apply-event';
import { flushWrites, newContext } from './context';
import { HANDLED_EVENT_TYPES } from './event-types';
import { closeEvent, failEvent, isSettled, keepEvent, openEvent, storeEvent } from './inbox';
import { type Lookups, withLookups } from './lookups';
import type { SyncDeps } from './sync-deps';
import { takeAtOnce } from './take-at-once';

export type EventOutcome = 'processed' | 'duplicate' | 'stale' | 'ignored' | 'unmatched';

/**
 * Takes in one verified event, in one transaction: lock, inbox, effects, outcome. When that fails all of
 * it is undone, the event is kept as failed, and the error is thrown on.
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
    const strayFrom = mode !== null && event.livemode !== (mode === 'live') ? mode : null;
    const isPlain = strayFrom === null && !again && event.account === null;
    const outcome = isPlain ? await takeAtOnce(deps, event, payload) : undefined;
    if (outcome) return outcome;
    return await withLookups(deps, (lookups) =>
      transact(
        deps.db,
        (tx) => takeIn(tx, deps, lookups, { event, payload, strayFrom, again }),
        event.stripeCustomerId ?? undefined,
      ),
    );
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

interface Delivery {
  event: ProviderEvent;
  payload: string;
  /** The mode of the configured keys, where the event is of the other one. */
  strayFrom: StripeMode | null;
  again: boolean;
}

async function takeIn(
  tx: Database,
  deps: SyncDeps,
  lookups: Lookups,
  { event, payload, strayFrom, again }: Delivery,
): Promise<EventOutcome> {
  const isIgnored = strayFrom !== null || event.account !== null || !HANDLED_EVENT_TYPES.includes(event.type);
  const key = event.stripeCustomerId ?? event.objectId ?? event.id;
  const [before, held] = await Promise.all([
    openEvent(tx, key, event.id),
    isIgnored ? undefined : readAhead(tx, event),
  ]);
  if (isSettled(before) && !again) return 'duplicate';
  let isStored = before !== null;
  const ctx = newContext(tx, deps, lookups, async () => {
    if (!isStored) await keepEvent(tx, event, payload);
    isStored = true;
  });
  if (strayFrom) ctx.warnings.push(otherMode(event, strayFrom));
  const outcome = isIgnored ? 'ignored' : await applyEvent(ctx, event, held);
  const { changes, now } = ctx;
  const warnings = [...new Set(ctx.warnings)];
  if (warnings.length > 0) deps.log.warn({ event: event.id, warnings }, 'event left questions');
  const result = { outcome, changes, warnings, now } as const;
  if (!isStored) await storeEvent(ctx, event, payload, result);
  else {
    await flushWrites(ctx);
    await closeEvent(tx, event.id, { ...result, before });
  }
  return outcome;
}

function otherMode({ livemode }: ProviderEvent, mode: StripeMode): string {
  return `a ${livemode ? 'live' : 'test'} event, while the configured keys are ${mode} keys`;
}

/** Short and without personal data: an SQLSTATE, or the name of the error. */
function errorCode(error: unknown): string {
  return pgErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
}

const reasonOf = (error: unknown) => (error instanceof UnstorableError ? error.message : null);
