import { and, eq, inArray, isNull } from 'drizzle-orm';
import { invoices, subscriptionItems, subscriptions } from '@/db/schema';
import { ChangedMeanwhileError } from '@/db/transaction';
import type { SyncContext } from './context';
import type { StoredSubscription } from './lock-held';
import type { SoldItem } from './match-sold';
import { updateServiceDates } from './update-service-dates';
import { toChanges } from './write-changes';

/**
 * A subscription that we sold becomes the one at Stripe: the row made for that meanwhile is merged into ours.
 *
 * @param pairs by Stripe's id of an item the item that it was sold as, whose service it takes
 */
export async function mergeIntoSold(
  ctx: SyncContext,
  ours: StoredSubscription,
  made: StoredSubscription,
  pairs: Map<string, SoldItem>,
): Promise<StoredSubscription> {
  const { tx } = ctx;
  const { stripe_subscription_id, stripe_customer_id, checkout_completed_at, status } = made;
  const link = { stripe_subscription_id, stripe_customer_id };
  ctx.changes.push(
    ...toChanges(
      { entity: 'subscription', entity_id: ours.id, stripe_id: stripe_subscription_id },
      ours,
      link,
    ),
  );
  await tx.update(invoices).set({ subscription_id: ours.id }).where(eq(invoices.subscription_id, made.id));
  await handOver(ctx, pairs);
  await tx
    .update(subscriptionItems)
    .set({ subscription_id: ours.id })
    .where(eq(subscriptionItems.subscription_id, made.id));
  await tx.delete(subscriptions).where(eq(subscriptions.id, made.id)); // its Stripe id is unique
  const { id: _, customer_id: __, created_at: ___, updated_at: ____, is_stub: _____, ...state } = made;
  const [merged] = await tx
    .update(subscriptions)
    .set({
      // What was only ever named has no state to bring along, but a checkout may have been paid.
      ...(made.provider_as_of
        ? state
        : { ...link, checkout_completed_at, ...(status === 'active' && { status }) }),
      checkout_reference: null,
      reference_declined: false,
    })
    .where(eq(subscriptions.id, ours.id))
    .returning();
  if (!merged) throw new ChangedMeanwhileError('the subscription that was sold is gone');
  const services = [...pairs.values()].map(({ service }) => ({ customer_service_id: service?.id ?? null }));
  await updateServiceDates(ctx, ours.id, services);
  return merged;
}

async function handOver({ tx }: SyncContext, pairs: Map<string, SoldItem>): Promise<void> {
  for (const [stripeItemId, { service }] of pairs) {
    await tx
      .update(subscriptionItems)
      .set({ customer_service_id: service?.id ?? null })
      .where(
        and(
          eq(subscriptionItems.stripe_subscription_item_id, stripeItemId),
          isNull(subscriptionItems.customer_service_id),
          eq(subscriptionItems.linked_by_staff, false),
        ),
      );
  }
  const sold = [...pairs.values()].map(({ id }) => id);
  if (sold.length > 0) await tx.delete(subscriptionItems).where(inArray(subscriptionItems.id, sold));
}
