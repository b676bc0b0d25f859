import type { InvoicePayment, PaymentIntent } from '../model';
import type { Json, Shape } from './shape';

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
