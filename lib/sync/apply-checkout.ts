import { and, eq, exists } from 'drizzle-orm';
import { subscriptions } from '@/db/schema';
import { isSure } from '../customers/sure-link';
import { latest } from '../dates';
import type { ProviderCheckout } from '../stripe/provider';
import { adoptSold } from './adopt-sold';
import { type Applied, lockSubscription } from './apply-subscription';
import type { SyncContext } from './context';
import { linkCustomer } from './link-customer';
import type { StoredSubscription } from './lock-held';
import { createdChange, differing, toChanges } from './write-changes';

/**
 * Links a completed checkout's subscription to ours. Paid, or with nothing to pay, it activates what Stripe
 * told nothing of yet, or that it was incomplete then or before, until Stripe's own word. A checkout says
 * nothing of the state's time, so it never stamps one.
 */
export async function applyCheckout(ctx: SyncContext, checkout: ProviderCheckout): Promise<Applied> {
  if (!checkout.customer) return 'unmatched';
  const link = await linkCustomer(ctx, checkout.customer);
  if (!checkout.stripeSubscriptionId) return 'unchanged';
  const { row: made, isNew } = await lockSubscription(
    ctx,
    checkout.stripeSubscriptionId,
    link.customerId,
    checkout.customer.stripeCustomerId,
  );
  const named = await noteReference(ctx, made, checkout.reference);
  const row = isSure(link) ? await adoptSold(ctx, named) : named;
  if (!checkout.paid) return 'unchanged';
  const activates = mayActivate(row, checkout.completedAt);
  const state = {
    checkout_completed_at: latestOf(row.checkout_completed_at, checkout.completedAt),
    ...(activates && { status: 'active' as const }),
    ...(activates && row.provider_as_of && { recheck_at: ctx.now }),
  };
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
  return activates ? 'applied' : 'unchanged';
}

function latestOf(...instants: (Date | null)[]): Date | null {
  const known = instants.filter((at) => at !== null);
  return known.length > 0 ? latest(...known) : null;
}

/** Whether a checkout that was completed then is later news than what is held. */
function mayActivate(
  { status, provider_as_of: asOf }: StoredSubscription,
  completedAt: Date | null,
): boolean {
  if (asOf === null) return status !== 'cancelled';
  return status === 'incomplete' && completedAt !== null && asOf <= completedAt;
}

/** Keeps which subscription of ours a checkout names, until it is certain that it is the one. */
async function noteReference(
  { tx }: SyncContext,
  row: StoredSubscription,
  reference: number | null,
): Promise<StoredSubscription> {
  if (reference === null || reference === row.id || row.checkout_reference !== null) return row;
  const isOurs = tx
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(eq(subscriptions.id, reference));
  const [named] = await tx
    .update(subscriptions)
    .set({ checkout_reference: reference })
    .where(and(eq(subscriptions.id, row.id), exists(isOurs)))
    .returning();
  return named ?? row;
}
