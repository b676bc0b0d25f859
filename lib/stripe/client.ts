import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';

/** Of our own, well below the 25 that Stripe's test mode takes. */
const REQUESTS_PER_SECOND = 10;

/**
 * The Stripe SDK with bounded waiting (three tries of 10 s) and bounded haste.
 *
 * @param apiBase address of another Stripe API, for tests and the demo
 */
export function createStripeClient(
  secretKey: string,
  apiBase: string | null,
  requestsPerSecond = REQUESTS_PER_SECOND,
): Stripe {
  const base = apiBase ? new URL(apiBase) : null;
  return new Stripe(secretKey, {
    timeout: 10_000,
    maxNetworkRetries: 2,
    telemetry: false,
    httpClient: unhurried(requestsPerSecond),
    ...(base && {
      host: base.hostname,
      port: base.port || (base.protocol === 'https:' ? 443 : 80),
      protocol: base.protocol === 'https:' ? 'https' : 'http',
    }),
  });
}

function unhurried(requestsPerSecond: number) {
  const client = Stripe.createNodeHttpClient();
  const pass = createGate(requestsPerSecond);
  const request = client.makeRequest.bind(client);
  client.makeRequest = async (...args: Parameters<typeof request>) => {
    await pass();
    return request(...args);
  };
  return client;
}

/** Lets callers through one after the other, so many a second and no more. */
function createGate(perSecond: number): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const before = last;
    last = before.then(() => sleep(1000 / perSecond));
    await before;
  };
}
