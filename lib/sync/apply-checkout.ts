import { and, eq, isNull } from 'drizzle-orm';
import { invoices, subscriptionItems, subscriptions } from '@/db/schema';
import { MAX_ID } from '../page';
import type { ProviderCheckout } from '../stripe/provider';
import { storedItems } from './apply-items';
import { type Applied, lockSubscription } from './apply-subscription';
import type { SyncContext } from './context';
import { linkCustomer } from './link-customer';
import { updateServiceDates } from './update-service-dates';
import { createdChange, differing, toChanges } from './write-changes';

/**
 * Links a completed checkout's subscription to ours and activates it, unless Stripe has already told us
 * its state. A checkout says nothing of the state's time, so it never stamps one.
 */
export async function applyCheckout(ctx: SyncContext, checkout: ProviderCheckout): Promise<Applied> {
  if (!checkout.customer) return 'unmatched';
  const customerId = await linkCustomer(ctx, checkout.customer);
  if (!checkout.stripeSubscriptionId) return 'unchanged';
  await adoptReferenced(ctx, checkout, checkout.stripeSubscriptionId, customerId);
  const { row, isNew } = await lockSubscription(
    ctx,
    checkout.stripeSubscriptionId,
    customerId,
    checkout.customer.stripeCustomerId,
  );
  if (row.provider_as_of !== null || !checkout.paid) return 'unchanged';
  const state = { status: 'active' as const };
  const subject = {
    entity: 'subscription' as const,
    entity_id: row.id,
    stripe_id: row.stripe_subscription_id,
  };
  ctx.changes.push(
    ...(isNew ? [createdChange(subject, row.stripe_subscription_id)] : toChanges(subject, row, state)),
  );
  await ctx.tx
    .update(subscriptions)
    .set({ ...differing(row, state), stripe_synced_at: ctx.now })
    .where(eq(subscriptions.id, row.id));
  return 'applied';
}

/** The subscription we sold becomes the one at Stripe; a row made for it meanwhile is merged into ours. */
async function adoptReferenced(
  ctx: SyncContext,
  checkout: ProviderCheckout,
  stripeSubscriptionId: string,
  customerId: number,
): Promise<void> {
  const ours = await referenced(ctx, checkout.reference, customerId);
  if (!ours) return;
  const [made] = await ctx.tx
    .select()
    .from(subscriptions)
    .where(eq(subscriptions.stripe_subscription_id, stripeSubscriptionId))
    .for('update');
  const link = {
    stripe_subscription_id: stripeSubscriptionId,
    stripe_customer_id: checkout.customer?.stripeCustomerId ?? null,
  };
  ctx.changes.push(
    ...toChanges({ entity: 'subscription', entity_id: ours.id, stripe_id: stripeSubscriptionId }, ours, link),
  );
  if (made) await mergeInto(ctx, ours.id, made);
  else await ctx.tx.update(subscriptions).set(link).where(eq(subscriptions.id, ours.id));
}

/** Ours by the reference: not linked yet and of the same customer, since a payer's browser sent it. */
async function referenced(ctx: SyncContext, reference: string | null, customerId: number) {
  const id = /^\d{1,10}$/.test(reference ?? '') ? Number(reference) : 0;
  if (id < 1 || id > MAX_ID) return undefined;
  const [row] = await ctx.tx
    .select()
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.id, id),
        eq(subscriptions.customer_id, customerId),
        isNull(subscriptions.stripe_subscription_id),
      ),
    )
    .for('update');
  return row;
}

async function mergeInto(
  ctx: SyncContext,
  ours: number,
  made: typeof subscriptions.$inferSelect,
): Promise<void> {
  const { id, customer_id: _, created_at: __, updated_at: ___, is_stub: ____, ...state } = made;
  const { tx } = ctx;
  await tx.update(invoices).set({ subscription_id: ours }).where(eq(invoices.subscription_id, id));
  await mergeItems(ctx, ours, id);
  await tx.delete(subscriptions).where(eq(subscriptions.id, id)); // its Stripe id is unique
  // What was only ever named has no state to bring along.
  const { stripe_subscription_id, stripe_customer_id } = made;
  await tx
    .update(subscriptions)
    .set(made.provider_as_of ? state : { stripe_subscription_id, stripe_customer_id })
    .where(eq(subscriptions.id, ours));
  await updateServiceDates(ctx, ours, []);
}

/** The one item that was sold hands its service to the one item that Stripe made of it. */
async function mergeItems(ctx: SyncContext, ours: number, made: number): Promise<void> {
  const [sold, others] = [await storedItems(ctx, ours), await storedItems(ctx, made)];
  const [one, other] = [sold[0], others[0]];
  if (one && other && sold.length === 1 && others.length === 1 && other.customer_service_id === null) {
    const { customer_service_id } = one;
    await ctx.tx
      .update(subscriptionItems)
      .set({ customer_service_id })
      .where(eq(subscriptionItems.id, other.id));
    await ctx.tx.delete(subscriptionItems).where(eq(subscriptionItems.id, one.id));
  }
  await ctx.tx
    .update(subscriptionItems)
    .set({ subscription_id: ours })
    .where(eq(subscriptionItems.subscription_id, made));
}
