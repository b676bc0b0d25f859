import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import type { ProviderEvent } from '@/lib/stripe/to-event';
import { toKeptCheckout } from '@/lib/sync/decide/checkout/kept-checkout';
import type { EventOutcome } from '@/lib/sync/inbox/delivery';
import { takeIn } from '@/lib/sync/inbox/handle-event';
import { isSettled } from '@/lib/sync/inbox/inbox';
import type { EventEntry } from '@/lib/sync/store/committed';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { ModelProcess } from './model';
import { type ModelEvent, type ModelTables, StateError } from './tables';

/** As `handleEvent`: what cannot be applied is kept as failed. */
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

/** As `commit_events`. @throws StateError where another delivery was first */
export function storeEvent(
  tables: ModelTables,
  {
    before,
    livemode: _,
    api_version: __,
    owners: ___,
    ...event
  }: Omit<EventEntry, 'changes'> & { changes: object[] },
): void {
  const stored = tables.rows.events.get(event.id);
  const { warnings, changes } = event;
  if (before === null) {
    if (stored) throw new StateError('23505', event.id);
    const fresh = { attempts: 1, checkout: null, error_code: null, failure_reason: null };
    tables.put('events', event.id, { ...event, ...fresh });
    return;
  }
  if (!stored || `${stored.outcome} ${stored.attempts}` !== before) throw new StateError('40001', event.id);
  const { outcome, processed_at } = event;
  const isKept = stored.outcome === 'processed' && outcome === 'stale';
  tables.put('events', event.id, {
    ...stored,
    outcome: isKept ? stored.outcome : outcome,
    warnings: isKept ? stored.warnings : warnings,
    processed_at,
    changes: [...stored.changes, ...changes],
    attempts: stored.attempts + 1,
    error_code: null,
    failure_reason: null,
  });
}

/** As `failEvent`: never over an outcome that another delivery reached. */
export function failModelEvent(
  tables: ModelTables,
  event: ProviderEvent,
  payload: string,
  error_code: string,
): void {
  const stored = tables.rows.events.get(event.id);
  const failed = { outcome: 'failed' as const, error_code, failure_reason: null };
  if (!stored) tables.put('events', event.id, { ...newEvent(event, payload), ...failed });
  else if (stored.outcome === 'failed' || stored.outcome === 'unmatched') {
    tables.put('events', event.id, { ...stored, ...failed, attempts: stored.attempts + 1 });
  }
}

function newEvent(
  event: ProviderEvent,
  payload: string,
): Omit<ModelEvent, 'outcome' | 'error_code' | 'failure_reason'> {
  return {
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
  };
}

const CHECKOUT = 'checkout.session.completed';
const DAY_MS = 86_400_000;
/** Longer than anything is late. */
const RETENTION_DAYS = 30;
/** After so many the runs of a database drop all others too. */
const RETENTION_OF_ALL_DAYS = 180;

/** Every second history drops bodies. */
export const dropsBodies = (seed: number): boolean => seed % 2 !== 0;

/** As `dropOldBodies`, but of checkouts alone and earlier: of what else was reported nothing is kept to decide by. */
export function dropModelBodies(tables: ModelTables, now: Date): void {
  for (const event of tables.rows.events.values()) {
    const { id, type, payload, outcome, stripe_created } = event;
    const isOver = type === CHECKOUT && stripe_created < oldest(now);
    if (payload !== '' && isSettled(outcome) && isOver)
      tables.put('events', id, { ...event, payload: '', checkout: toKeptCheckout(payload) });
  }
}

/** Whether an event is old enough. @param created seconds, as Stripe tells */
export const mayLackBody = ({ type, created }: { type: string; created: number }, now: Date): boolean =>
  created * 1000 < daysBefore(now, type === CHECKOUT ? RETENTION_DAYS : RETENTION_OF_ALL_DAYS).getTime();

/** Whatever is younger keeps its body. */
export const oldest = (now: Date): Date => daysBefore(now, RETENTION_DAYS);

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS);
