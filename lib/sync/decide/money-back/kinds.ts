import type { ProviderObjects } from '../../../stripe/fetch';
import type { StoredDispute, StoredRefund } from '../../store/rows';
import type { Draft } from '../draft';

export type MoneyBackKind = 'refund' | 'dispute';

export interface MoneyBackRows {
  refund: StoredRefund;
  dispute: StoredDispute;
}

interface Kind<Provider, Row> {
  find(draft: Draft, stripeId: string): Row | undefined;
  blank(draft: Draft, provider: Provider): Row;
  toState(provider: Provider, row: Row): Partial<Row>;
  put(draft: Draft, row: Row): void;
}

export const KINDS: { [K in MoneyBackKind]: Kind<ProviderObjects[K], MoneyBackRows[K]> } = {
  refund: {
    find: (draft, id) => draft.refund(id),
    blank: (draft, refund) => ({
      ...common(draft, refund),
      stripe_refund_id: refund.id,
      status: 'pending',
      source: 'stripe',
    }),
    toState: (refund, row) => ({ ...toCommon(refund, row), status: refund.status ?? row.status }),
    put: (draft, row) => draft.refunds.put(row),
  },
  dispute: {
    find: (draft, id) => draft.dispute(id),
    blank: (draft, dispute) => ({
      ...common(draft, dispute),
      stripe_dispute_id: dispute.id,
      status: 'under_review',
      evidence_due_at: null,
      funds_withdrawn_at: null,
      funds_returned_at: null,
    }),
    toState: (dispute, row) => ({
      ...toCommon(dispute, row),
      status: dispute.status ?? row.status,
      evidence_due_at: dispute.evidenceDueAt,
      funds_withdrawn_at: dispute.fundsWithdrawnAt,
      funds_returned_at: dispute.fundsReturnedAt,
    }),
    put: (draft, row) => draft.disputes.put(row),
  },
};

type Provider = ProviderObjects[MoneyBackKind];

function common(draft: Draft, { amount, currency }: Provider) {
  return {
    id: draft.newId(),
    payment_id: null,
    stripe_payment_intent_id: null,
    stripe_charge_id: null,
    stripe_invoice_id: null,
    amount,
    currency,
    provider_status: null,
    reason: null,
    issued_at: draft.now,
    provider_as_of: null,
    provider_gone_at: null,
    version: 0,
    created_at: draft.now,
    updated_at: draft.now,
  };
}

function toCommon(provider: Provider, row: StoredRefund | StoredDispute) {
  const { amount, currency, reason, issuedAt, paymentIntentId, chargeId } = provider;
  return {
    amount,
    currency,
    reason,
    issued_at: issuedAt ?? row.issued_at,
    stripe_payment_intent_id: paymentIntentId,
    stripe_charge_id: chargeId,
  };
}
