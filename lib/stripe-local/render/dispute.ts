import { isChargeRefundable } from '../charges';
import type { Dispute, DisputeTransaction } from '../model-returns';
import type { Json } from './shape';

/** The same in every version we know. */
export function renderDispute(dispute: Dispute): Json {
  return {
    id: dispute.id,
    object: 'dispute',
    amount: dispute.amount,
    balance_transactions: dispute.balanceTransactions.map((moved) => renderTransaction(dispute, moved)),
    charge: dispute.charge,
    created: dispute.created,
    currency: dispute.currency,
    enhanced_eligibility_types: [],
    evidence: {},
    evidence_details: {
      due_by: dispute.evidenceDueBy,
      enhanced_eligibility: {},
      has_evidence: dispute.submissionCount > 0,
      past_due: dispute.pastDue,
      submission_count: dispute.submissionCount,
      submission_method: dispute.submissionCount > 0 ? 'manual' : 'not_submitted',
    },
    intended_submission_method: null,
    is_charge_refundable: isChargeRefundable(dispute),
    livemode: false,
    metadata: {},
    payment_intent: dispute.paymentIntent,
    reason: dispute.reason,
    status: dispute.status,
  };
}

/** What Stripe itself takes for a dispute, which is no part of its amount. */
const FEE = 1500;

function renderTransaction({ id, charge, currency }: Dispute, moved: DisputeTransaction): Json {
  const isWithdrawal = moved.amount < 0;
  const fee = isWithdrawal ? FEE : 0;
  return {
    id: moved.id,
    object: 'balance_transaction',
    amount: moved.amount,
    available_on: moved.created,
    balance_type: 'payments',
    created: moved.created,
    currency,
    description: `Chargeback ${isWithdrawal ? 'withdrawal' : 'reversal'} for ${charge}`,
    exchange_rate: null,
    fee,
    fee_details: fee
      ? [{ amount: fee, application: null, currency, description: 'Dispute fee', type: 'stripe_fee' }]
      : [],
    net: moved.amount - fee,
    reporting_category: isWithdrawal ? 'dispute' : 'dispute_reversal',
    source: id,
    status: 'available',
    type: 'adjustment',
  };
}
