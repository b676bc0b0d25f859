import type { Refund } from '../model-returns';
import type { Json } from './shape';

/** The same in every version we know. */
export function renderRefund(refund: Refund): Json {
  return {
    id: refund.id,
    object: 'refund',
    amount: refund.amount,
    balance_transaction: refund.balanceTransaction,
    charge: refund.charge,
    created: refund.created,
    currency: refund.currency,
    customer: refund.customer,
    customer_account: null,
    destination_details: { card: { type: 'refund' }, type: 'card' },
    ...(refund.failureBalanceTransaction && {
      failure_balance_transaction: refund.failureBalanceTransaction,
    }),
    ...(refund.failureReason && { failure_reason: refund.failureReason }),
    metadata: refund.metadata,
    payment_intent: refund.paymentIntent,
    payment_method: null,
    ...(refund.status === 'pending' && { pending_reason: 'processing' }),
    reason: refund.reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: refund.status,
    transfer_reversal: null,
  };
}
