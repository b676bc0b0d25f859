import type { Invoice, PaymentIntent, Subscription, WorldEvent, WorldObject } from '@/lib/stripe-local/model';
import {
  renderObject as renderCurrent,
  renderEvent as renderIn,
  CURRENT as THIS_VERSION,
  type Shape as VersionShape,
} from '@/lib/stripe-local/render/object';
import { type Json, nulls } from '@/lib/stripe-local/render/shape';

/** The differences between API versions in the fields of the local Stripe's objects. */
type Shape = ReturnType<typeof shapeOf>;

/**
 * Returns the differences of an API version.
 *
 * @param version an API version such as `2020-08-27` or `2026-10-28.endive`
 */
export function shapeOf(version: string) {
  const since = (date: string) => version.slice(0, 10) >= date;
  return {
    version,
    /**
     * Whether items have periods, and invoices have `parent` and `payments` but not `paid`:
     * https://docs.stripe.com/changelog/basil
     */
    basil: since('2025-03-31'),
    /** Whether old and new fields exist side by side, as in the last versions before basil. */
    acacia: since('2024-09-30') && !since('2025-03-31'),
    /** Whether a payment intent has `latest_charge` instead of `charges`. */
    modern: since('2022-11-15'),
    /** Whether `amount_paid_off_stripe` exists. It is sent only if it is expanded, and never in events. */
    offStripeAmount: since('2026-05-27'),
  };
}

/** Returns how the local Stripe renders and expands objects in an API version. */
export function inVersion(version: string): VersionShape {
  const shape = shapeOf(version);
  const older = !shape.basil && EXPANDABLE_BEFORE_BASIL;
  const expandable = { ...THIS_VERSION.expandable, ...older, ...invoicePaths(shape) };
  return { version, render: (object) => renderObject(object, shape), expandable };
}

/** The paths that can be expanded before basil. `invoicePaths` returns the paths of an invoice. */
const EXPANDABLE_BEFORE_BASIL = {
  payment_intent: ['customer', 'invoice'],
  charge: ['customer', 'payment_intent', 'invoice'],
  credit_note: ['customer', 'invoice', 'refund'],
};

function invoicePaths({ basil, acacia, offStripeAmount }: Shape) {
  const paths = basil ? ['customer', 'payments'] : ['customer', 'subscription', 'payment_intent'];
  if (basil || acacia) paths.push('parent.subscription_details.subscription');
  if (offStripeAmount) paths.push('amount_paid_off_stripe');
  return { invoice: paths };
}

/** Renders an event as a webhook endpoint with the given API version receives it. */
export function renderEvent(event: WorldEvent, version: string): Json {
  return renderIn(event, inVersion(version));
}

/** Renders an object in an API version, with nothing expanded. */
export function renderObject(object: WorldObject, shape: Shape): Json {
  const json = renderCurrent(object);
  if (shape.basil) return json;
  switch (object.object) {
    case 'subscription':
      return olderSubscription(object, json, shape);
    case 'invoice':
      return olderInvoice(object, json, shape);
    case 'payment_intent':
      return olderIntent(object, json, shape);
    case 'charge':
      return { ...json, invoice: object.invoice };
    case 'credit_note': {
      const amounts = 'pre_payment_amount post_payment_amount pretax_credit_amounts total_taxes';
      const kept = without(json, `customer_account refunds ${amounts}`);
      // Before basil a credit note had at most one refund.
      const refund = object.refunds[0]?.refund ?? null;
      const type = object.postPaymentAmount > 0 ? 'post_payment' : 'pre_payment';
      return { ...kept, refund, tax_amounts: [], type };
    }
    default:
      return json;
  }
}

function without(json: Json, names: string): Json {
  const gone = names.split(' ');
  return Object.fromEntries(Object.entries(json).filter(([name]) => !gone.includes(name)));
}

function olderSubscription({ items, created }: Subscription, json: Json, { acacia, modern }: Shape): Json {
  // Before basil all items of a subscription had the same period.
  const [first] = [...items].sort((a, b) => a.currentPeriodEnd - b.currentPeriodEnd);
  const list = json.items as { data: Json[] };
  const data = list.data.map((item) =>
    acacia ? item : without(item, 'current_period_end current_period_start'),
  );
  return {
    ...without(json, modern ? 'billing_mode discounts' : 'billing_mode discounts currency'),
    discount: null,
    current_period_end: first?.currentPeriodEnd ?? created,
    current_period_start: first?.currentPeriodStart ?? created,
    items: { ...list, data },
  };
}

function olderInvoice(invoice: Invoice, json: Json, { acacia, modern }: Shape): Json {
  const { status, subscription, tax } = invoice;
  // Before basil `amount_paid` did not include payments outside Stripe.
  const amountPaid = invoice.amountPaid - invoice.amountPaidOffStripe;
  const lines = json.lines as { data: Json[] };
  const gone = 'amount_overpaid total_pretax_credit_amounts total_taxes';
  return {
    ...without(json, acacia ? gone : `${gone} parent`),
    ...nulls('application_fee_amount discount quote transfer_data'),
    amount_paid: amountPaid,
    amount_remaining: invoice.amountDue - amountPaid,
    charge: invoice.charge,
    lines: { ...lines, data: lines.data.map((line, i) => olderLine(invoice, line, i)) },
    paid: status === 'paid',
    paid_out_of_band: status === 'paid' && invoice.amountPaidOffStripe > 0,
    payment_intent: invoice.paymentIntent,
    subscription,
    ...(modern && subscription && { subscription_details: { metadata: invoice.subscriptionMetadata } }),
    tax: tax === 0 ? null : tax,
    total_tax_amounts: olderTaxes(json.total_taxes),
  };
}

function olderTaxes(taxes: unknown): Json[] {
  return (taxes as { amount: number; taxable_amount: number }[]).map(({ amount, taxable_amount }) => ({
    ...{ amount, inclusive: false, tax_rate: 'txr_local', taxable_amount },
  }));
}

function olderLine({ lines, subscription }: Invoice, json: Json, index: number): Json {
  const { priceId, subscriptionItem, amount } = lines[index] ?? {};
  const pricing = json.pricing as { price_details: { product: string } } | null;
  return {
    ...without(json, 'parent pretax_credit_amounts pricing subtotal taxes'),
    amount_excluding_tax: amount,
    plan: null,
    price: pricing && { id: priceId, object: 'price', product: pricing.price_details.product },
    proration: false,
    subscription,
    ...(subscriptionItem && { subscription_item: subscriptionItem }),
    tax_amounts: olderTaxes(json.taxes),
    tax_rates: [],
    type: subscriptionItem ? 'subscription' : 'invoiceitem',
  };
}

function olderIntent(intent: PaymentIntent, json: Json, { modern }: Shape): Json {
  const { id, latestCharge, amountReceived: amount, invoice } = intent;
  if (modern) return { ...json, invoice };
  const data = latestCharge ? [{ id: latestCharge, object: 'charge', amount, paid: true }] : [];
  const charges = { object: 'list', data, has_more: false, url: `/v1/charges?payment_intent=${id}` };
  return { ...without(json, 'latest_charge'), invoice, charges };
}
