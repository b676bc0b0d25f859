import { eq } from 'drizzle-orm';
import { type Database, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { payments } from '@/db/schema';
import { transact } from '@/db/transaction';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { withAmountLimit } from './amount-limit';
import { referenceTaken } from './check-payment';
import { warnOfExcess } from './excess';
import { lockPayment, type Precondition, readPayment } from './lock-payment';
import { toPaymentRow } from './queries';
import { type PaymentRow, type PaymentUpdate, READ_ONLY, type WrittenPayment } from './schema';
import { interruptSync, ownerOfMoney } from './stripe-payment';
import { changePayment, type PaymentWriter } from './write-payment';

/**
 * Changes some fields of a payment.
 *
 * @throws AppError not_found; precondition_failed; validation_failed if it would not fit its invoice, or for a
 *   changed read-only field; conflict if another payment has the reference
 */
export async function updatePayment(
  db: Database,
  id: number,
  changes: PaymentUpdate,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<WrittenPayment> {
  const owner = await ownerOfChanged(db, id, changes);
  try {
    return await withAmountLimit(() =>
      transact(
        db,
        async (tx) => {
          if (owner !== undefined) await interruptSync(tx, owner);
          const seen = await readPayment(tx, id);
          const locked = await lockPayment(tx, seen, changes.invoice_id ?? seen.invoice_id, precondition);
          refuseReadOnly(toPaymentRow(locked.payment), changes);
          const after = await changePayment(tx, locked, changes, writer);
          const invoice = locked.invoices.get(after.invoice_id);
          const warning = await warnOfExcess(tx, invoice, locked.payment, after);
          return { ...toPaymentRow(after), ...(warning && { warning }) };
        },
        `payment ${id}`,
        owner,
      ),
    );
  } catch (error) {
    if (pgErrorCode(error) !== UNIQUE_VIOLATION) throw error;
    throw referenceTaken();
  }
}

/** Read-only fields may be sent with the values that a GET returned. */
function refuseReadOnly(current: PaymentRow, changes: PaymentUpdate): void {
  const problems = READ_ONLY.filter((name) => name in changes && changes[name] !== current[name]).map(
    (field) => ({ field, message: 'is read-only: leave it out, or as it was read' }),
  );
  if (problems.length > 0) throw new AppError('validation_failed', 'The body is not valid.', problems);
}

/** The same as `ownerOfMoney`, for a payment with its changes. */
async function ownerOfChanged(db: Database, id: number, changes: PaymentUpdate): Promise<string | undefined> {
  if (changes.payment_reference === undefined && changes.invoice_id === undefined) return undefined;
  const [before] = await db
    .select()
    .from(payments)
    .where(eq(payments.id, Math.min(id, MAX_ID)));
  if (!before) return undefined;
  const { payment_reference = before.payment_reference, invoice_id = before.invoice_id } = changes;
  return ownerOfMoney(db, { payment_reference, invoice_id });
}
