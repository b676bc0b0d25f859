import Stripe from 'stripe';
import { isGone, stripeErrorCode } from './fetch';

/** Whether a key opens the account that we know: `other` knows none of the customers it was asked for. */
export type Probe = 'known' | 'other' | 'refused' | { silent: string };

/**
 * Tries a key out before much is asked with it. Never throws for what Stripe or the network does.
 *
 * @param customers some of the account's, if any are known; deleted ones are known to Stripe all the same
 */
export async function probeAccount(stripe: Stripe, customers: string[]): Promise<Probe> {
  try {
    if (customers.length === 0) await stripe.subscriptions.list({ limit: 1 });
    for (const id of customers) if (await isKnown(stripe, id)) return 'known';
    return customers.length === 0 ? 'known' : 'other';
  } catch (error) {
    if (error instanceof Stripe.errors.StripeAuthenticationError) return 'refused';
    // A restricted key that may not read these: the run tells what it may not read.
    if (error instanceof Stripe.errors.StripePermissionError) return 'known';
    if (!(error instanceof Stripe.errors.StripeError) && !(error instanceof SyntaxError)) throw error;
    return { silent: stripeErrorCode(error) };
  }
}

async function isKnown(stripe: Stripe, id: string): Promise<boolean> {
  try {
    await stripe.customers.retrieve(id);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}
