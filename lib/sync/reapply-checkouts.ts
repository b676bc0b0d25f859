import { and, eq } from 'drizzle-orm';
import { stripeEvents } from '@/db/schema';
import { toProviderCheckout } from '../stripe/to-checkout';
import { toProviderEvent } from '../stripe/to-event';
import { applyCheckout } from './apply-checkout';
import type { SyncContext } from './context';

/**
 * A checkout links only a subscription of its own customer. Where it was filed under another one at first,
 * it found none: once the customer has moved, its stored checkouts are applied again.
 */
export async function reapplyCheckouts(ctx: SyncContext): Promise<void> {
  for (const customer of ctx.moved.splice(0)) {
    const stored = await ctx.tx
      .select({ payload: stripeEvents.payload })
      .from(stripeEvents)
      .where(
        and(
          eq(stripeEvents.stripe_customer_id, customer),
          eq(stripeEvents.type, 'checkout.session.completed'),
        ),
      )
      .orderBy(stripeEvents.stripe_created, stripeEvents.id);
    for (const { payload } of stored) {
      const checkout = toProviderCheckout(toProviderEvent(JSON.parse(payload))?.object);
      if (checkout) await applyCheckout(ctx, checkout);
    }
  }
}
