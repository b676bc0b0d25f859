import { eq } from 'drizzle-orm';
import { invoices } from '@/db/schema';
import { statement } from '@/db/statement';
import { ChangedMeanwhileError } from '@/db/transaction';
import { toCalendarDate } from '../dates';
import type { ProviderInvoice } from '../stripe/provider';
import { toProviderInvoice } from '../stripe/to-invoice';
import type { Applied } from './apply-subscription';
import { lockSubscription } from './apply-subscription';
import type { Source, SyncContext } from './context';
import { eventsOfSecond } from './events-of-second';
import { linkCustomer } from './link-customer';
import { decideOrder, recheckAt } from './order';
import { firstOf, outranked, type StoredInvoice, toInvoiceState } from './to-invoice-state';
import { createdChange, differing, isSameState, toChanges } from './write-changes';

const RANK = { draft: 0, sent: 1, overdue: 2, paid: 3, cancelled: 4 } as const;

/**
 * Brings our invoice to a state of Stripe's, if that is the later one. The caller holds the lock on the
 * Stripe customer.
 *
 * @param failedAt a payment failed then: an effect that lasts, however late it is heard of
 */
export async function applyInvoice(
  ctx: SyncContext,
  incoming: ProviderInvoice,
  source: Source,
  failedAt: Date | null = null,
): Promise<{ applied: Applied; invoice: StoredInvoice | null }> {
  if (!incoming.customer) return { applied: 'unmatched', invoice: null };
  const { customerId } = await linkCustomer(ctx, incoming.customer);
  const { row, isNew } = await lockInvoice(ctx, incoming, customerId);
  const subscriptionId = await subscriptionOf(ctx, incoming, customerId);
  const links = { ...(subscriptionId && { subscription_id: subscriptionId }) };
  const payment_failed_at = firstOf(row.payment_failed_at, failedAt);

  const held = { ...row, payment_failed_at };
  const decision = await decideOrder(ctx, {
    kind: 'invoice',
    incoming,
    source,
    heldAsOf: row.provider_as_of,
    version: row.updated_at,
    isDoubtful: row.recheck_at !== null,
    isHeld: (state) => isSameState(row, toInvoiceState(ctx, held, state)),
    decideFromInbox: () => decideFromInbox(ctx, incoming, source.asOf),
  });
  // Links and the failure are no state: they are noted even where the state is old news.
  const kept = { payment_failed_at, status: outranked(row.status, payment_failed_at), ...links };
  const taken = typeof decision === 'object';
  const state = taken ? { ...toInvoiceState(ctx, held, decision.take), ...links } : kept;
  await writeInvoice(ctx, row, state, isNew, {
    stripe_synced_at: ctx.now,
    ...(taken && {
      provider_as_of: decision.asOf,
      recheck_at: recheckAt(ctx, row, source, decision.recheck),
      provider_gone_at: null,
    }),
  });
  return { applied: taken ? 'applied' : decision, invoice: { ...row, ...state } };
}

async function lockInvoice(
  ctx: SyncContext,
  { id, currency, issuedAt, customer }: ProviderInvoice,
  customer_id: number,
): Promise<{ row: StoredInvoice; isNew: boolean }> {
  const [held] = await lockByStripeId(ctx.tx, { id });
  if (held) return { row: held, isNew: false };
  const [made] = await ctx.tx
    .insert(invoices)
    .values({
      customer_id,
      stripe_invoice_id: id,
      stripe_customer_id: customer?.stripeCustomerId ?? null,
      currency,
      invoice_date: toCalendarDate(issuedAt ?? ctx.now, ctx.timeZone),
      subtotal: '0',
      tax: '0',
      total: '0',
      amount_due: '0',
    })
    .onConflictDoNothing({ target: invoices.stripe_invoice_id })
    .returning();
  if (!made) throw new ChangedMeanwhileError('the invoice was made meanwhile');
  return { row: made, isNew: true };
}

const lockByStripeId = statement(['id'], (db, { id }) =>
  db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id)).for('update'),
);

/** An unknown subscription gets a row without state, so that the link never depends on order. */
async function subscriptionOf(
  ctx: SyncContext,
  { stripeSubscriptionId, customer }: ProviderInvoice,
  customerId: number,
): Promise<number | null> {
  if (!stripeSubscriptionId || !customer) return null;
  const { row } = await lockSubscription(ctx, stripeSubscriptionId, customerId, customer.stripeCustomerId);
  if (row.customer_id === customerId) return row.id;
  ctx.warnings.push(`the invoice names a subscription of another customer: ${stripeSubscriptionId}`);
  return null;
}

/** Of the second's payloads the one furthest on: draft < sent < overdue < paid < cancelled. */
async function decideFromInbox(
  ctx: SyncContext,
  incoming: ProviderInvoice,
  second: Date,
): Promise<ProviderInvoice> {
  const events = await eventsOfSecond(ctx, incoming.id, second);
  const candidates = events.flatMap((event) => {
    const invoice = toProviderInvoice(event.object);
    return invoice ? [{ id: event.id, invoice, rank: RANK[openRank(invoice)] }] : [];
  });
  const [furthest] = candidates.sort((a, b) => b.rank - a.rank || (a.id < b.id ? 1 : -1));
  return furthest?.invoice ?? incoming;
}

function openRank({ status }: ProviderInvoice): StoredInvoice['status'] {
  if (status === 'open' || status === null) return 'sent';
  if (status === 'uncollectible') return 'overdue';
  return status === 'void' ? 'cancelled' : status;
}

async function writeInvoice(
  ctx: SyncContext,
  row: StoredInvoice,
  state: Partial<StoredInvoice>,
  isNew: boolean,
  bookkeeping: Partial<StoredInvoice>,
): Promise<void> {
  const subject = { entity: 'invoice' as const, entity_id: row.id, stripe_id: row.stripe_invoice_id };
  if (isNew) {
    const after = state.number ?? row.stripe_invoice_id;
    ctx.changes.push(createdChange(subject, after));
  } else {
    ctx.changes.push(...toChanges(subject, row, state));
  }
  await ctx.tx
    .update(invoices)
    .set({ ...differing(row, state), ...bookkeeping })
    .where(eq(invoices.id, row.id));
}
