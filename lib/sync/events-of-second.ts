import { and, eq, inArray, isNull } from 'drizzle-orm';
import { stripeEvents } from '@/db/schema';
import { type ProviderEvent, toProviderEvent } from '../stripe/to-event';
import type { SyncContext } from './context';
import { HANDLED_EVENT_TYPES } from './event-types';

/**
 * All events of one object that Stripe created in one second, the one being applied among them. Those of
 * other types change nothing wherever they arrive, so not here either.
 */
export async function eventsOfSecond(
  ctx: SyncContext,
  objectId: string,
  second: Date,
): Promise<ProviderEvent[]> {
  await ctx.keepEvent();
  const stored = await ctx.tx
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(
      and(
        eq(stripeEvents.object_id, objectId),
        eq(stripeEvents.stripe_created, second),
        isNull(stripeEvents.failure_reason), // what no column holds
        inArray(stripeEvents.type, HANDLED_EVENT_TYPES),
      ),
    );
  return stored
    .map(({ payload }) => toProviderEvent(JSON.parse(payload)))
    .filter((event) => event !== null)
    .filter(({ account }) => account === null);
}
