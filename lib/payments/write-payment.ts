import { eq, sql } from 'drizzle-orm';
import { type Database, lockKey, pgErrorCode, statement, UNIQUE_VIOLATION } from '@/db/database';
import { payments, paymentTombstones } from '@/db/schema';
import { answersOf, ChangedMeanwhileError, transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import { bookEntries } from '../book-entries';
import { toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import { leftOf, settleInvoice, takesPayments } from '../invoices/settle';
import { fromThousandths } from '../money';
import { MAX_ID } from '../page';
import {
  checkPayment,
  type LockedInvoice,
  type LockedPayment,
  lockByReference,
  lockPayment,
  meantCustomer,
  type Precondition,
  readPayment,
  referenceTaken,
  refuseFuture,
  tookPayments,
  withAmountLimit,
} from './lock-payment';
import { agreeRefunds, forgetRefunds, recordRefund, refundUpTo, statusAfter } from './money-back';
import {
  keyOfReference,
  type PaymentChanges,
  type PaymentInput,
  type PaymentRow,
  type PaymentUpdate,
  paymentNotFound,
  READ_ONLY,
  type StoredPayment,
  toPaymentRow,
  type WrittenPayment,
} from './schema';
import { interruptSync, ownerOfMoney, refuseCounted, warnOfExcess } from './stripe-payment';

/** The writer of a payment, and the time of writing. */
export interface PaymentWriter {
  actor: Actor;
  source: 'api' | 'staff' | 'import';
  now: Date;
  timeZone: string;
  /** Time of a refund that this write records. If absent, the time is `now`. */
  refundedAt?: Date;
}

/** Returns the writer for a program that has an access token. */
export function apiWriter(
  { now, env }: { now(): Date; env: { timeZone: string } },
  token: { id: number; name: string },
): PaymentWriter {
  return {
    actor: { type: 'token', id: String(token.id), name: token.name },
    source: 'api',
    now: now(),
    timeZone: env.timeZone,
  };
}

/** The refunded amount, if the writer gives it. The part that is not recorded yet becomes a refund. */
export interface Refunded {
  cameBack?: number | undefined;
}

/** The columns that a writer may change. */
const WRITTEN_COLUMNS = [
  'invoice_id',
  'customer_id',
  'amount',
  'currency',
  'payment_date',
  'payment_reference',
  'status',
  'refunded_amount',
] as const;

/** The columns of a new payment. */
const NEW_COLUMNS = [...WRITTEN_COLUMNS, 'source'] as const;

/** Checks the payment that the write would replace. Null if no payment has this reference. */
type RecordPrecondition = (current: PaymentRow | null) => boolean;

/**
 * Creates a payment, or updates the one with the same reference. If several simultaneous calls use the same new
 * reference, exactly one of them creates the payment.
 *
 * @returns `warning` is set if more is recorded on one of Stripe's invoices than Stripe asks for
 * @param options.onlyNew refuses a known reference instead of updating it
 * @param options.precondition checks the current payment, or null if it does not exist
 * @throws AppError precondition_failed; validation_failed if the payment does not fit its invoice; conflict with
 *   `onlyNew`, or if sync has recorded the money that the reference names
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
  // Another writer was faster. Start again, to update that writer's payment.
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
 * Changes some fields of a payment. The caller has checked that the writer may change it.
 *
 * @throws AppError not_found; precondition_failed; validation_failed if it does not fit its invoice, or for a changed
 *   read-only field; conflict if another payment has the reference
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

/** Refuses changes of read-only fields. They may be sent with the values that GET returned. */
function refuseReadOnly(current: PaymentRow, changes: PaymentUpdate): void {
  const problems = READ_ONLY.filter((name) => name in changes && changes[name] !== current[name]).map(
    (field) => ({ field, message: 'is read-only: leave it out, or as it was read' }),
  );
  if (problems.length > 0) throw new AppError('validation_failed', 'The body is not valid.', problems);
}

/** Returns the result of `ownerOfMoney` for a payment after its changes. */
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
 * Deletes a payment. Its last state stays in the audit log. A payment that Stripe reported leaves a tombstone, so that
 * sync does not record it again.
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

/**
 * Returns the row of a new payment. If some of it was refunded, the caller records the refund.
 *
 * @throws AppError validation_failed if the payment does not fit its invoice
 */
export function toNewPayment(
  { cameBack, ...input }: PaymentInput & Refunded,
  invoice: LockedInvoice | undefined,
  writer: Pick<PaymentWriter, 'source' | 'now' | 'timeZone'>,
) {
  const { source } = writer;
  const takes = source === 'import' ? tookPayments : takesPayments;
  const { currency } = checkPayment(input, invoice, true, takes);
  const status = input.status ?? 'completed';
  refuseFuture({ ...input, status }, writer);
  const refunded_amount = String(cameBack ?? (status === 'refunded' ? input.amount : 0));
  return { ...input, amount: String(input.amount), currency, status, refunded_amount, source };
}

/** Writes changed values with an audit entry, and settles the invoices. Writes nothing if no value differs. */
export async function changePayment(
  tx: Database,
  { payment: before, invoices }: LockedPayment,
  changes: PaymentChanges & Refunded,
  writer: PaymentWriter,
): Promise<StoredPayment> {
  const given = withChanges(before, changes);
  const invoice = invoices.get(given.invoice_id);
  const wanted = { ...given, customer_id: await meantCustomer(tx, given.customer_id, invoice) };
  const moved = wanted.invoice_id !== before.invoice_id;
  const { currency } = checkPayment(wanted, invoice, moved);
  if (currency !== before.currency && changes.amount === undefined) {
    throw invalidField('amount', `must be given: the invoice is in ${currency.toUpperCase()}`);
  }
  const values = { ...wanted, currency, amount: String(wanted.amount) };
  const told = changes.cameBack;
  if (isSame(before, values, told)) return before;
  // Check only changed values, so that a payment already stored with a future day can still change otherwise.
  if (wanted.payment_date !== before.payment_date || wanted.status !== before.status) {
    refuseFuture(wanted, writer);
  }
  if (moved || wanted.payment_reference !== before.payment_reference) {
    if (before.source !== 'stripe') await refuseCounted(tx, wanted, before.id);
  }
  // Sync finds its payment by reference, so without a tombstone it would record a renamed payment a second time.
  if (before.source === 'stripe' && wanted.payment_reference !== before.payment_reference) {
    await leaveTombstone(tx, before.payment_reference);
  }
  const known = await refundedAfter(tx, before, values, changes.status, writer);
  const refunded_amount =
    told === undefined
      ? known
      : await refundUpTo(tx, { ...before, ...values }, known, told, recorderOf(writer));
  const status = changes.status ?? statusAfter(before, { amount: values.amount, refunded_amount });
  const [after] = await updateRow(tx, { id: before.id, ...values, refunded_amount, status });
  if (!after) throw paymentNotFound(before.id);
  await finishWrite(tx, 'payment.update', before, after, writer);
  return after;
}

/** Returns the refunded amount of a payment with its new values. Skips the queries for payments without refunds. */
function refundedAfter(
  tx: Database,
  before: StoredPayment,
  values: Pick<StoredPayment, 'amount' | 'currency' | 'status'>,
  given: StoredPayment['status'] | undefined,
  writer: PaymentWriter,
): Promise<string> | string {
  const isUsual = before.status !== 'refunded' && values.status !== 'refunded';
  if (isUsual && Number(before.refunded_amount) === 0) return '0';
  return agreeRefunds(tx, before, { id: before.id, ...values }, given, recorderOf(writer));
}

/** Returns the recorder of refunds for a writer. */
export const recorderOf = ({ source, now, refundedAt }: PaymentWriter) =>
  ({ source: source === 'api' ? 'api' : 'staff', now: refundedAt ?? now }) as const;

const updateRow = statement(['id', ...WRITTEN_COLUMNS], (db, { id, ...values }) =>
  db
    .update(payments)
    .set({ ...values, version: sql`${payments.version} + 1` })
    .where(eq(payments.id, id))
    .returning(),
);

/** Ends a write: adds its audit entry, settles its invoices and posts to the journal. */
async function finishWrite(
  tx: Database,
  action: string,
  before: StoredPayment | null,
  after: StoredPayment | null,
  { actor, now, timeZone }: PaymentWriter,
): Promise<void> {
  const entity_id = after?.id ?? before?.id ?? 0;
  const touched = new Set([before?.invoice_id, after?.invoice_id].filter((id) => id !== undefined));
  const day = { today: toCalendarDate(now, timeZone), now };
  await answersOf(
    recordAudit(tx, { actor, action, entity: 'payment', entity_id, before, after }),
    ...[...touched].map((id) =>
      settleInvoice(tx, id, { ...day, change: fromThousandths(leftFor(id, after) - leftFor(id, before)) }),
    ),
    bookEntries(tx, { payments: [entity_id] }, { now, timeZone }),
  );
}

const leftFor = (invoiceId: number, payment: StoredPayment | null): number =>
  payment?.invoice_id === invoiceId ? leftOf(payment) : 0;

/** Adds a tombstone, so that sync does not record a payment with this reference again. */
async function leaveTombstone(tx: Database, reference: string): Promise<void> {
  await tx.insert(paymentTombstones).values({ reference }).onConflictDoNothing();
}

/** Returns whether a payment already has the requested values. */
export const isAlready = (payment: StoredPayment, changes: PaymentChanges & Refunded): boolean =>
  isSame(payment, withChanges(payment, changes), changes.cameBack);

/** Returns a payment's fields with the changes applied. */
const withChanges = (before: StoredPayment, changes: PaymentChanges) => ({
  invoice_id: changes.invoice_id ?? before.invoice_id,
  customer_id: changes.customer_id ?? before.customer_id,
  amount: changes.amount ?? Number(before.amount),
  payment_date: changes.payment_date ?? before.payment_date,
  payment_reference: changes.payment_reference ?? before.payment_reference,
  status: changes.status ?? before.status,
});

/** @param told the refunded amount, if the writer gives it */
function isSame(
  before: StoredPayment,
  values: Partial<Record<keyof StoredPayment, unknown>>,
  told: number | undefined,
): boolean {
  const isTold = told === undefined || told === Number(before.refunded_amount);
  return (
    isTold &&
    Object.entries(values).every(([field, value]) =>
      field === 'amount'
        ? Number(before.amount) === Number(value)
        : before[field as keyof StoredPayment] === value,
    )
  );
}
