import type { StripeMode } from '../env';

/**
 * A page of Stripe's own dashboard.
 *
 * @param mode of the configured keys; without any, the data is taken for live
 * @param path `payments/pi_…`, `disputes/dp_…`
 */
export function dashboardUrl(mode: StripeMode | null, path: string): string {
  return `https://dashboard.stripe.com/${mode === 'test' ? 'test/' : ''}${path}`;
}

const PLACES: Record<string, string> = {
  ch: 'payments',
  cus: 'customers',
  dp: 'disputes',
  du: 'disputes',
  evt: 'events',
  in: 'invoices',
  pi: 'payments',
  price: 'prices',
  prod: 'products',
  py: 'payments',
  sub: 'subscriptions',
};

/** Where an object is in Stripe's dashboard, by its id; null: on no page of its own. */
export function dashboardPathOf(id: string): string | null {
  const place = PLACES[id.split('_')[0] ?? ''];
  return place ? `${place}/${encodeURIComponent(id)}` : null;
}
