import type { StripeMode } from '../env-contradictions';

/**
 * A page of Stripe's own dashboard.
 *
 * @param mode of the configured keys; without any, the data is taken for live
 * @param path `payments/pi_…`, `disputes/dp_…`
 */
export function dashboardUrl(mode: StripeMode | null, path: string): string {
  return `https://dashboard.stripe.com/${mode === 'test' ? 'test/' : ''}${path}`;
}
