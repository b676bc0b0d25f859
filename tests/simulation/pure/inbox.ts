import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import type { EventEntry } from '@/lib/store/commit';
import type { ProviderEvent } from '@/lib/stripe/event';
import { toKeptCheckout } from '@/lib/sync/decide/subscription/checkout';
import { type EventOutcome, isSettled, takeIn } from '@/lib/sync/inbox/handle-event';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { ModelProcess } from './model';
import { type ModelTables, StateError } from './tables';

/** Handles an event like `handleEvent`. Unless the database is unavailable, an event that fails is stored as failed. */
export async function takeModelEvent(
  process: ModelProcess,
  deps: SyncDeps,
  { event, payload, again }: { event: ProviderEvent; payload: string; again: boolean },
): Promise<EventOutcome> {
  try {
    return await takeIn(deps, { event, payload, expectedMode: null, again });
  } catch (error) {
    if (!isDatabaseUnavailable(error)) {
      const code = pgErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
      await process.failEvent(event, payload, code);
    }
    throw error;
  }
}

/** Stores an event like `commit_events`. @throws StateError if another delivery stored it first */
export function storeEvent(
  tables: ModelTables,
  entry: Omit<EventEntry, 'changes'> & { changes: object[] },
): void {
  const { before, livemode: _, api_version: __, owners: ___, ...event } = entry;
  const stored = tables.rows.events.get(event.id);
  const { warnings, changes } = event;
  if (before === null) {
    if (stored) throw new StateError('23505', event.id);
    const fresh = { attempts: 1, checkout: null, error_code: null, failure_reason: null };
    tables.put('events', event.id, { ...event, ...fresh });
    return;
  }
  if (!stored || `${stored.outcome} ${stored.attempts}` !== before) throw new StateError('40001', event.id);
  const { outcome } = event;
  const isKept = stored.outcome === 'processed' && outcome === 'stale';
  tables.put('events', event.id, {
    ...stored,
    ...event,
    outcome: isKept ? stored.outcome : outcome,
    warnings: isKept ? stored.warnings : warnings,
    changes: [...stored.changes, ...changes],
    attempts: stored.attempts + 1,
    error_code: null,
    failure_reason: null,
  });
}

/** Stores a failed event like `failEvent`. The event keeps its outcome if another delivery has applied it. */
export function failModelEvent(
  tables: ModelTables,
  event: ProviderEvent,
  payload: string,
  error_code: string,
): void {
  const stored = tables.rows.events.get(event.id);
  const failed = { outcome: 'failed' as const, error_code, failure_reason: null };
  if (!stored) {
    tables.put('events', event.id, {
      id: event.id,
      type: event.type,
      stripe_created: event.created,
      object_id: event.objectId,
      stripe_customer_id: event.stripeCustomerId,
      payload,
      checkout: null,
      attempts: 1,
      warnings: [],
      changes: [],
      processed_at: null,
      ...failed,
    });
  } else if (stored.outcome === 'failed' || stored.outcome === 'unmatched') {
    tables.put('events', event.id, { ...stored, ...failed, attempts: stored.attempts + 1 });
  }
}

const CHECKOUT = 'checkout.session.completed';
const DAY_MS = 86_400_000;
/** Days until the body of a checkout event is dropped. All deliveries arrive earlier than that. */
const RETENTION_DAYS = 30;
/** Days until a reconciliation on a database drops the bodies of all other events. */
const RETENTION_OF_ALL_DAYS = 180;

/** Returns whether a history drops the bodies of old events. Every second history does. */
export const dropsBodies = (seed: number): boolean => seed % 2 !== 0;

/**
 * Drops the bodies of old checkout events, like `dropOldBodies` but earlier. The model keeps all other bodies, because
 * sync also reads old subscription events, and nothing is stored in place of their bodies.
 */
export function dropModelBodies(tables: ModelTables, now: Date): void {
  for (const event of tables.rows.events.values()) {
    const { id, type, payload, outcome, stripe_created } = event;
    const isOver = type === CHECKOUT && stripe_created < bodyCutoff(now);
    if (payload !== '' && isSettled(outcome) && isOver)
      tables.put('events', id, { ...event, payload: '', checkout: toKeptCheckout(payload) });
  }
}

/**
 * Returns whether an event is so old that its body may have been dropped.
 *
 * @param event an event with Stripe's time in seconds
 */
export const mayLackBody = (event: { type: string; stripe_created: number }, now: Date): boolean =>
  event.stripe_created * 1000 <
  daysBefore(now, event.type === CHECKOUT ? RETENTION_DAYS : RETENTION_OF_ALL_DAYS).getTime();

/** Returns the time before which Stripe must have created a checkout event for its body to be dropped. */
export const bodyCutoff = (now: Date): Date => daysBefore(now, RETENTION_DAYS);

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS);
