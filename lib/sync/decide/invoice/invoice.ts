import { latest } from '../../../dates';
import { keptStatus } from '../../../overdue';
import type { ProviderInvoice } from '../../../stripe/provider';
import type { StoredInvoice } from '../../store/rows';
import { createdChange, differing, isSameState, toChanges } from '../changes';
import { linkCustomer, reportUnowned } from '../customer/link-customer';
import type { Draft } from '../draft';
import { markGone } from '../gone';
import { type Decision, decideOrder, recheckAt, type Source } from '../order';
import { findOrAdd } from '../subscription/find-or-add';
import type { Applied } from '../subscription/subscription';
import { furthestOfSecond } from './furthest-of-second';
import { firstOf, toInvoiceState } from './invoice-state';
import { newInvoice } from './new-invoice';

/** @param failedAt a payment failed then: an effect that lasts, however late it is heard of */
export function applyInvoice(
  draft: Draft,
  incoming: ProviderInvoice,
  source: Source,
  failedAt: Date | null = null,
): { applied: Applied; invoice: StoredInvoice | null } {
  const { customer } = incoming;
  if (!customer) {
    reportUnowned(draft, 'invoice', incoming.id);
    return { applied: 'unmatched', invoice: null };
  }
  const { stripeCustomerId } = customer;
  const { customerId } = linkCustomer(draft, customer);
  const stored = draft.invoice(incoming.id);
  if (source.origin === 'listed' && mayHaveFailed(incoming, stored)) {
    return applyFetched(draft, incoming, stripeCustomerId, stored?.provider_as_of ?? null);
  }
  const row = stored ?? newInvoice(draft, incoming, stripeCustomerId, customerId);
  const subscriptionId = subscriptionOf(draft, incoming, stripeCustomerId, customerId);
  const links = { ...(subscriptionId && { subscription_id: subscriptionId }) };
  const payment_failed_at = firstOf(row.payment_failed_at, failedAt);
  const failing = { ...row, payment_failed_at };
  const decision = order(draft, row, failing, incoming, stripeCustomerId, source);
  const taken = typeof decision === 'object';
  const state = taken
    ? { ...toInvoiceState(draft, failing, decision.take), ...links }
    : // Links and the failure are no state: they are noted even where the state is old news.
      { payment_failed_at, status: keptStatus(row.status, payment_failed_at !== null), ...links };
  const invoice = update(draft, row, stored === undefined, state, {
    ...(taken && {
      provider_as_of: decision.asOf,
      recheck_at: recheckAt(draft, row, source, decision.recheck),
      provider_gone_at: null,
    }),
  });
  if (taken) cancelRevised(draft, decision.take, invoice, decision.asOf);
  return { applied: taken ? 'applied' : decision, invoice };
}

/**
 * Stripe voids an invoice when it finalizes its revision, and no handled event reports that. Both would be owed until
 * the next reconciliation. If Stripe cannot be asked, the original is cancelled here and checked again later.
 */
function cancelRevised(
  draft: Draft,
  { revises }: ProviderInvoice,
  { stripe_customer_id }: StoredInvoice,
  asOf: Date,
): void {
  const row = revises === null ? undefined : draft.invoice(revises);
  const isOwed = row?.status === 'sent' || row?.status === 'overdue';
  if (!isOwed || revises === null || row.stripe_customer_id !== stripe_customer_id) return;
  const fetched = draft.ask('invoice', revises, stripe_customer_id ?? '');
  if (fetched.state === 'found') {
    const fetchedAsOf = latest(fetched.asOf, row.provider_as_of ?? fetched.asOf);
    applyInvoice(draft, fetched.object, { origin: 'fetched', asOf: fetchedAsOf });
    return;
  }
  const state = { status: 'cancelled', amount_due: '0' } as const;
  const provider_as_of = latest(asOf, row.provider_as_of ?? asOf);
  update(draft, row, false, state, { provider_as_of, recheck_at: draft.now });
}

/** A list does not tell: bank debits under way are attempted too. */
function mayHaveFailed(provider: ProviderInvoice, row: StoredInvoice | undefined): boolean {
  return provider.status === 'open' && provider.attempted && !row?.payment_failed_at;
}

function applyFetched(
  draft: Draft,
  listed: ProviderInvoice,
  stripeCustomerId: string,
  storedAsOf: Date | null,
): ReturnType<typeof applyInvoice> {
  const fetched = draft.ask('invoice', listed.id, stripeCustomerId);
  if (fetched.state === 'found') {
    const asOf = storedAsOf ? latest(fetched.asOf, storedAsOf) : fetched.asOf;
    return applyInvoice(draft, fetched.object, { origin: 'fetched', asOf });
  }
  if (fetched.state === 'gone') markGone(draft, 'invoice', listed.id);
  else draft.leave(`whether ${listed.id} could be collected`, fetched);
  return { applied: 'unchanged', invoice: null };
}

/** An unknown subscription gets a row without state, so that the link never depends on order. */
function subscriptionOf(
  draft: Draft,
  { stripeSubscriptionId }: ProviderInvoice,
  stripeCustomerId: string,
  customerId: number,
): number | null {
  if (!stripeSubscriptionId) return null;
  const { row } = findOrAdd(draft, stripeSubscriptionId, customerId, stripeCustomerId);
  if (row.customer_id === customerId) return row.id;
  draft.warnings.add(`the invoice names a subscription of another customer: ${stripeSubscriptionId}`);
  return null;
}

function order(
  draft: Draft,
  row: StoredInvoice,
  failing: StoredInvoice,
  incoming: ProviderInvoice,
  stripeCustomerId: string,
  source: Source,
): Decision<ProviderInvoice> {
  return decideOrder(draft, {
    kind: 'invoice',
    incoming,
    stripeCustomerId,
    source,
    row,
    isStored: (state) => isSameState(row, toInvoiceState(draft, failing, state)),
    decideFromInbox: () => furthestOfSecond(draft, incoming, source.asOf),
  });
}

function update(
  draft: Draft,
  row: StoredInvoice,
  isNew: boolean,
  state: Partial<StoredInvoice>,
  reported: Partial<StoredInvoice>,
): StoredInvoice {
  const values = { ...differing(row, state), ...reported };
  if (!isNew && Object.keys(values).length === 0) return row;
  const subject = { entity: 'invoice' as const, entity_id: row.id, stripe_id: row.stripe_invoice_id };
  const changes = isNew
    ? [createdChange(subject, state.number ?? row.stripe_invoice_id)]
    : toChanges(subject, row, state);
  draft.changes.push(...changes);
  return draft.invoices.put({ ...row, ...values, stripe_synced_at: draft.now });
}
