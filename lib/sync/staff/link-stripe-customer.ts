import { type Actor, auditNumber } from '../../audit/audit-log';
import { AppError, invalidField } from '../../errors';
import { MAX_ID } from '../../page';
import { type Link, toColumns } from '../decide/customer/link';
import { moveStripeCustomer } from '../decide/customer/move-customer';
import type { Draft } from '../decide/draft';
import { dateServices } from '../decide/subscription/service-dates';
import { setItemService } from '../decide/subscription/set-item-service';
import { settleMoved } from '../decide/subscription/settle-moved';
import { mergeKeys, noKeys } from '../store/keys';
import type { SyncDeps } from '../sync-deps';
import { synchronize } from '../synchronize';

/**
 * The strongest link: nothing that Stripe sends changes it again. Its subscriptions, invoices and their
 * payments move; services stay with their customer, and items that paid for them lose their link.
 *
 * @param link.from the customer that staff saw it linked to
 * @throws AppError not_found; conflict where it was linked anew or a customer was erased; validation_failed
 */
export async function linkStripeCustomer(
  deps: SyncDeps,
  actor: Actor,
  stripeCustomerId: string,
  link: { from: number; to: number },
): Promise<void> {
  const to = Math.min(link.to, MAX_ID);
  await synchronize(deps, {
    stripeCustomerId,
    keys: mergeKeys(noKeys(), {
      stripeCustomers: [stripeCustomerId],
      whole: [stripeCustomerId],
      linked: [link.from, to],
    }),
    decide: (draft) => relink(draft, actor, stripeCustomerId, { from: link.from, to }),
  });
}

function relink(draft: Draft, actor: Actor, id: string, link: { from: number; to: number }): void {
  draft.concerned.add(id);
  const stored = draft.link(id);
  if (!stored) throw new AppError('not_found', `There is no Stripe customer ${id}.`);
  if (stored.customer_id !== link.from) {
    throw new AppError('conflict', 'It was linked to another customer meanwhile: look at it again.');
  }
  const [before, target] = [draft.customers.get(link.from), draft.customers.get(link.to)];
  if (!target) throw invalidField('to', 'is not one of our customers');
  if (before?.erased_at || target.erased_at) {
    throw new AppError('conflict', 'An erased customer keeps its Stripe customers, and gets no others.');
  }
  const to: Link = { customerId: link.to, linkedBy: 'staff', origin: null };
  moveStripeCustomer(draft, stored, to);
  unlinkServicesOfOthers(draft, actor, id, link.to);
  settleMoved(draft);
  draft.audits.push({
    actor,
    action: 'stripe_customer.link',
    entity: 'stripe_customer',
    entity_id: auditNumber(id),
    before: { ...stored, customer: before?.customer_number },
    after: { ...stored, ...toColumns(to), customer: target.customer_number },
  });
}

function unlinkServicesOfOthers(draft: Draft, actor: Actor, id: string, customerId: number): void {
  for (const subscription of draft.subscriptionsOf(id)) {
    for (const item of draft.itemsOf(subscription.id)) {
      const service = draft.services.get(item.customer_service_id ?? 0);
      if (!service || service.customer_id === customerId) continue;
      setItemService(draft, actor, 'move', item, null);
      dateServices(draft, [service.id]);
      if (!draft.moved.includes(id)) draft.moved.push(id); // so that the item gets the service that Stripe names
    }
  }
}
