import type Stripe from 'stripe';
import { asId } from './read';

/** Far more than one invoice has. */
const LIMIT = 100;

/** The payment intents that collected for an invoice. @throws Stripe's errors */
export async function listIntents(stripe: Stripe, invoice: string): Promise<string[]> {
  const page = await stripe.invoicePayments.list({ invoice, status: 'paid', limit: LIMIT });
  return page.data.flatMap(({ payment }) => asId(payment.payment_intent) ?? []);
}
