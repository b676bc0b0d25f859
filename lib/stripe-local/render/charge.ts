import type { Charge } from '../model-returns';
import type { Json, Shape } from './shape';

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
