import { and, desc, eq, isNotNull } from 'drizzle-orm';
import { payments } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import * as act from '@/lib/stripe-local/actions';
import type { World } from '@/lib/stripe-local/world';
import { checkWithStripe } from '@/lib/sync/staff/check-with-stripe';
import type { SyncDeps } from '@/lib/sync/sync-deps';

/** One payment is disputed and one refunded in part, as we know; another is refunded in part, as we do not. */
export async function takeBack(world: World, deps: SyncDeps) {
  const found = await deps.db
    .select({
      id: payments.id,
      invoiceId: payments.invoice_id,
      customerId: payments.customer_id,
      reference: payments.payment_reference,
      intent: payments.stripe_payment_intent_id,
    })
    .from(payments)
    .where(
      and(
        eq(payments.status, 'completed'),
        eq(payments.currency, 'eur'),
        isNotNull(payments.stripe_payment_intent_id),
      ),
    )
    .orderBy(desc(payments.payment_date), desc(payments.id))
    .limit(3);
  const [disputed, inPart, silent] = found.map((row) => ({ ...row, paymentIntent: row.intent ?? '' }));
  if (!disputed || !inPart || !silent) throw new Error('Stripe collected some of the payments');
  act.openDispute(world, disputed);
  act.refundPayment(world, { ...inPart, amount: 100, reason: 'requested_by_customer' });
  for (const { id } of [disputed, inPart]) {
    await checkWithStripe(deps, commandActor('test'), 'payment', id);
  }
  act.refundPayment(world, { ...silent, amount: 150 });
  return { disputed, inPart, silent };
}
