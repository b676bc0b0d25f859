import type { CheckoutSession, Customer, WorldEvent, WorldObject } from '../model';
import { renderInvoice } from './invoice';
import {
  renderCharge,
  renderCreditNote,
  renderDispute,
  renderInvoicePayment,
  renderPaymentIntent,
  renderRefund,
} from './payments';
import { type Json, renderAddress, type Shape, shapeOf } from './shape';
import { renderSubscription } from './subscription';

/** An event as an endpoint of this API version receives it. */
export function renderEvent(event: WorldEvent, apiVersion: string): Json {
  const shape = shapeOf(apiVersion);
  const object = renderObject(event.about, shape);
  return {
    id: event.id,
    object: 'event',
    api_version: apiVersion,
    created: event.created,
    data: {
      object,
      ...(event.previous && {
        previous_attributes: previousAttributes(renderObject(event.previous, shape), object),
      }),
    },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: event.type,
  };
}

/** What the changed fields held before: hashes field by field, lists as a whole, null where nothing was. */
function previousAttributes(before: Json, after: Json): Json {
  const changed: Json = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = before[key] ?? null;
    const now = after[key] ?? null;
    if (isSame(old, now)) continue;
    changed[key] = isHash(old) && isHash(now) ? previousAttributes(old, now) : old;
  }
  return changed;
}

/** Most values are plain, and told apart without their text. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

function isHash(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A record as Stripe writes it in one API version, with nothing expanded. */
export function renderObject(object: WorldObject, shape: Shape): Json {
  switch (object.object) {
    case 'customer':
      return renderCustomer(object);
    case 'subscription':
      return renderSubscription(object, shape);
    case 'invoice':
      return renderInvoice(object, shape);
    case 'invoice_payment':
      return renderInvoicePayment(object);
    case 'payment_intent':
      return renderPaymentIntent(object, shape);
    case 'checkout.session':
      return renderCheckoutSession(object);
    case 'charge':
      return renderCharge(object, shape);
    case 'refund':
      return renderRefund(object);
    case 'dispute':
      return renderDispute(object);
    case 'credit_note':
      return renderCreditNote(object, shape);
  }
}

/** The same in every version we know. */
function renderCustomer(customer: Customer): Json {
  if (customer.deleted) return { id: customer.id, object: 'customer', deleted: true };
  return {
    id: customer.id,
    object: 'customer',
    address: renderAddress(customer.address),
    balance: 0,
    created: customer.created,
    currency: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: customer.email,
    invoice_prefix: customer.invoicePrefix,
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: customer.metadata,
    name: customer.name,
    next_invoice_sequence: customer.nextInvoiceSequence,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  };
}

/** The fields of the model are the same in every version. */
function renderCheckoutSession(session: CheckoutSession): Json {
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
