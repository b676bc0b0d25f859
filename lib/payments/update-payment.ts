import { type Database, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { transact } from '@/db/transaction';
import { AppError } from '../errors';
import { withAmountLimit } from './amount-limit';
import { referenceTaken } from './check-payment';
import { lockPayment, type Precondition, readPayment } from './lock-payment';
import { toPaymentRow } from './queries';
import { type PaymentRow, type PaymentUpdate, READ_ONLY } from './schema';
import { changePayment, type PaymentWriter } from './write-payment';

/**
 * Changes some fields of a payment.
 *
 * @throws AppError not_found; precondition_failed; validation_failed when it would not fit its invoice, or for
 * another value of what nobody writes; conflict when another
 * payment has the reference
 */
export async function updatePayment(
  db: Database,
  id: number,
  changes: PaymentUpdate,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<PaymentRow> {
  try {
    return await withAmountLimit(() =>
      transact(
        db,
        async (tx) => {
          const seen = await readPayment(tx, id);
          const locked = await lockPayment(tx, seen, changes.invoice_id ?? seen.invoice_id, precondition);
          refuseReadOnly(toPaymentRow(locked.payment), changes);
          return toPaymentRow(await changePayment(tx, locked, changes, writer));
        },
        `payment ${id}`,
      ),
    );
  } catch (error) {
    if (pgErrorCode(error) !== UNIQUE_VIOLATION) throw error;
    throw referenceTaken();
  }
}

/** What nobody writes may be sent as it was read. */
function refuseReadOnly(current: PaymentRow, changes: PaymentUpdate): void {
  const problems = READ_ONLY.filter((name) => name in changes && changes[name] !== current[name]).map(
    (field) => ({ field, message: 'is read-only: leave it out, or as it was read' }),
  );
  if (problems.length > 0) throw new AppError('validation_failed', 'The body is not valid.', problems);
}
