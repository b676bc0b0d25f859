import Stripe from 'stripe';

/**
 * The Stripe SDK with bounded waiting: three tries of 10 s.
 *
 * @param apiBase address of another Stripe API, for tests and the demo
 */
export function createStripeClient(secretKey: string, apiBase: string | null): Stripe {
  const base = apiBase ? new URL(apiBase) : null;
  return new Stripe(secretKey, {
    timeout: 10_000,
    maxNetworkRetries: 2,
    telemetry: false,
    ...(base && {
      host: base.hostname,
      port: base.port || (base.protocol === 'https:' ? 443 : 80),
      protocol: base.protocol === 'https:' ? 'https' : 'http',
    }),
  });
}
