import type { CreditNote } from '../model-returns';
import { embeddedList, type Json, type Shape } from './shape';

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

/** Before basil there was one refund at most, and no mixed note. */
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
