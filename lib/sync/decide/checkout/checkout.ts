import { isSure } from '../../../customers/sure-link';
import { latest } from '../../../dates';
import type { ProviderCheckout } from '../../../stripe/provider';
import type { StoredSubscription } from '../../store/rows';
import { createdChange, toChanges } from '../changes';
import { linkCustomer } from '../customer/link-customer';
import type { Draft } from '../draft';
import { findOrAdd } from '../subscription/find-or-add';
import type { Applied } from '../subscription/subscription';
import { adoptSold } from './adopt-sold';

/**
 * Paid, or with nothing to pay, it makes ours active if Stripe reported no state, or `incomplete` no later
 * than the checkout; Stripe's next state overrides that. It never sets the state's time, since it has none.
 */
export function applyCheckout(draft: Draft, checkout: ProviderCheckout): Applied {
  const { customer, stripeSubscriptionId, completedAt } = checkout;
  if (!customer) return 'unmatched';
  const link = linkCustomer(draft, customer);
  if (!stripeSubscriptionId) return 'unchanged';
  const { row: made, isNew } = findOrAdd(
    draft,
    stripeSubscriptionId,
    link.customerId,
    customer.stripeCustomerId,
  );
  const named = noteReference(draft, made, checkout.reference);
  const row = isSure(link) ? adoptSold(draft, named) : named;
  if (!checkout.paid) return 'unchanged';
  const activates = mayActivate(row, completedAt);
  const state = {
    checkout_completed_at: latestOf(row.checkout_completed_at, completedAt),
    ...(activates && { status: 'active' as const }),
    ...(activates && row.provider_as_of && { recheck_at: draft.now }),
  };
  const { id, stripe_subscription_id: stripe_id } = row;
  const subject = { entity: 'subscription' as const, entity_id: id, stripe_id };
  draft.changes.push(...(isNew ? [createdChange(subject, stripe_id)] : toChanges(subject, row, state)));
  draft.subscriptions.put({ ...row, ...state, stripe_synced_at: draft.now });
  return activates ? 'applied' : 'unchanged';
}

function latestOf(...instants: (Date | null)[]): Date | null {
  const known = instants.filter((at) => at !== null);
  return known.length > 0 ? latest(...known) : null;
}

function mayActivate(
  { status, provider_as_of: asOf }: StoredSubscription,
  completedAt: Date | null,
): boolean {
  if (asOf === null) return status !== 'cancelled';
  return status === 'incomplete' && completedAt !== null && asOf <= completedAt;
}

function noteReference(draft: Draft, row: StoredSubscription, reference: number | null): StoredSubscription {
  if (reference === null || reference === row.id || row.checkout_reference !== null) return row;
  if (!draft.subscriptionById(reference)) return row;
  return draft.subscriptions.put({ ...row, checkout_reference: reference });
}
