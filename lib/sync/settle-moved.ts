import { and, eq } from 'drizzle-orm';
import { stripeEvents } from '@/db/schema';
import { toProviderCheckout } from '../stripe/to-checkout';
import { asTold, toProviderEvent } from '../stripe/to-event';
import { applyCheckout } from './apply-checkout';
import { relinkItems } from './apply-items';
import { flushWrites, type SyncContext } from './context';

/**
 * A checkout links only a subscription of its own customer, and an item only a service of it. Where they
 * were filed under another one at first, they found none: once the customer has moved, both look again.
 */
export async function settleMoved(ctx: SyncContext): Promise<void> {
  // A checkout that is looked at again may move it once more.
  for (let customer = ctx.moved.pop(); customer; customer = ctx.moved.pop()) {
    await flushWrites(ctx);
    await reapplyCheckouts(ctx, customer);
    await relinkItems(ctx, customer);
  }
}

async function reapplyCheckouts(ctx: SyncContext, customer: string): Promise<void> {
  await ctx.keepEvent();
  const stored = await ctx.tx
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(
      and(eq(stripeEvents.stripe_customer_id, customer), eq(stripeEvents.type, 'checkout.session.completed')),
    )
    .orderBy(stripeEvents.stripe_created, stripeEvents.id);
  for (const { payload } of stored) {
    const event = toProviderEvent(JSON.parse(payload));
    const checkout = event?.account === null && asTold(event, toProviderCheckout(event.object));
    if (checkout) await applyCheckout(ctx, checkout);
  }
}
