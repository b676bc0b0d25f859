import type { StoredInvoice, StoredSubscription } from '../store/rows';
import { toChanges } from './changes';
import type { Draft } from './draft';

/** What Stripe no longer has is reported once; an invoice that was still a draft is cancelled here. */
export function markGone(draft: Draft, kind: 'subscription' | 'invoice', stripeId: string): void {
  if (kind === 'subscription') {
    const row = draft.subscription(stripeId);
    if (isNews(row)) draft.subscriptions.put({ ...row, ...report(draft, kind, row.id, stripeId) });
    return;
  }
  const row = draft.invoice(stripeId);
  if (isNews(row)) endInvoice(draft, row, stripeId);
}

function endInvoice(draft: Draft, row: StoredInvoice, stripeId: string): void {
  const gone = report(draft, 'invoice', row.id, stripeId);
  const state = row.status === 'draft' ? { status: 'cancelled' as const, amount_due: '0' } : {};
  draft.changes.push(...toChanges({ entity: 'invoice', entity_id: row.id, stripe_id: stripeId }, row, state));
  draft.invoices.put({ ...row, ...gone, ...state });
}

const isNews = <Row extends StoredSubscription | StoredInvoice>(row: Row | undefined): row is Row =>
  row?.provider_gone_at === null;

function report(
  draft: Draft,
  entity: 'subscription' | 'invoice',
  entity_id: number,
  stripe_id: string,
): { provider_gone_at: Date; recheck_at: null } {
  const after = draft.now.toISOString();
  draft.changes.push({
    entity,
    entity_id,
    stripe_id,
    field: 'provider_gone_at',
    before: null,
    after,
    outcome: 'reported',
  });
  return { provider_gone_at: draft.now, recheck_at: null };
}
