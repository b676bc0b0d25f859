import {
  discountOf,
  type Invoice,
  type InvoiceLine,
  lineTax,
  type Subscription,
  type SubscriptionItem,
} from '../model';
import { embeddedList, fieldsOf, type Json, nulls } from './shape';

/** Number of items, lines or payments that Stripe embeds in an object. A separate list endpoint returns all. */
export const EMBEDDED = 10;

const SUBSCRIPTION = {
  ...nulls(
    'application application_fee_percent billing_thresholds default_payment_method default_source description',
    'next_pending_invoice_item_invoice on_behalf_of pending_setup_intent pending_update schedule test_clock',
    'transfer_data',
  ),
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  cancellation_details: nulls('comment feedback reason'),
  default_tax_rates: [],
  invoice_settings: { account_tax_ids: null, issuer: { type: 'self' } },
  livemode: false,
};

export function renderSubscription(subscription: Subscription): Json {
  const { id, items, created, currency, trialEnd, pauseCollection } = subscription;
  const [first] = items;
  const only = items.length === 1 ? first : undefined;
  return {
    ...SUBSCRIPTION,
    ...fieldsOf(subscription, 'currency', 'pauseCollection', 'items'),
    billing_cycle_anchor: first?.currentPeriodStart ?? created,
    currency,
    days_until_due: subscription.collectionMethod === 'send_invoice' ? 14 : null,
    billing_mode: { type: 'classic' },
    discounts: [],
    items: embeddedList(
      items.map((item) => renderItem(subscription, item)),
      `/v1/subscription_items?subscription=${id}`,
      EMBEDDED,
    ),
    pause_collection: pauseCollection && fieldsOf(pauseCollection),
    plan: only ? renderPlan(only, currency) : null,
    quantity: only?.quantity ?? null,
    start_date: created,
    trial_start: trialEnd === null ? null : created,
  };
}

export function renderItem(subscription: Subscription, item: SubscriptionItem): Json {
  const { id, created, metadata, quantity, currentPeriodEnd, currentPeriodStart } = item;
  return {
    id,
    object: 'subscription_item',
    billing_thresholds: null,
    created,
    ...fieldsOf({ currentPeriodEnd, currentPeriodStart }),
    discounts: [],
    metadata,
    plan: renderPlan(item, subscription.currency),
    price: renderPrice(item, subscription.currency),
    quantity,
    subscription: subscription.id,
    tax_rates: [],
  };
}

function renderPrice(item: SubscriptionItem, currency: string): Json {
  return {
    ...commonPrice(item, currency),
    object: 'price',
    ...nulls('custom_unit_amount lookup_key transform_quantity'),
    recurring: {
      interval: item.interval,
      interval_count: item.intervalCount,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    tax_behavior: 'exclusive',
    type: 'recurring',
    unit_amount: item.unitAmount,
    unit_amount_decimal: String(item.unitAmount),
  };
}

/**
 * Renders the price as a plan, which is the format used before 2020. Stripe still sends it in addition to the price.
 */
function renderPlan(item: SubscriptionItem, currency: string): Json {
  return {
    ...commonPrice(item, currency),
    object: 'plan',
    amount: item.unitAmount,
    amount_decimal: String(item.unitAmount),
    interval: item.interval,
    interval_count: item.intervalCount,
    ...nulls('meter transform_usage trial_period_days'),
    usage_type: 'licensed',
  };
}

function commonPrice({ priceId, created }: SubscriptionItem, currency: string): Json {
  return {
    id: priceId,
    active: true,
    billing_scheme: 'per_unit',
    created,
    currency,
    livemode: false,
    metadata: {},
    nickname: null,
    product: productOf(priceId),
    tiers_mode: null,
  };
}

function productOf(priceId: string): string {
  return priceId.replace(/^(price_)?/, 'prod_');
}

const INVOICE = {
  ...nulls(
    'account_tax_ids application automatically_finalizes_at custom_fields customer_phone customer_shipping',
    'default_payment_method default_source description footer',
    'last_finalization_error latest_revision on_behalf_of receipt_number rendering shipping_cost',
    'shipping_details statement_descriptor test_clock',
  ),
  account_country: 'DE',
  account_name: 'Local Stripe',
  amount_shipping: 0,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, status: null },
  customer_tax_exempt: 'none',
  customer_tax_ids: [],
  default_tax_rates: [],
  discounts: [],
  issuer: { type: 'self' },
  livemode: false,
  payment_settings: nulls('default_mandate payment_method_options payment_method_types'),
};

