import type { FieldChange } from '@/db/schema';
import { toAmountText } from '../../../money';
import type { ProviderObjects } from '../../../stripe/fetch';
import type { StoredPayment } from '../../store/rows';
import { createdChange, isSameState, toChanges } from '../changes';
import type { Draft } from '../draft';
import { decideOrder, type Source } from '../order';
import { findPayment } from './find-payment';
import { KINDS, type MoneyBackKind, type MoneyBackRows } from './kinds';
import { settleMoneyBack } from './settle';
import { tellTakenBack } from './taken-back';

/** Keeps and reports a refund or dispute even if its payment is unknown. */
export function applyMoneyBack<Kind extends MoneyBackKind>(
  draft: Draft,
  kind: Kind,
  incoming: ProviderObjects[Kind],
  source: Source,
): void {
  const { find, blank, toState, put } = KINDS[kind];
  const stored = find(draft, incoming.id);
  const row = stored ?? blank(draft, incoming);
  const known = stored && draft.paymentOf(stored);
  const decision = decideOrder(draft, {
    kind,
    incoming,
    stripeCustomerId: draft.ownerOf(known) ?? '',
    source,
    row: { ...row, recheck_at: null },
    isStored: (told) => row.provider_status === told.providerStatus && isSameState(row, toState(told, row)),
    decideFromInbox: () => incoming, // no event tells of it
  });
  if (typeof decision === 'string') return;
  const { take, asOf } = decision;
  const { payment, stripe_invoice_id } = stored
    ? { payment: known, stripe_invoice_id: row.stripe_invoice_id }
    : findPayment(draft, take);
  const state = toState(take, row);
  put(draft, {
    ...row,
    ...state,
    payment_id: payment?.id ?? null,
    stripe_invoice_id,
    provider_status: take.providerStatus,
    provider_as_of: asOf,
    provider_gone_at: null,
  });
  const subject = { entity: kind, entity_id: row.id, stripe_id: take.id };
  const amount = toAmountText(take.amount, take.currency);
  draft.changes.push(...(stored ? toChanges(subject, row, state) : [createdChange(subject, amount)]));
  reportQuestions(draft, subject, { before: stored, told: take, payment });
  // Looked at again while it is pending, it tells nothing that a list would not have told.
  const isNews = !stored || (stored.status === 'pending' && 'status' in state && state.status !== 'pending');
  const told = isNews && kind === 'refund' ? draft.refund(take.id) : undefined;
  if (!payment) return;
  settleMoneyBack(draft, payment, { told });
  if (kind === 'dispute') tellTakenBack(draft, take.id, payment);
}

interface Questions {
  before: MoneyBackRows[MoneyBackKind] | undefined;
  told: ProviderObjects[MoneyBackKind];
  payment: StoredPayment | undefined;
}

function reportQuestions(
  draft: Draft,
  subject: Pick<FieldChange, 'entity' | 'entity_id' | 'stripe_id'>,
  { before, told, payment }: Questions,
): void {
  const report = (field: string, was: string | null, after: string | null) =>
    draft.changes.push({ ...subject, field, before: was, after, outcome: 'reported' });
  if (told.status === null && told.providerStatus !== before?.provider_status) {
    report('status', before?.status ?? null, told.providerStatus);
  }
  if (before) return;
  if (!payment) report('payment_id', null, null);
  else if (payment.currency !== told.currency) report('currency', payment.currency, told.currency);
}
