import type { StoredInvoice } from '../../store/snapshot';
import { toChanges } from './changes';
import type { Draft } from './draft';
import { KINDS, type MoneyBackKind } from './money-back';
import type { Ordered } from './order';

/** Marks an object as deleted at Stripe, and reports it once. A draft invoice is also cancelled here. */
export function markGone(draft: Draft, kind: Ordered, stripeId: string): void {
  if (kind === 'subscription') {
    const row = draft.subscription(stripeId);
    if (isNews(row)) {
      draft.subscriptions.put({ ...row, ...report(draft, kind, row.id, stripeId), recheck_at: null });
    }
  } else if (kind === 'invoice') {
    const row = draft.invoice(stripeId);
    if (isNews(row)) endInvoice(draft, row, stripeId);
  } else endMoneyBack(draft, kind, stripeId);
}

function endInvoice(draft: Draft, row: StoredInvoice, stripeId: string): void {
  const gone = report(draft, 'invoice', row.id, stripeId);
  const state = row.status === 'draft' ? { status: 'cancelled' as const, amount_due: '0' } : {};
  draft.changes.push(...toChanges({ entity: 'invoice', entity_id: row.id, stripe_id: stripeId }, row, state));
  draft.invoices.put({ ...row, ...gone, ...state, recheck_at: null });
}

function endMoneyBack<Kind extends MoneyBackKind>(draft: Draft, kind: Kind, stripeId: string): void {
  const { find, put } = KINDS[kind];
  const row = find(draft, stripeId);
  if (isNews(row)) put(draft, { ...row, ...report(draft, kind, row.id, stripeId) });
}

const isNews = <Row extends { provider_gone_at: Date | null }>(row: Row | undefined): row is Row =>
  row?.provider_gone_at === null;

function report(draft: Draft, entity: Ordered, entity_id: number, stripe_id: string) {
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
  return { provider_gone_at: draft.now };
}
