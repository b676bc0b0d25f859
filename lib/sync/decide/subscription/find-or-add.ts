import type { StoredSubscription } from '../../store/rows';
import type { Draft } from '../draft';

export function findOrAdd(
  draft: Draft,
  stripe_subscription_id: string,
  customer_id: number,
  stripe_customer_id: string,
): { row: StoredSubscription; isNew: boolean } {
  const stored = draft.subscription(stripe_subscription_id);
  if (stored) return { row: stored, isNew: false };
  const row = draft.subscriptions.put({
    id: draft.newId(),
    customer_id,
    status: 'incomplete',
    next_billing_date: null,
    cancel_at_period_end: false,
    cancel_at: null,
    ended_at: null,
    pause_behavior: null,
    pause_resumes_at: null,
    checkout_completed_at: null,
    stripe_subscription_id,
    stripe_customer_id,
    stripe_synced_at: null,
    provider_as_of: null,
    recheck_at: null,
    provider_gone_at: null,
    checkout_reference: null,
    reference_declined: false,
    is_stub: true,
    version: 0,
    created_at: draft.now,
    updated_at: draft.now,
  });
  return { row, isNew: true };
}
