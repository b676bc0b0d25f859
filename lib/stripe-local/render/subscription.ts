import type { Subscription, SubscriptionItem } from '../model';
import { embeddedList, type Json, type Shape } from './shape';

/** Items that Stripe puts into the subscription itself; all are at /v1/subscription_items. */
const EMBEDDED_ITEMS = 10;

export function renderSubscription(subscription: Subscription, shape: Shape): Json {
  const [first] = subscription.items;
  return {
    id: subscription.id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: first?.currentPeriodStart ?? subscription.created,
    billing_thresholds: null,
    cancel_at: subscription.cancelAt,
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    canceled_at: subscription.canceledAt,
    cancellation_details: { comment: null, feedback: null, reason: null },
    collection_method: subscription.collectionMethod,
    created: subscription.created,
    ...(shape.modern && { currency: subscription.currency }),
    ...(!shape.basil && periodOf(subscription)),
    customer: subscription.customer,
    days_until_due: subscription.collectionMethod === 'send_invoice' ? 14 : null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    ...(shape.basil ? { billing_mode: { type: 'classic' }, discounts: [] } : { discount: null }),
    ended_at: subscription.endedAt,
    invoice_settings: { account_tax_ids: null, issuer: { type: 'self' } },
    items: embeddedList(
      subscription.items.map((item) => renderItem(subscription, item, shape)),
      `/v1/subscription_items?subscription=${subscription.id}`,
      EMBEDDED_ITEMS,
    ),
    latest_invoice: subscription.latestInvoice,
    livemode: false,
    metadata: subscription.metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: subscription.pauseCollection && {
      behavior: subscription.pauseCollection.behavior,
      resumes_at: subscription.pauseCollection.resumesAt,
    },
    pending_setup_intent: null,
    pending_update: null,
    plan: first && subscription.items.length === 1 ? renderPlan(first, subscription.currency) : null,
    quantity: subscription.items.length === 1 ? (first?.quantity ?? null) : null,
    schedule: null,
    start_date: subscription.created,
    status: subscription.status,
    test_clock: null,
    transfer_data: null,
    trial_end: subscription.trialEnd,
    trial_start: subscription.trialEnd === null ? null : subscription.created,
  };
}

export function renderItem(subscription: Subscription, item: SubscriptionItem, shape: Shape): Json {
  return {
    id: item.id,
    object: 'subscription_item',
    billing_thresholds: null,
    created: item.created,
    ...((shape.basil || shape.acacia) && {
      current_period_end: item.currentPeriodEnd,
      current_period_start: item.currentPeriodStart,
    }),
    discounts: [],
    metadata: item.metadata,
    plan: renderPlan(item, subscription.currency),
    price: renderPrice(item, subscription.currency),
    quantity: item.quantity,
    subscription: subscription.id,
    tax_rates: [],
  };
}

// Before basil all items had one period.
function periodOf({ items, created }: Subscription): Json {
  const [first] = [...items].sort((a, b) => a.currentPeriodEnd - b.currentPeriodEnd);
  return {
    current_period_end: first?.currentPeriodEnd ?? created,
    current_period_start: first?.currentPeriodStart ?? created,
  };
}

function renderPrice(item: SubscriptionItem, currency: string): Json {
  return {
    id: item.priceId,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    created: item.created,
    currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: null,
    product: productOf(item.priceId),
    recurring: {
      interval: item.interval,
      interval_count: item.intervalCount,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    tax_behavior: 'exclusive',
    tiers_mode: null,
    transform_quantity: null,
    type: 'recurring',
    unit_amount: item.unitAmount,
    unit_amount_decimal: String(item.unitAmount),
  };
}

/** The price in its form of before 2020, which Stripe still sends beside it. */
function renderPlan(item: SubscriptionItem, currency: string): Json {
  return {
    id: item.priceId,
    object: 'plan',
    active: true,
    amount: item.unitAmount,
    amount_decimal: String(item.unitAmount),
    billing_scheme: 'per_unit',
    created: item.created,
    currency,
    interval: item.interval,
    interval_count: item.intervalCount,
    livemode: false,
    metadata: {},
    meter: null,
    nickname: null,
    product: productOf(item.priceId),
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  };
}

export function productOf(priceId: string): string {
  return priceId.replace(/^(price_)?/, 'prod_');
}
