import type { StoredSubscription } from '../../store/rows';
import { toChanges } from '../changes';
import type { Draft } from '../draft';
import { dateServices } from '../subscription/service-dates';
import type { SoldItem } from './match-sold';

/** @param pairs by Stripe's id of an item the item that it was sold as, whose service it takes */
export function mergeIntoSold(
  draft: Draft,
  ours: StoredSubscription,
  made: StoredSubscription,
  pairs: Map<string | null, SoldItem>,
): StoredSubscription {
  const { stripe_subscription_id, stripe_customer_id, checkout_completed_at, status } = made;
  const link = { stripe_subscription_id, stripe_customer_id };
  const subject = { entity: 'subscription' as const, entity_id: ours.id, stripe_id: stripe_subscription_id };
  draft.changes.push(...toChanges(subject, ours, link));
  handOverInvoices(draft, made.id, ours.id);
  handOverItems(draft, made.id, ours.id, pairs);
  draft.subscriptions.delete(made.id);
  const { id, customer_id, created_at, updated_at, is_stub, version } = ours;
  const reported = { ...made, id, customer_id, created_at, updated_at, is_stub, version };
  const merged = draft.subscriptions.put({
    // What was only ever named has no state to bring along, but a checkout may have been paid.
    ...(made.provider_as_of
      ? reported
      : { ...ours, ...link, checkout_completed_at, ...(status === 'active' && { status }) }),
    checkout_reference: null,
    reference_declined: false,
  });
  const sold = [...pairs.values()].map(({ serviceId }) => serviceId);
  dateServices(draft, [...sold, ...draft.itemsOf(ours.id).map((item) => item.customer_service_id)]);
  return merged;
}

/** Those that were read, and by the commit all others. */
function handOverInvoices(draft: Draft, from: number, to: number): void {
  if (from > 0) draft.handedOver.push({ from, to });
  for (const row of draft.invoices.all()) {
    if (row.subscription_id === from) draft.invoices.put({ ...row, subscription_id: to });
  }
}

function handOverItems(draft: Draft, from: number, to: number, pairs: Map<string | null, SoldItem>): void {
  for (const item of draft.itemsOf(from)) {
    const service = pairs.get(item.stripe_subscription_item_id)?.serviceId ?? null;
    const isFree = item.customer_service_id === null && !item.linked_by_staff;
    const link = isFree && { customer_service_id: service };
    draft.items.put({ ...item, ...link, subscription_id: to });
  }
  for (const { id } of pairs.values()) draft.items.delete(id);
}
