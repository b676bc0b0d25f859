import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import type { ProviderEvent } from '../../stripe/to-event';
import type { StoredOutcome } from '../store/rows';

/** Outcomes that a further delivery does not change; the others are tried again. */
const SETTLED: StoredOutcome[] = ['processed', 'stale', 'ignored'];

/** Whether a further delivery changes nothing. */
export const isSettled = (outcome: StoredOutcome) => SETTLED.includes(outcome);

/**
 * Notes that an event could not be applied; never over an outcome that another delivery reached.
 *
 * @param failure_reason where it cannot be applied at all
 */
export async function failEvent(
  db: Database,
  event: ProviderEvent,
  payload: string,
  error_code: string,
  failure_reason: string | null = null,
): Promise<void> {
  await db
    .insert(stripeEvents)
    .values({ ...toRow(event, payload), outcome: 'failed', error_code, failure_reason })
    .onConflictDoUpdate({
      target: stripeEvents.id,
      set: { outcome: 'failed', error_code, failure_reason, attempts: sql`${stripeEvents.attempts} + 1` },
      setWhere: sql`${stripeEvents.outcome} in ('failed', 'unmatched')`,
    });
}

/** An event as the inbox keeps it. */
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
