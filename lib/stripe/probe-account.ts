import Stripe from 'stripe';
import { isTimeZone } from '../dates';
import { isGone, stripeErrorCode, unavailable } from './fetch';
import { asId, asObject, asText } from './read';

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

/** An account of Stripe's, and the time zone of its dashboard and its reports. */
export interface Account {
  id: string | null;
  timeZone: string | null;
}

/**
 * Reads the account that a key belongs to. Never throws for what Stripe or the network does.
 *
 * @returns the reason if it cannot be read; a restricted key may not read it
 */
export async function fetchAccount(stripe: Stripe): Promise<Account | { reason: string }> {
  try {
    const account = asObject(await stripe.accounts.retrieveCurrent());
    const zone = asText(asObject(asObject(account.settings).dashboard).timezone);
    return { id: asId(account), timeZone: zone !== null && isTimeZone(zone) ? zone : null };
  } catch (error) {
    return { reason: unavailable(error).reason };
  }
}
