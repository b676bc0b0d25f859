import { and, eq, isNotNull } from 'drizzle-orm';
import { stripeCustomers, stripeEvents, subscriptions } from '@/db/schema';
import { isSure } from '../customers/sure-link';
import { toProviderCheckout } from '../stripe/to-checkout';
import { asTold, toProviderEvent } from '../stripe/to-event';
import { adoptSold } from './adopt-sold';
import { applyCheckout } from './apply-checkout';
import { relinkItems } from './apply-items';
import { flushWrites, type SyncContext } from './context';

/**
 * A checkout links only a subscription of its own customer, and an item only a service of it, and both only
 * where it is known for sure who that is. Once the customer has moved, or is known surely, both look again.
 */
export async function settleMoved(ctx: SyncContext): Promise<void> {
  // A checkout that is looked at again may move it once more.
  for (let customer = ctx.moved.pop(); customer; customer = ctx.moved.pop()) {
    await flushWrites(ctx);
    await reapplyCheckouts(ctx, customer);
    if (!(await isSurelyLinked(ctx, customer))) continue;
    await relinkItems(ctx, customer);
    await adoptWaiting(ctx, customer);
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
    const checkout =
      event?.account === null && asTold(event, toProviderCheckout(event.object, event.created));
    if (checkout) await applyCheckout(ctx, checkout);
  }
}

async function isSurelyLinked({ tx }: SyncContext, customer: string): Promise<boolean> {
  const [link] = await tx
    .select({ linkedBy: stripeCustomers.linked_by })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.stripe_customer_id, customer));
  return link !== undefined && isSure(link);
}

/** What was sold with the checkouts that no event told of. */
async function adoptWaiting(ctx: SyncContext, customer: string): Promise<void> {
  const waiting = await ctx.tx
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.stripe_customer_id, customer), isNotNull(subscriptions.checkout_reference)))
    .orderBy(subscriptions.id)
    .for('update');
  for (const row of waiting) await adoptSold(ctx, row);
}
