import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { transact } from '@/db/transaction';
import { lockPayment, type Precondition, readPayment } from './lock-payment';
import { forgetRefunds } from './recorded-refunds';
import { finishWrite, leaveTombstone, type PaymentWriter } from './write-payment';

/**
 * Deletes a payment; its last state stays in the audit log. One that Stripe made leaves a tombstone, so
 * that sync does not bring it back.
 *
 * @throws AppError not_found; precondition_failed
 */
export async function deletePayment(
  db: Database,
  id: number,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<void> {
  await transact(
    db,
    async (tx) => {
      const seen = await readPayment(tx, id);
      const { payment: before } = await lockPayment(tx, seen, seen.invoice_id, precondition);
      if (before.source === 'stripe') await leaveTombstone(tx, before.payment_reference);
      await forgetRefunds(tx, id);
      await tx.delete(payments).where(eq(payments.id, id));
      await finishWrite(tx, 'payment.delete', before, null, writer);
    },
    `payment ${id}`,
  );
}
