import Stripe from 'stripe';
import { isChargeRefundable, movementsOf } from '../charges';
import type {
  BalanceTransaction,
  Charge,
  CheckoutSession,
  CreditNote,
  Customer,
  Dispute,
  InvoicePayment,
  PaymentIntent,
  Payout,
  Refund,
  WorldEvent,
  WorldObject,
} from '../model';
import { renderInvoice, renderSubscription } from './billing';
import { embeddedList, fieldsOf, type Json, nulls } from './shape';

/** An API version, with its rendering of objects and the paths that it can expand. */
export interface Shape {
  version: string;
  render(object: WorldObject): Json;
  expandable: Record<Kind, readonly string[]>;
}

/** Renders an event as a webhook endpoint with the given API version receives it. */
export function renderEvent(event: WorldEvent, { version, render } = CURRENT): Json {
  const object = render(event.about);
  return {
    id: event.id,
    object: 'event',
    api_version: version,
    created: event.created,
    data: {
      object,
      ...(event.previous && {
        previous_attributes: previousAttributes(render(event.previous), object),
      }),
    },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: event.type,
  };
}

/** Returns the old values of changed fields, null for new fields. A changed list is returned as a whole. */
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

/** Compares two values. Converts only objects to JSON, because that is slow and most values are primitives. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

function isHash(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Renders a record without expanded objects. */
export function renderObject(object: WorldObject): Json {
  const render = RENDERERS[object.object] as (object: WorldObject) => Json;
  return render(object);
}

type Kind = WorldObject['object'];

const RENDERERS: { [K in Kind]: (object: Extract<WorldObject, { object: K }>) => Json } = {
  customer: renderCustomer,
  subscription: renderSubscription,
  invoice: renderInvoice,
  invoice_payment: renderInvoicePayment,
  payment_intent: renderPaymentIntent,
  'checkout.session': renderCheckoutSession,
  charge: renderCharge,
  refund: renderRefund,
  dispute: renderDispute,
  credit_note: renderCreditNote,
  balance_transaction: renderTransaction,
  payout: renderPayout,
};

function renderCustomer(customer: Customer): Json {
  if (customer.deleted) return { id: customer.id, object: 'customer', deleted: true };
  return {
    ...fieldsOf(customer, 'deleted'),
    ...nulls('currency default_source description discount phone shipping test_clock'),
    // Worlds saved by an older version lack postal addresses.
    address: customer.address ? { ...customer.address, state: null } : null,
    balance: 0,
    delinquent: false,
    invoice_settings: nulls('custom_fields default_payment_method footer rendering_options'),
    livemode: false,
    preferred_locales: [],
    tax_exempt: 'none',
  };
}

function renderCheckoutSession(session: CheckoutSession): Json {
  const { customer, customerEmail: email } = session;
  return {
    ...fieldsOf(session, 'lineItems', 'subscriptionMetadata'),
    ...nulls(
      'after_expiration allow_promotion_codes billing_address_collection cancel_url locale payment_intent',
      'payment_link setup_intent submit_type success_url url',
    ),
    amount_subtotal: session.amountTotal,
    automatic_tax: { enabled: false, status: null },
    customer_creation: customer ? null : 'always',
    customer_details: email && { ...nulls('address name phone'), email, tax_exempt: 'none', tax_ids: [] },
    expires_at: session.created + 86_400,
    livemode: false,
    payment_method_types: ['card'],
    shipping_options: [],
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  };
}

function renderInvoicePayment(payment: InvoicePayment): Json {
  const { canceledAt, paidAt } = payment;
  return {
    ...fieldsOf(payment, 'canceledAt', 'paidAt'),
    livemode: false,
    status_transitions: { canceled_at: canceledAt, paid_at: paidAt },
  };
}

function renderPaymentIntent(intent: PaymentIntent): Json {
  const { latestCharge, lastPaymentError: error } = intent;
  return {
    ...fieldsOf(intent, 'invoice', 'latestCharge', 'failedDebits'),
    ...nulls(
      'application application_fee_amount description next_action on_behalf_of payment_method processing',
      'receipt_email setup_future_usage shipping statement_descriptor transfer_data transfer_group',
    ),
    amount_capturable: 0,
    cancellation_reason: intent.canceledAt === null ? null : 'void_invoice',
    capture_method: 'automatic',
    confirmation_method: 'automatic',
    last_payment_error: error && { type: 'card_error', decline_code: 'generic_decline', ...error },
    latest_charge: latestCharge,
    livemode: false,
    metadata: {},
    payment_method_types: ['card'],
  };
}

function renderCharge(charge: Charge): Json {
  return {
    ...fieldsOf(charge, 'invoice', 'hasFailed'),
    ...nulls('description failure_code failure_message payment_method receipt_email'),
    amount_captured: charge.amount,
    captured: true,
    livemode: false,
    metadata: {},
    paid: !charge.hasFailed,
    refunded: charge.amountRefunded === charge.amount,
    status: charge.hasFailed ? 'failed' : 'succeeded',
  };
}

function renderRefund(refund: Refund): Json {
  const { failureBalanceTransaction, failureReason } = refund;
  return {
    ...fieldsOf(refund, 'failureBalanceTransaction', 'failureReason'),
    ...nulls('customer_account payment_method receipt_number source_transfer_reversal transfer_reversal'),
    destination_details: { card: { type: 'refund' }, type: 'card' },
    ...(failureBalanceTransaction && { failure_balance_transaction: failureBalanceTransaction }),
    ...(failureReason && { failure_reason: failureReason }),
    ...(refund.status === 'pending' && { pending_reason: 'processing' }),
  };
}

