import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { ChangedMeanwhileError, transact } from '@/db/transaction';
import { withAmountLimit } from './amount-limit';
import { checkPayment, lockInvoices, referenceTaken } from './check-payment';
import { toPaymentRow } from './queries';
import type { PaymentInput, PaymentRow } from './schema';
import {
  changePayment,
  finishWrite,
  lockPayment,
  lockReference,
  type PaymentWriter,
  type StoredPayment,
} from './write-payment';

/**
 * Creates a payment, or updates the one with the same reference. Of any number of calls at once with one
 * new reference exactly one creates.
 *
 * @param options.onlyNew refuses a reference that is known, instead of updating
 * @throws AppError validation_failed when the payment does not fit its invoice; conflict with `onlyNew`
 */
export async function recordPayment(
  db: Database,
  input: PaymentInput,
  writer: PaymentWriter,
  options: { onlyNew?: boolean } = {},
): Promise<{ payment: PaymentRow; created: boolean }> {
  return withAmountLimit(() =>
    transact(db, async (tx) => {
      await lockReference(tx, input.payment_reference);
      const [seen] = await tx
        .select()
        .from(payments)
        .where(eq(payments.payment_reference, input.payment_reference));
      if (!seen) return { payment: toPaymentRow(await createPayment(tx, input, writer)), created: true };
      if (options.onlyNew) throw referenceTaken();
      const locked = await lockPayment(tx, seen, input.invoice_id);
      if (locked.payment.payment_reference !== input.payment_reference) {
        throw new ChangedMeanwhileError('the payment was renamed');
      }
      return { payment: toPaymentRow(await changePayment(tx, locked, input, writer)), created: false };
    }),
  );
}

async function createPayment(
  tx: Database,
  input: PaymentInput,
  writer: PaymentWriter,
): Promise<StoredPayment> {
  const invoice = (await lockInvoices(tx, [input.invoice_id])).get(input.invoice_id);
  const { currency } = checkPayment(input, invoice, true);
  const [created] = await tx
    .insert(payments)
    .values({ ...input, amount: String(input.amount), currency, source: writer.source })
    .onConflictDoNothing({ target: payments.payment_reference })
    .returning();
  // Somebody was quicker: begin again, as an update of theirs.
  if (!created) throw new ChangedMeanwhileError('the reference was taken');
  await finishWrite(tx, 'payment.create', null, created, writer);
  return created;
}
