import type Stripe from 'stripe';
import { fromEpoch } from '../dates';
import { type Fetched, responseTime, unavailable } from './fetch';

/** Far more than one invoice has; the newest come first. */
const LIMIT = 100;

/**
 * When Stripe last collected something for an invoice; null: it never did. What was paid elsewhere and only
 * noted there does not count. Never throws for what Stripe or the network does.
 */
export async function fetchCollectedAt(
  stripe: Stripe,
  now: () => Date,
  invoice: string,
): Promise<Fetched<Date | null>> {
  const started = now();
  try {
    const page = await stripe.invoicePayments.list({ invoice, status: 'paid', limit: LIMIT });
    if (!Array.isArray(page.data)) return { state: 'unavailable', reason: 'invalid_answer' };
    const times = page.data
      .filter(({ payment }) => payment.type !== 'payment_record')
      .map(({ status_transitions: { paid_at }, created }) => paid_at ?? created);
    const object = times.length > 0 ? fromEpoch(Math.max(...times)) : null;
    return { state: 'found', object, asOf: responseTime(page, started, now()) };
  } catch (error) {
    return unavailable(error);
  }
}
