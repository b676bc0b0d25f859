import { isChargeRefundable } from '../charges';
import type {
  Charge,
  CreditNote,
  Dispute,
  DisputeTransaction,
  InvoicePayment,
  PaymentIntent,
  Refund,
} from '../model';
import { embeddedList, type Json, type Shape } from './shape';

export function renderInvoicePayment(payment: InvoicePayment): Json {
  return {
    id: payment.id,
    object: 'invoice_payment',
    amount_paid: payment.amountPaid,
    amount_requested: payment.amountRequested,
    created: payment.created,
    currency: payment.currency,
    invoice: payment.invoice,
    is_default: payment.isDefault,
    livemode: false,
    payment: payment.payment,
    status: payment.status,
    status_transitions: { canceled_at: payment.canceledAt, paid_at: payment.paidAt },
  };
}

export function renderPaymentIntent(intent: PaymentIntent, shape: Shape): Json {
  const error = intent.lastPaymentError;
  return {
    id: intent.id,
    object: 'payment_intent',
    amount: intent.amount,
    amount_capturable: 0,
    amount_received: intent.amountReceived,
    application: null,
    application_fee_amount: null,
    canceled_at: intent.canceledAt,
    cancellation_reason: intent.canceledAt === null ? null : 'void_invoice',
    capture_method: 'automatic',
    confirmation_method: 'automatic',
    created: intent.created,
    currency: intent.currency,
    customer: intent.customer,
    description: null,
    ...(!shape.basil && { invoice: intent.invoice }),
    last_payment_error: error
      ? { type: 'card_error', code: error.code, decline_code: 'generic_decline', message: error.message }
      : null,
    ...(shape.modern ? { latest_charge: intent.latestCharge } : { charges: charges(intent) }),
    livemode: false,
    metadata: {},
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_types: ['card'],
    processing: null,
    receipt_email: null,
    setup_future_usage: null,
    shipping: null,
    statement_descriptor: null,
    status: intent.status,
    transfer_data: null,
    transfer_group: null,
  };
}

function charges(intent: PaymentIntent): Json {
  const data = intent.latestCharge
    ? [{ id: intent.latestCharge, object: 'charge', amount: intent.amountReceived, paid: true }]
    : [];
  return { object: 'list', data, has_more: false, url: `/v1/charges?payment_intent=${intent.id}` };
}

export function renderCharge(charge: Charge, shape: Shape): Json {
  return {
    id: charge.id,
    object: 'charge',
    amount: charge.amount,
    amount_captured: charge.amount,
    amount_refunded: charge.amountRefunded,
    captured: true,
    created: charge.created,
    currency: charge.currency,
    customer: charge.customer,
    description: null,
    disputed: charge.disputed,
    failure_code: null,
    failure_message: null,
    ...(!shape.basil && { invoice: charge.invoice }),
    livemode: false,
    metadata: {},
    paid: true,
    payment_intent: charge.paymentIntent,
    payment_method: null,
    receipt_email: null,
    refunded: charge.amountRefunded === charge.amount,
    status: 'succeeded',
  };
}

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

export function renderCreditNote(note: CreditNote, shape: Shape): Json {
  return {
    id: note.id,
    object: 'credit_note',
    amount: note.amount,
    amount_shipping: 0,
    created: note.created,
    currency: note.currency,
    customer: note.customer,
    customer_balance_transaction: note.customerBalanceTransaction,
    discount_amount: 0,
    discount_amounts: [],
    effective_at: note.created,
    invoice: note.invoice,
    lines: embeddedList([], `/v1/credit_notes/${note.id}/lines`),
    livemode: false,
    memo: null,
    metadata: note.metadata,
    number: note.number,
    out_of_band_amount: note.outOfBandAmount || null,
    pdf: `https://pay.stripe.com/credit_notes/${note.id}/pdf`,
    reason: note.reason,
    shipping_cost: null,
    status: note.status,
    subtotal: note.amount,
    subtotal_excluding_tax: note.amount,
    total: note.amount,
    total_excluding_tax: note.amount,
    ...(shape.basil ? newerFields(note) : olderFields(note)),
    voided_at: note.voidedAt,
  };
}

function newerFields(note: CreditNote): Json {
  return {
    customer_account: null,
    post_payment_amount: note.postPaymentAmount,
    pre_payment_amount: note.prePaymentAmount,
    pretax_credit_amounts: [],
    refunds: note.refunds.map(({ refund, amount }) => ({
      amount_refunded: amount,
      payment_record_refund: null,
      refund,
      type: 'refund',
    })),
    total_taxes: [],
    type: newerType(note),
  };
}

/** Before API version basil, a credit note had at most one refund, and nothing beside it. */
function olderFields(note: CreditNote): Json {
  return {
    refund: note.refunds[0]?.refund ?? null,
    tax_amounts: [],
    type: note.postPaymentAmount > 0 ? 'post_payment' : 'pre_payment',
  };
}

function newerType({ prePaymentAmount, postPaymentAmount }: CreditNote): string {
  if (postPaymentAmount === 0) return 'pre_payment';
  return prePaymentAmount === 0 ? 'post_payment' : 'mixed';
}
