import type { CheckoutSession } from '../model';
import type { Json } from './shape';

/** The fields of the model are the same in every version. */
export function renderCheckoutSession(session: CheckoutSession): Json {
  return {
    id: session.id,
    object: 'checkout.session',
    after_expiration: null,
    allow_promotion_codes: null,
    amount_subtotal: session.amountTotal,
    amount_total: session.amountTotal,
    automatic_tax: { enabled: false, status: null },
    billing_address_collection: null,
    cancel_url: null,
    client_reference_id: session.clientReferenceId,
    created: session.created,
    currency: session.currency,
    customer: session.customer,
    customer_creation: session.customer ? null : 'always',
    customer_details: session.customerEmail
      ? {
          address: null,
          email: session.customerEmail,
          name: null,
          phone: null,
          tax_exempt: 'none',
          tax_ids: [],
        }
      : null,
    customer_email: session.customerEmail,
    expires_at: session.created + 86_400,
    invoice: session.invoice,
    livemode: false,
    locale: null,
    metadata: session.metadata,
    mode: session.mode,
    payment_intent: null,
    payment_link: null,
    payment_method_types: ['card'],
    payment_status: session.paymentStatus,
    setup_intent: null,
    shipping_options: [],
    status: session.status,
    submit_type: null,
    subscription: session.subscription,
    success_url: null,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    url: null,
  };
}
