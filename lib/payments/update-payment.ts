import { type Database, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { transact } from '@/db/transaction';
import { withAmountLimit } from './amount-limit';
import { referenceTaken } from './check-payment';
import { toPaymentRow } from './queries';
import type { PaymentChanges, PaymentRow } from './schema';
import {
  changePayment,
  lockPayment,
  type PaymentWriter,
  type Precondition,
  readPayment,
} from './write-payment';

/**
 * Changes some fields of a payment.
 *
 * @throws AppError not_found; precondition_failed; validation_failed when it would not fit its invoice; conflict when another
 * payment has the reference
 */
export async function updatePayment(
  db: Database,
  id: number,
  changes: PaymentChanges,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<PaymentRow> {
  try {
    return await withAmountLimit(() =>
      transact(db, async (tx) => {
        const seen = await readPayment(tx, id);
        const locked = await lockPayment(tx, seen, changes.invoice_id ?? seen.invoice_id, precondition);
        return toPaymentRow(await changePayment(tx, locked, changes, writer));
      }),
    );
  } catch (error) {
    if (pgErrorCode(error) !== UNIQUE_VIOLATION) throw error;
    throw referenceTaken();
  }
}
