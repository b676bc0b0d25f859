import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { SERIALIZATION_FAILURE, transact } from '@/db/transaction';
import { checkPayment, lockInvoices } from './check-payment';
import { toPaymentRow } from './queries';
import type { PaymentInput, PaymentRow } from './schema';
import { changePayment, finishWrite, type PaymentWriter } from './write-payment';

/**
 * Creates a payment, or updates the one with the same reference. Of any number of calls at once with one
 * new reference exactly one creates.
 *
 * @throws AppError validation_failed when the payment does not fit its invoice
 */
export async function recordPayment(
  db: Database,
  input: PaymentInput,
  writer: PaymentWriter,
): Promise<{ payment: PaymentRow; created: boolean }> {
  return transact(db, async (tx) => {
    const known = await findByReference(tx, input.payment_reference);
    if (known)
      return { payment: toPaymentRow(await changePayment(tx, known, input, writer)), created: false };

    const invoice = (await lockInvoices(tx, [input.invoice_id])).get(input.invoice_id);
    const { currency } = checkPayment(input, invoice, true);
    const [created] = await tx
      .insert(payments)
      .values({ ...input, amount: String(input.amount), currency, source: writer.source })
      .onConflictDoNothing({ target: payments.payment_reference })
      .returning();
    if (created) {
      await finishWrite(tx, 'payment.create', null, created, writer);
      return { payment: toPaymentRow(created), created: true };
    }
    // Somebody was quicker; the insert waited for their commit, so that the row is there now.
    const winner = await findByReference(tx, input.payment_reference);
    if (!winner) throw Object.assign(new Error('deleted meanwhile'), { code: SERIALIZATION_FAILURE });
    return { payment: toPaymentRow(await changePayment(tx, winner, input, writer)), created: false };
  });
}

async function findByReference(tx: Database, reference: string) {
  const [row] = await tx
    .select()
    .from(payments)
    .where(eq(payments.payment_reference, reference))
    .for('update');
  return row;
}
