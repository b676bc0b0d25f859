import { and, eq } from 'drizzle-orm';
import { stripeEvents } from '@/db/schema';
import { type ProviderEvent, toProviderEvent } from '../stripe/to-event';
import type { SyncContext } from './context';

/** All events of one object that Stripe created in one second, the one being applied among them. */
export async function eventsOfSecond(
  ctx: SyncContext,
  objectId: string,
  second: Date,
): Promise<ProviderEvent[]> {
  await ctx.keepEvent();
  const stored = await ctx.tx
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(and(eq(stripeEvents.object_id, objectId), eq(stripeEvents.stripe_created, second)));
  return stored.map(({ payload }) => toProviderEvent(JSON.parse(payload))).filter((event) => event !== null);
}
