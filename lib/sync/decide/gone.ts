import { toChanges } from './changes';
import type { Draft } from './draft';

/** What Stripe no longer has is reported once; a draft that is gone there is cancelled here. */
export function markGone(draft: Draft, entity: 'subscription' | 'invoice', stripeId: string): void {
  const gone = { provider_gone_at: draft.now, recheck_at: null };
  if (entity === 'subscription') {
    const row = draft.subscription(stripeId);
    if (!row || row.provider_gone_at) return;
    report(draft, entity, row.id, stripeId);
    draft.subscriptions.put({ ...row, ...gone });
    return;
  }
  const row = draft.invoice(stripeId);
  if (!row || row.provider_gone_at) return;
  report(draft, entity, row.id, stripeId);
  const state = row.status === 'draft' ? { status: 'cancelled' as const, amount_due: '0' } : {};
  draft.changes.push(...toChanges({ entity, entity_id: row.id, stripe_id: stripeId }, row, state));
  draft.invoices.put({ ...row, ...gone, ...state });
}

function report(
  draft: Draft,
  entity: 'subscription' | 'invoice',
  entity_id: number,
  stripe_id: string,
): void {
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
}
