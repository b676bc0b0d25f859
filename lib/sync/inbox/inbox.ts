import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, payments, stripeCustomers, stripeEvents } from '@/db/schema';
import { literal } from '../../page-query';
import type { ProviderEvent } from '../../stripe/to-event';
import { withoutPersonalData } from '../../stripe/without-personal-data';
import { intentsOf, stripeCustomersIn, type Told } from '../decide/erased';
import type { StoredOutcome } from '../store/rows';

/** Outcomes that a further delivery does not change; the others are tried again. */
const SETTLED: StoredOutcome[] = ['processed', 'stale', 'ignored'];

export const isSettled = (outcome: StoredOutcome) => SETTLED.includes(outcome);

/**
 * Keeps the body that failed last. Changes nothing of an event that another delivery has settled.
 *
 * @param failure_reason if it cannot be applied at all
 */
export async function failEvent(
  db: Database,
  event: ProviderEvent,
  payload: string,
  error_code: string,
  failure_reason: string | null = null,
): Promise<void> {
  const isErased = await tellsOfErased(db, { event, payload });
  const { id, ...told } = toRow(event, isErased ? withoutPersonalData(payload) : payload);
  const failed = { ...told, outcome: 'failed' as const, error_code, failure_reason };
  await db
    .insert(stripeEvents)
    .values({ id, ...failed })
    .onConflictDoUpdate({
      target: stripeEvents.id,
      set: { ...failed, attempts: sql`${stripeEvents.attempts} + 1` },
      setWhere: sql`${stripeEvents.outcome} in ('failed', 'unmatched')`,
    });
}

/** No lock of a Stripe customer is taken: that it cannot be had may be the very failure. */
async function tellsOfErased(db: Database, told: Told): Promise<boolean> {
  const [found] = await db
    .select({ id: customers.id })
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(
      and(
        inArray(stripeCustomers.stripe_customer_id, stripeCustomersIn(told)),
        isNotNull(customers.erased_at),
      ),
    )
    .limit(literal(1));
  if (found) return true;
  const [paid] = await db
    .select({ id: customers.id })
    .from(payments)
    .innerJoin(customers, eq(customers.id, payments.customer_id))
    .where(and(inArray(payments.stripe_payment_intent_id, intentsOf(told)), isNotNull(customers.erased_at)))
    .limit(literal(1));
  return paid !== undefined;
}

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
