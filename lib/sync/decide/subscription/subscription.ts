import { isSure } from '../../../customers/sure-link';
import { latest } from '../../../dates';
import { lastOfSecond } from '../../../stripe/chain-events';
import type { ProviderSubscription } from '../../../stripe/provider';
import { toProviderSubscription } from '../../../stripe/to-subscription';
import type { StoredSubscription } from '../../store/rows';
import { createdChange, isSameState, toChanges } from '../changes';
import { adoptSold, isWaiting } from '../checkout/adopt-sold';
import { linkCustomer, reportUnowned } from '../customer/link-customer';
import type { Draft } from '../draft';
import { eventsOfSecond } from '../events-of-second';
import { type Decision, decideOrder, recheckAt, type Source } from '../order';
import { hasMoreItems, withAllItems } from './all-items';
import { findOrAdd } from './find-or-add';
import { isSameItems } from './item-state';
import { applyItems } from './items';
import { dateServices } from './service-dates';
import { endOf, isActivated, toSubscriptionState } from './subscription-state';

export type Applied = 'applied' | 'unchanged' | 'stale' | 'unmatched';

/** @param isDeletion Stripe deleted it: it stays cancelled for good, even if the payload says otherwise */
export function applySubscription(
  draft: Draft,
  incoming: ProviderSubscription,
  source: Source,
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
    // Even a stale state may show just what was sold.
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
  source: Source,
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