function renderDispute(dispute: Dispute): Json {
  const hasEvidence = dispute.submissionCount > 0;
  return {
    ...fieldsOf(dispute, 'evidenceDueBy', 'submissionCount', 'pastDue'),
    balance_transactions: movementsOf(dispute).map((moved) => renderTransaction({ ...moved, payout: '' })),
    enhanced_eligibility_types: [],
    evidence: {},
    evidence_details: {
      due_by: dispute.evidenceDueBy,
      enhanced_eligibility: {},
      has_evidence: hasEvidence,
      past_due: dispute.pastDue,
      submission_count: dispute.submissionCount,
      submission_method: hasEvidence ? 'manual' : 'not_submitted',
    },
    intended_submission_method: null,
    is_charge_refundable: isChargeRefundable(dispute),
    livemode: false,
    metadata: {},
  };
}

const CATEGORIES: Record<BalanceTransaction['type'], string> = {
  charge: 'charge',
  payment: 'charge',
  payment_failure_refund: 'charge_failure',
  refund: 'refund',
  refund_failure: 'refund_failure',
  adjustment: 'dispute',
  payout: 'payout',
  payout_failure: 'payout_reversal',
};

function renderTransaction(movement: BalanceTransaction): Json {
  const { amount, fee, currency, type } = movement;
  const description = type === 'adjustment' ? 'Dispute fee' : 'Stripe processing fees';
  const detail = { amount: fee, application: null, currency, description, type: 'stripe_fee' };
  return {
    ...fieldsOf(movement, 'payout'),
    available_on: movement.created,
    balance_type: 'payments',
    exchange_rate: null,
    fee_details: fee ? [detail] : [],
    net: amount - fee,
    reporting_category: type === 'adjustment' && amount > 0 ? 'dispute_reversal' : CATEGORIES[type],
    status: 'available',
  };
}

function renderPayout(payout: Payout): Json {
  const hasFailed = payout.status === 'failed';
  return {
    ...fieldsOf(payout),
    ...nulls('application_fee application_fee_amount description destination failure_balance_transaction'),
    ...nulls('original_payout payout_method reversed_by trace_id'),
    failure_message: hasFailed ? 'The bank account has been closed.' : null,
    livemode: false,
    metadata: {},
    method: 'standard',
    reconciliation_status: payout.automatic ? 'completed' : 'not_applicable',
    source_type: 'card',
    statement_descriptor: 'STRIPE',
    type: 'bank_account',
  };
}

/** Renders the only line of a credit note. The line contains the whole amount. */
function renderCreditLine({ id, amount }: CreditNote): Json {
  return {
    id: id.replace(/^cn_/, 'cnli_'),
    object: 'credit_note_line_item',
    amount,
    description: 'Credit',
    discount_amount: 0,
    discount_amounts: [],
    invoice_line_item: null,
    livemode: false,
    metadata: {},
    pretax_credit_amounts: [],
    quantity: 1,
    tax_rates: [],
    taxes: [],
    type: 'custom_line_item',
    unit_amount: amount,
    unit_amount_decimal: String(amount),
  };
}

function renderCreditNote(note: CreditNote): Json {
  const { id, amount, prePaymentAmount, postPaymentAmount } = note;
  const type = prePaymentAmount === 0 ? 'post_payment' : 'mixed';
  return {
    ...fieldsOf(note, 'prePaymentAmount', 'postPaymentAmount', 'refunds'),
    amount_shipping: 0,
    discount_amount: 0,
    discount_amounts: [],
    effective_at: note.created,
    lines: embeddedList([renderCreditLine(note)], `/v1/credit_notes/${id}/lines`),
    livemode: false,
    memo: null,
    out_of_band_amount: note.outOfBandAmount || null,
    pdf: `https://pay.stripe.com/credit_notes/${id}/pdf`,
    shipping_cost: null,
    subtotal: amount,
    subtotal_excluding_tax: amount,
    total: amount,
    total_excluding_tax: amount,
    customer_account: null,
    ...fieldsOf({ prePaymentAmount, postPaymentAmount }),
    pretax_credit_amounts: [],
    refunds: note.refunds.map(({ refund, amount }) => ({
      amount_refunded: amount,
      payment_record_refund: null,
      refund,
      type: 'refund',
    })),
    total_taxes: [],
    type: postPaymentAmount === 0 ? 'pre_payment' : type,
  };
}

/**
 * The paths that can be expanded, by kind of object. The last segment of most paths is the kind of the expanded object.
 */
const EXPANDABLE: Shape['expandable'] = {
  customer: [],
  subscription: ['customer', 'latest_invoice'],
  invoice: ['customer', 'parent.subscription_details.subscription', 'payments', 'amount_paid_off_stripe'],
  invoice_payment: ['invoice', 'payment.payment_intent'],
  payment_intent: ['customer'],
  'checkout.session': ['customer', 'subscription', 'invoice'],
  charge: ['customer', 'payment_intent'],
  refund: ['charge', 'payment_intent', 'customer'],
  dispute: ['charge', 'payment_intent'],
  credit_note: ['customer', 'invoice'],
  balance_transaction: ['source'],
  payout: ['balance_transaction'],
};

/** The API version that our SDK requests. */
export const CURRENT: Shape = {
  version: Stripe.API_VERSION,
  render: renderObject,
  expandable: EXPANDABLE,
};