/** Base URL of the hosted invoice pages. The pages do not exist, because `acct_local` is not a real account. */
const PAGES = 'https://pay.stripe.com/invoice/acct_local';

export function renderInvoice(invoice: Invoice): Json {
  const { id, status, amountDue, subtotal, tax, total, finalizedAt, markedUncollectibleAt } = invoice;
  return {
    ...INVOICE,
    ...fieldsOf(invoice, ...OTHERWISE, ...TRANSITIONS),
    amount_remaining: amountDue - invoice.amountPaid,
    auto_advance: status === 'draft' || status === 'open',
    // Worlds saved by an older version lack postal addresses.
    customer_address: invoice.customerAddress ? { ...invoice.customerAddress, state: null } : null,
    effective_at: invoice.effectiveAt ?? finalizedAt,
    // A credit is a negative balance. Credit remains if the total is negative or less than the credit before.
    ending_balance: finalizedAt === null ? null : Math.min(0, total + invoice.startingBalance),
    hosted_invoice_url: finalizedAt === null ? null : `${PAGES}/${id}`,
    invoice_pdf: finalizedAt === null ? null : `${PAGES}/${id}/pdf`,
    from_invoice: invoice.revises === null ? null : { action: 'revision', invoice: invoice.revises },
    lines: embeddedList(
      invoice.lines.map((line) => renderLine(invoice, line)),
      `/v1/invoices/${id}/lines`,
      EMBEDDED,
    ),
    parent: parentOf(invoice),
    ...taxesOf(invoice),
    total_discount_amounts: discountsOf(discountOf(invoice.lines)),
    status_transitions: fieldsOf({
      finalizedAt,
      markedUncollectibleAt,
      paidAt: invoice.paidAt,
      voidedAt: invoice.voidedAt,
    }),
    subtotal_excluding_tax: subtotal,
    total_excluding_tax: total - tax,
    webhooks_delivered_at: invoice.created,
  };
}

const TRANSITIONS = ['finalizedAt', 'markedUncollectibleAt', 'paidAt', 'voidedAt'] as const;
/** Fields of our record that Stripe's invoice contains in another form, or only when expanded. */
const OTHERWISE = [
  ...(['subscription', 'subscriptionMetadata', 'tax', 'paymentIntent', 'charge'] as const),
  ...(['amountPaidOffStripe', 'revises'] as const),
];

function parentOf({ subscription, subscriptionMetadata: metadata }: Invoice): Json | null {
  if (!subscription) return null;
  return {
    quote_details: null,
    subscription_details: { metadata, subscription },
    type: 'subscription_details',
  };
}

function taxesOf({ tax, subtotal, lines }: Invoice): Json {
  const total_taxes = taxed(tax, subtotal - discountOf(lines));
  return { amount_overpaid: 0, total_pretax_credit_amounts: [], total_taxes };
}

/** Renders the tax of an invoice or a line as a list. The list is empty if there is no tax. */
function taxed(amount: number, taxable: number): Json[] {
  if (amount === 0) return [];
  const one = {
    amount,
    tax_behavior: 'exclusive',
    tax_rate_details: { tax_rate: 'txr_local' },
    taxability_reason: 'standard_rated',
    taxable_amount: taxable,
    type: 'tax_rate_details',
  };
  return [one];
}

const discountsOf = (amount: number) => (amount === 0 ? [] : [{ amount, discount: 'di_local' }]);

export function renderLine(invoice: Invoice, line: InvoiceLine): Json {
  return {
    ...fieldsOf(line, 'discount', 'priceId', 'subscriptionItem', 'periodStart', 'periodEnd'),
    object: 'line_item',
    currency: invoice.currency,
    discount_amounts: discountsOf(line.discount ?? 0),
    discountable: true,
    discounts: [],
    invoice: invoice.id,
    livemode: false,
    metadata: {},
    ...sourceOf(invoice, line),
    period: { end: line.periodEnd, start: line.periodStart },
  };
}

function sourceOf(invoice: Invoice, line: InvoiceLine): Json {
  const { subscription } = invoice;
  const { priceId, subscriptionItem, amount, discount = 0, quantity } = line;
  return {
    parent: subscriptionItem && {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: false,
        proration_details: { credited_items: null },
        subscription,
        subscription_item: subscriptionItem,
      },
      type: 'subscription_item_details',
    },
    pretax_credit_amounts: [],
    pricing: priceId && {
      price_details: { price: priceId, product: productOf(priceId) },
      type: 'price_details',
      unit_amount_decimal: String(amount / Math.max(1, quantity)),
    },
    subtotal: amount,
    taxes: taxed(lineTax(invoice, line), amount - discount),
  };
}
