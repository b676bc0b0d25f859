import { type Database, lockKey } from '@/db/database';
import { payments } from '@/db/schema';
import { statement } from '@/db/statement';
import { ChangedMeanwhileError, transact } from '@/db/transaction';
import { AppError } from '../errors';
import { withAmountLimit } from './amount-limit';
import type { Refunded } from './changed-payment';
import { type LockedInvoice, meantCustomer, referenceTaken } from './check-payment';
import { warnOfExcess } from './excess';
import { keyOfReference, lockByReference, type StoredPayment } from './lock-payment';
import { NEW_COLUMNS, toNewPayment } from './new-payment';
import { toPaymentRow } from './queries';
import { recordRefund } from './recorded-refunds';
import type { PaymentInput, PaymentRow } from './schema';
import { interruptSync, ownerOfMoney, refuseCounted } from './stripe-payment';
import { changePayment, finishWrite, type PaymentWriter, recorderOf } from './write-payment';

/** Checks the state that the write would replace. Null means that no payment has this reference. */
type Precondition = (current: PaymentRow | null) => boolean;

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
  options: { onlyNew?: boolean; precondition?: Precondition | undefined } = {},
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

function requirePrecondition(current: StoredPayment | undefined, holds: Precondition = () => true): void {
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
