import type { StripeMode } from '../env';

/**
 * Returns the URL of a page of Stripe's own dashboard.
 *
 * @param mode mode of the configured keys; null counts as live
 * @param path path of the page, such as `payments/pi_…` or `disputes/dp_…`
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
  po: 'payouts',
  price: 'prices',
  prod: 'products',
  py: 'payments',
  sub: 'subscriptions',
};

/** Returns the dashboard path of an object by its id. Returns null if `PLACES` does not contain the id's prefix. */
export function dashboardPathOf(id: string): string | null {
  const place = PLACES[id.split('_')[0] ?? ''];
  return place ? `${place}/${encodeURIComponent(id)}` : null;
}
