import { earliest, toCalendarDate } from '../../../dates';
import type { ProviderSubscription } from '../../../stripe/provider';
import type { StoredSubscription } from '../../store/rows';
import type { Draft } from '../draft';

export function toSubscriptionState(
  draft: Pick<Draft, 'timeZone' | 'warnings'>,
  row: StoredSubscription,
  provider: ProviderSubscription,
  asOf: Date,
) {
  if (provider.status === null) draft.warnings.add(`unknown subscription status ${provider.providerStatus}`);
  const ends = provider.items.map((item) => item.currentPeriodEnd).filter((end) => end !== null);
  const next = ends.length > 0 ? earliest(...ends) : provider.periodEnd;
  return {
    status: isActivated(row, provider, asOf) ? 'active' : (provider.status ?? row.status),
    next_billing_date: next ? toCalendarDate(next, draft.timeZone) : row.next_billing_date,
    cancel_at_period_end: provider.cancelAtPeriodEnd,
    cancel_at: provider.cancelAt,
    ended_at: provider.endedAt ?? (provider.status === 'cancelled' ? row.ended_at : null),
    pause_behavior: provider.pause?.behavior ?? null,
    pause_resumes_at: provider.pause?.resumesAt ?? null,
    stripe_customer_id: row.stripe_customer_id ?? provider.customer?.stripeCustomerId ?? null,
  };
}

/** A checkout that was completed then or later counts, until Stripe says otherwise of a later time. */
export function isActivated(row: StoredSubscription, provider: ProviderSubscription, asOf: Date): boolean {
  return (
    provider.status === 'incomplete' &&
    row.checkout_completed_at !== null &&
    row.checkout_completed_at >= asOf
  );
}

export function endOf(row: StoredSubscription, provider: ProviderSubscription, deletedAt: Date) {
  return { status: 'cancelled' as const, ended_at: provider.endedAt ?? row.ended_at ?? deletedAt };
}
