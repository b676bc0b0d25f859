import type Stripe from 'stripe';
import { type Fetched, responseTime, unavailable } from './fetch';
import { asId } from './read';

/** Which invoice a payment intent was made for; null: none. Never throws for what Stripe or the network does. */
export async function fetchInvoicePaid(
  stripe: Stripe,
  now: () => Date,
  payment_intent: string,
): Promise<Fetched<string | null>> {
  const started = now();
  const payment = { type: 'payment_intent', payment_intent } as const;
  try {
    const page = await stripe.invoicePayments.list({ payment, limit: 1 });
    if (!Array.isArray(page.data)) return { state: 'unavailable', reason: 'invalid_answer' };
    return {
      state: 'found',
      object: asId(page.data[0]?.invoice),
      asOf: responseTime(page, started, now()),
    };
  } catch (error) {
    return unavailable(error);
  }
}
