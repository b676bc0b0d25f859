import { and, eq, inArray } from 'drizzle-orm';
import { stripeEvents, subscriptions } from '@/db/schema';
import { toProviderCheckout } from '../stripe/to-checkout';
import { type ProviderEvent, toProviderEvent } from '../stripe/to-event';
import { toProviderSubscription } from '../stripe/to-subscription';
import { applyCheckout } from './apply-checkout';
import { relinkItems, storedItems } from './apply-items';
import type { SyncContext } from './context';
import { updateServiceDates } from './update-service-dates';

/**
 * A checkout links only a subscription of its own customer, and an item only a service of it. Where they
 * were filed under another one at first, they found none: once the customer has moved, its stored events
 * are looked at again.
 */
export async function settleMoved(ctx: SyncContext): Promise<void> {
  for (const customer of ctx.moved.splice(0)) {
    for (const event of await storedEvents(ctx, customer)) {
      if (event.type === 'checkout.session.completed') await reapplyCheckout(ctx, event);
      else await relink(ctx, event);
    }
  }
}

const TYPES = [
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
];

async function storedEvents({ tx }: SyncContext, customer: string): Promise<ProviderEvent[]> {
  const stored = await tx
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(and(eq(stripeEvents.stripe_customer_id, customer), inArray(stripeEvents.type, TYPES)))
    .orderBy(stripeEvents.stripe_created, stripeEvents.id);
  return stored.map(({ payload }) => toProviderEvent(JSON.parse(payload))).filter((event) => event !== null);
}

async function reapplyCheckout(ctx: SyncContext, event: ProviderEvent): Promise<void> {
  const checkout = toProviderCheckout(event.object);
  if (checkout) await applyCheckout(ctx, checkout);
}

async function relink(ctx: SyncContext, event: ProviderEvent): Promise<void> {
  const provider = toProviderSubscription(event.object);
  if (!provider) return;
  const [row] = await ctx.tx
    .select({ id: subscriptions.id, customer_id: subscriptions.customer_id })
    .from(subscriptions)
    .where(eq(subscriptions.stripe_subscription_id, provider.id))
    .for('update');
  if (!row) return;
  const items = await storedItems(ctx, row.id);
  await relinkItems(ctx, row.customer_id, items, provider);
  await updateServiceDates(ctx, row.id, items);
}
