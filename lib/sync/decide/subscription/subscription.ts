import { isSure } from '../../../customers/sure-link';
import { earliest, latest, toCalendarDate } from '../../../dates';
import type { StoredSubscription } from '../../../store/snapshot';
import { lastOfSecond } from '../../../stripe/event';
import { type ProviderSubscription, toProviderSubscription } from '../../../stripe/to-subscription';
import { createdChange, isSameState, toChanges } from '../changes';
import { linkCustomer, reportUnowned } from '../customer';
import type { Draft } from '../draft';
import { type Decision, decideOrder, eventsOfSecond, recheckAt, type StateOrigin } from '../order';
import { adoptSold, isWaiting } from './adopt-sold';
import { applyItems, hasMoreItems, isSameItems, withAllItems } from './items';
import { dateServices } from './service-dates';

export type Applied = 'applied' | 'unchanged' | 'stale' | 'unmatched';

/**
 * Applies a subscription's state to its row and items.
 *
 * @param isDeletion whether Stripe deleted the subscription; if so, it is cancelled and the payload's status is ignored
 */
export function applySubscription(
  draft: Draft,
  incoming: ProviderSubscription,
  source: StateOrigin,
  isDeletion = false,
): Applied {
  if (!incoming.customer) {
    reportUnowned(draft, 'subscription', incoming.id);
    return 'unmatched';
  }
  const { stripeCustomerId } = incoming.customer;
  const link = linkCustomer(draft, incoming.customer);
  const { row, isNew } = findOrAdd(draft, incoming.id, link.customerId, stripeCustomerId);
  const decision = isDeletion
    ? { take: incoming, asOf: latest(source.asOf, row.provider_as_of ?? source.asOf), recheck: false }
    : order(draft, row, incoming, stripeCustomerId, source);
  const hasEnded = row.status === 'cancelled' && row.provider_as_of !== null && source.origin === 'event';
  const revives = typeof decision === 'object' && !isDeletion && decision.take.status !== 'cancelled';
  if (decision === 'stale' || (hasEnded && revives)) {
    // Even a stale state may show that this is the subscription that staff sold.
    if (isSure(link)) adoptSold(draft, row, [incoming]);
    return 'stale';
  }
  const taken = withAllItems(
    draft,
    decision === 'unchanged' ? incoming : decision.take,
    stripeCustomerId,
    source,
  );
  const asOf = decision === 'unchanged' ? source.asOf : decision.asOf;
  let now = row;
  if (decision !== 'unchanged') {
    const { recheck } = decision;
    const state = {
      ...toSubscriptionState(draft, row, taken, asOf),
      ...(isDeletion && endOf(row, taken, source.asOf)),
    };
    const isDoubtful = recheck || hasMoreItems(taken) || isActivated(row, taken, asOf);
    const recheck_at = recheckAt(draft, row, source, isDoubtful);
    now = update(draft, row, isNew, state, { provider_as_of: asOf, recheck_at });
  }
  const services = () => draft.itemsOf(row.id).map((item) => item.customer_service_id);
  const before = services();
  const left = applyItems(draft, row, taken, asOf, isSure(link));
  if (isSure(link)) {
    dateServices(draft, [...before, ...left, ...services()]);
    if (isWaiting(now)) adoptSold(draft, now, [incoming]);
  }
  return decision === 'unchanged' ? 'unchanged' : 'applied';
}

function order(
  draft: Draft,
  row: StoredSubscription,
  incoming: ProviderSubscription,
  stripeCustomerId: string,
  source: StateOrigin,
): Decision<ProviderSubscription> {
  return decideOrder(draft, {
    kind: 'subscription',
    incoming,
    stripeCustomerId,
    source,
    row,
    isStored: (state) =>
      isSameState(row, toSubscriptionState(draft, row, state, source.asOf)) &&
      isSameItems(draft.itemsOf(row.id), state),
    decideFromInbox: () => {
      const event = lastOfSecond(eventsOfSecond(draft, incoming.id, source.asOf));
      return toProviderSubscription(event?.object) ?? incoming;
    },
  });
}

function update(
  draft: Draft,
  row: StoredSubscription,
  isNew: boolean,
  state: Partial<StoredSubscription>,
  reported: Pick<StoredSubscription, 'provider_as_of' | 'recheck_at'>,
): StoredSubscription {
  const { id, stripe_subscription_id: stripe_id } = row;
  const subject = { entity: 'subscription' as const, entity_id: id, stripe_id };
  draft.changes.push(...(isNew ? [createdChange(subject, stripe_id)] : toChanges(subject, row, state)));
  return draft.subscriptions.put({
    ...row,
    ...state,
    ...reported,
    stripe_synced_at: draft.now,
    provider_gone_at: null,
  });
}

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

/** Returns whether an incomplete subscription counts as active, because its checkout completed at or after `asOf`. */
function isActivated(row: StoredSubscription, provider: ProviderSubscription, asOf: Date): boolean {
  return (
    provider.status === 'incomplete' &&
    row.checkout_completed_at !== null &&
    row.checkout_completed_at >= asOf
  );
}

export function endOf(row: StoredSubscription, provider: ProviderSubscription, deletedAt: Date) {
  return { status: 'cancelled' as const, ended_at: provider.endedAt ?? row.ended_at ?? deletedAt };
}

export function findOrAdd(
  draft: Draft,
  stripe_subscription_id: string,
  customer_id: number,
  stripe_customer_id: string,
): { row: StoredSubscription; isNew: boolean } {
  const stored = draft.row('subscription', stripe_subscription_id);
  if (stored) return { row: stored, isNew: false };
  const row = draft.subscriptions.put({
    ...draft.newRow(),
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
  });
  return { row, isNew: true };
}
