import type { ProviderEvent } from '@/lib/stripe/to-event';
import type { EventEntry } from '@/lib/sync/store/committed';
import { type ModelEvent, type ModelTables, StateError } from './tables';

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
