import type { SubscriptionItem } from '../model';
import type { Json } from './shape';

export function renderPrice(item: SubscriptionItem, currency: string): Json {
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
export function renderPlan(item: SubscriptionItem, currency: string): Json {
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
