import { isSure } from '../../../customers/sure-link';
import type { StoredLink } from '../../store/rows';
import type { Draft } from '../draft';
import { completeCreated, detailsOfCreated } from './created-customers';
import { type Link, toColumns, toLink } from './link';

/** Also removes the customer that was created for it, once that is empty. */
export function moveStripeCustomer(draft: Draft, stored: StoredLink, to: Link): void {
  const { stripe_customer_id: stripeCustomerId } = stored;
  const from = toLink(stored);
  const concerned = [from, to]
    .filter((link) => !isSure(link))
    .map(({ customerId: id }) => ({ id, before: detailsOfCreated(draft, id) }));
  draft.links.put({ ...stored, ...toColumns(to) });
  const customer_id = to.customerId;
  if (customer_id !== from.customerId || (isSure(to) && !isSure(from))) draft.moved.push(stripeCustomerId);
  if (customer_id === from.customerId) return; // the same one, known more surely
  moveRows(draft, stripeCustomerId, customer_id);
  draft.changes.push({
    entity: 'customer',
    entity_id: customer_id,
    stripe_id: stripeCustomerId,
    field: 'linked_customer_id',
    before: String(from.customerId),
    after: String(customer_id),
    outcome: 'fixed',
  });
  if (from.linkedBy === 'created') leaveToOthers(draft, from.customerId);
  for (const { id, before } of concerned) completeCreated(draft, id, before);
  if (from.linkedBy === 'created') draft.abandoned.push(from.customerId);
}

/** Those that were read, and by the commit all others. */
function moveRows(draft: Draft, stripe_customer_id: string, customer_id: number): void {
  draft.moves.push({ stripe_customer_id, customer_id });
  const isIts = (row: { stripe_customer_id: string | null }) => row.stripe_customer_id === stripe_customer_id;
  const moved = draft.invoices.all().filter(isIts);
  for (const row of moved) draft.invoices.put({ ...row, customer_id });
  for (const row of draft.subscriptions.all().filter(isIts)) draft.subscriptions.put({ ...row, customer_id });
  for (const row of draft.payments.all()) {
    if (moved.some(({ id }) => id === row.invoice_id)) draft.payments.put({ ...row, customer_id });
  }
}

/** A customer that was created for it is left to those who came to it by its e-mail. */
function leaveToOthers(draft: Draft, customerId: number): void {
  for (const link of draft.linksOf(customerId)) {
    if (link.linked_by === 'email') draft.links.put({ ...link, linked_by: 'created' });
  }
}
