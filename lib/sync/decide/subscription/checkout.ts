import type { KeptCheckout } from '@/db/schema';
import { isSure } from '../../../customers/sure-link';
import { latest } from '../../../dates';
import type { StoredEvent, StoredSubscription } from '../../../store/snapshot';
import { asReported, fromInbox } from '../../../stripe/event';
import { type ProviderCheckout, toProviderCheckout } from '../../../stripe/to-subscription';
import { createdChange, toChanges } from '../changes';
import { linkCustomer } from '../customer';
import type { Draft } from '../draft';
import { adoptSold } from './adopt-sold';
import { relinkItems } from './items';
import { dateServices } from './service-dates';
import { type Applied, findOrAdd } from './subscription';

/**
 * Applies a completed checkout. A paid or free checkout activates the subscription if its stored state is `incomplete`
 * and not later than the checkout, or if Stripe has not reported a state yet and it is not cancelled. A later state
 * from Stripe overrides the activation. The checkout contains no subscription state, so it never changes
 * `provider_as_of`.
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

/**
 * Repeats the steps that depend on a Stripe customer's link for each Stripe customer in `moved`. Applies its checkouts
 * again, and unlinks items from services of other customers. If its link is reliable, also links items to services and
 * merges sold subscriptions.
 */
export function settleMoved(draft: Draft): void {
  // Applying a checkout again may move the Stripe customer once more.
  for (let customer = draft.moved.pop(); customer; customer = draft.moved.pop()) {
    reapplyCheckouts(draft, customer);
    const link = draft.links.get(customer);
    if (!link) continue;
    const isReliable = isSure({ linkedBy: link.linked_by });
    dateServices(draft, relinkItems(draft, customer, isReliable));
    if (!isReliable) continue;
    for (const row of draft.subscriptionsOf(customer)) adoptSold(draft, row);
  }
}

function reapplyCheckouts(draft: Draft, customer: string): void {
  const checkouts = draft.events({ checkouts: customer }).flatMap((event) => {
    const checkout = toStoredCheckout(event, customer);
    return checkout ? [{ checkout, at: Number(checkout.completedAt), by: event.id }] : [];
  });
  checkouts.sort((a, b) => a.at - b.at || (a.by < b.by ? -1 : 1));
  for (const { checkout } of checkouts) applyCheckout(draft, checkout);
}

/**
 * Returns the fields of a checkout that are kept when the event's body is dropped. Returns null unless it is a
 * subscription checkout of our own account.
 */
export function toKeptCheckout(payload: string): KeptCheckout | null {
  const { object, account } = fromInbox(payload);
  const checkout = toProviderCheckout(object);
  if (!checkout || account !== null) return null;
  const { id, stripeSubscriptionId: stripe_subscription_id, reference, paid } = checkout;
  return { id, stripe_subscription_id, reference, paid };
}

/**
 * Reads the checkout of a stored event. Returns null if the event is not a checkout of this Stripe customer. If the
 * event's body was dropped, the checkout lacks contact details and customer numbers, which are already stored.
 */
export function toStoredCheckout(stored: StoredEvent, stripeCustomerId: string): ProviderCheckout | null {
  if (stored.payload !== '') return fromBody(stored.payload, stripeCustomerId);
  if (stored.checkout?.stripe_customer_id !== stripeCustomerId) return null;
  const { id, stripe_subscription_id, reference, paid, completed_at } = stored.checkout;
  return {
    id,
    customer: { stripeCustomerId, customerNumbers: [], email: null, details: [] },
    stripeSubscriptionId: stripe_subscription_id,
    reference,
    paid,
    completedAt: new Date(completed_at),
  };
}

function fromBody(payload: string, stripeCustomerId: string): ProviderCheckout | null {
  const event = fromInbox(payload);
  const isIts = event.stripeCustomerId === stripeCustomerId && event.account === null;
  if (!isIts || event.type !== 'checkout.session.completed') return null;
  return asReported(event, toProviderCheckout(event.object, event.created));
}
