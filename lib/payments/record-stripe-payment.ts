import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments, paymentTombstones } from '@/db/schema';

export interface StripePayment {
  invoice_id: number;
  customer_id: number;
  /** What Stripe collected, in whole units of the currency. */
  amount: string;
  currency: string;
  payment_date: string;
  /** The Stripe invoice's id: it is in every API version, and one invoice has one payment. */
  payment_reference: string;
  stripe_payment_intent_id: string | null;
}

/** What a correction may change. */
type Written = Pick<StripePayment, 'amount' | 'payment_date'>;

export type RecordedPayment =
  | { outcome: 'created'; id: number }
  | { outcome: 'corrected'; id: number; before: Written; after: Partial<Written> }
  /** Somebody else's payment has the reference: left alone. */
  | { outcome: 'taken'; id: number }
  | { outcome: 'none' };

/**
 * The payment of a Stripe invoice: made once, whatever arrives how often; corrected while nobody has changed
 * its amount, and then dated anew while nobody has changed its date; never brought back once deleted.
 *
 * @param isExact whether the amount is all that Stripe collected; else no more than that, so that it never
 * lowers what was recorded
 */
export async function recordStripePayment(
  tx: Database,
  payment: StripePayment,
  isExact: boolean,
): Promise<RecordedPayment> {
  if (Number(payment.amount) <= 0) return { outcome: 'none' };
  const [buried] = await tx
    .select({ reference: paymentTombstones.reference })
    .from(paymentTombstones)
    .where(eq(paymentTombstones.reference, payment.payment_reference));
  if (buried) return { outcome: 'none' };
  const [created] = await tx
    .insert(payments)
    .values({
      ...payment,
      status: 'completed',
      source: 'stripe',
      provider_amount: payment.amount,
      provider_payment_date: payment.payment_date,
    })
    .onConflictDoNothing({ target: payments.payment_reference })
    .returning({ id: payments.id });
  if (created) return { outcome: 'created', id: created.id };
  return correctPayment(tx, payment, isExact);
}

async function correctPayment(
  tx: Database,
  payment: StripePayment,
  isExact: boolean,
): Promise<RecordedPayment> {
  const [held] = await tx
    .select()
    .from(payments)
    .where(eq(payments.payment_reference, payment.payment_reference))
    .for('update');
  if (!held) return { outcome: 'none' };
  if (held.source !== 'stripe') return { outcome: 'taken', id: held.id };
  const isUntouched = Number(held.amount) === Number(held.provider_amount);
  const difference = Number(payment.amount) - Number(held.amount);
  if (!isUntouched || difference === 0 || (difference < 0 && !isExact)) return { outcome: 'none' };
  const { amount, payment_date } = payment;
  const after = { amount, ...(held.payment_date === held.provider_payment_date && { payment_date }) };
  await tx
    .update(payments)
    .set({
      ...after,
      provider_amount: amount,
      ...(after.payment_date && { provider_payment_date: payment_date }),
    })
    .where(eq(payments.id, held.id));
  return { outcome: 'corrected', id: held.id, before: held, after };
}
