import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';

/** What Stripe calls a payment: its payment intent, or a charge that is its reference; null where nothing says so. */
export async function findStripePayment(db: Database, id: number): Promise<string | null> {
  const [found] = await db
    .select({ intent: payments.stripe_payment_intent_id, reference: payments.payment_reference })
    .from(payments)
    .where(eq(payments.id, id));
  return found ? stripePaymentOf(found) : null;
}

/** The same of what is known of it already. */
export function stripePaymentOf({
  intent,
  reference,
}: {
  intent: string | null;
  reference: string;
}): string | null {
  return intent ?? (/^(pi|ch)_/.test(reference) ? reference : null);
}
