import { eq } from 'drizzle-orm';
import { type Database, lockKey, pgErrorCode, statement, UNIQUE_VIOLATION } from '@/db/database';
import { payments } from '@/db/schema';
import { ChangedMeanwhileError, transact } from '@/db/transaction';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import {
  keyOfReference,
  type LockedInvoice,
  lockByReference,
  lockPayment,
  meantCustomer,
  type Precondition,
  readPayment,
  referenceTaken,
  type StoredPayment,
  withAmountLimit,
} from './lock-payment';
import { toPaymentRow } from './queries';
import { forgetRefunds, recordRefund } from './refunds';
import {
  type PaymentInput,
  type PaymentRow,
  type PaymentUpdate,
  READ_ONLY,
  type WrittenPayment,
} from './schema';
import { interruptSync, ownerOfMoney, refuseCounted, warnOfExcess } from './stripe-payment';
import {
  changePayment,
  finishWrite,
  leaveTombstone,
  NEW_COLUMNS,
  type PaymentWriter,
  type Refunded,
  recorderOf,
  toNewPayment,
} from './write-payment';

/** Checks the state that the write would replace. Null means that no payment has this reference. */
type RecordPrecondition = (current: PaymentRow | null) => boolean;

/**
 * Creates a payment, or updates the one with the same reference. Of any number of calls at once with one
 * new reference exactly one creates.
 *
 * @returns `warning` is a sentence if more is recorded on one of Stripe's invoices than is due there
 * @param options.onlyNew refuses a known reference instead of updating it
 * @param options.precondition of the current state; null if the payment does not exist
 * @throws AppError precondition_failed; validation_failed if the payment does not fit its invoice; conflict with `onlyNew`,
 *   or if sync has recorded the money that its reference names
 */
export async function recordPayment(
  db: Database,
  input: PaymentInput & Refunded,
  writer: PaymentWriter,
  options: { onlyNew?: boolean; precondition?: RecordPrecondition | undefined } = {},
): Promise<{ payment: PaymentRow; created: boolean; warning: string | undefined }> {
  const owner = await ownerOfMoney(db, input);
  const key = keyOfReference(input.payment_reference);
  return withAmountLimit(() =>
    transact(
      db,
      async (tx) => {
        if (owner !== undefined) {
          await interruptSync(tx, owner);
          await lockKey(tx, key);
        }
        const { payment, invoices } = await lockByReference(tx, input.payment_reference, input.invoice_id);
        requirePrecondition(payment, options.precondition);
        if (payment && options.onlyNew) throw referenceTaken();
        const written = payment
          ? await changePayment(tx, { payment, invoices }, input, writer)
          : await createPayment(tx, input, invoices.get(input.invoice_id), writer);
        const warning = await warnOfExcess(tx, invoices.get(written.invoice_id), payment ?? null, written);
        return { payment: toPaymentRow(written), created: !payment, warning };
      },
      `invoice ${input.invoice_id}`,
      owner ?? key,
    ),
  );
}

function requirePrecondition(
  current: StoredPayment | undefined,
  holds: RecordPrecondition = () => true,
): void {
  if (holds(current ? toPaymentRow(current) : null)) return;
  const found = current ? 'The payment of this reference is not as you want it' : 'There is no such payment';
  throw new AppError('precondition_failed', `${found}: read it again.`);
}

async function createPayment(
  tx: Database,
  input: PaymentInput & Refunded,
  invoice: LockedInvoice | undefined,
  writer: PaymentWriter,
): Promise<StoredPayment> {
  const customer_id = await meantCustomer(tx, input.customer_id, invoice);
  await refuseCounted(tx, input);
  const [created] = await insertRow(tx, toNewPayment({ ...input, customer_id }, invoice, writer));
  // Another writer was first: start again, as an update of its payment.
  if (!created) throw new ChangedMeanwhileError('the reference was taken');
  const { refunded_amount } = created;
  if (Number(refunded_amount) > 0) await recordRefund(tx, created, refunded_amount, recorderOf(writer));
  await finishWrite(tx, 'payment.create', null, created, writer);
  return created;
}

const insertRow = statement(NEW_COLUMNS, (db, values) =>
  db.insert(payments).values(values).onConflictDoNothing({ target: payments.payment_reference }).returning(),
);

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
