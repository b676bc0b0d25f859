import type { ListedKind } from '../../stripe/fetch';
import { toChanges } from './changes';
import type { Draft } from './draft';

/** Marks the row of an object that Stripe deleted, and logs the deletion once. Also cancels a draft invoice. */
export function markGone<Kind extends ListedKind>(draft: Draft, kind: Kind, stripe_id: string): void {
  const row = draft.row(kind, stripe_id);
  if (row?.provider_gone_at !== null) return;
  const subject = { entity: kind, entity_id: row.id, stripe_id };
  const gone = { field: 'provider_gone_at', before: null, after: draft.now.toISOString() };
  draft.changes.push({ ...subject, ...gone, outcome: 'reported' });
  const isDraft = kind === 'invoice' && row.status === 'draft';
  const state = isDraft ? { status: 'cancelled', amount_due: '0' } : {};
  draft.changes.push(...toChanges(subject, row, state));
  const recheck = 'recheck_at' in row && { recheck_at: null };
  draft.table(kind).put({ ...row, ...state, ...recheck, provider_gone_at: draft.now });
}
