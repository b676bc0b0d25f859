import { eq, sql } from 'drizzle-orm';
import { type Database, lockKey, pgErrorCode, pickColumns, statement } from '@/db/database';
import { invoices, payments } from '@/db/schema';
import { answersOf, ChangedMeanwhileError } from '@/db/transaction';
import { findMergedInto } from '../customers/merged-customers';
import { toCalendarDate } from '../dates';
import { AppError, type FieldError, invalidField } from '../errors';
import { takesPayments } from '../invoices/settle';
import { currencyDecimals, hasCurrencyPrecision } from '../money';
import { keyOfReference, type PaymentRow, paymentNotFound, type StoredPayment, toPaymentRow } from './schema';

/** Returns whether a payment is unchanged since the writer last read it. */
export type Precondition = (current: PaymentRow) => boolean;

/** A payment and the invoices that writing it may change, all locked. */
export interface LockedPayment {
  payment: StoredPayment;
  invoices: Map<number, LockedInvoice>;
}

/**
 * Locks a payment as `lockByReference` does.
 *
 * @param seen the payment, read without a lock
 * @param target id of the invoice that the payment will belong to
 * @throws AppError precondition_failed if the payment has changed since the writer read it
 */
export async function lockPayment(
  tx: Database,
  seen: StoredPayment,
  target: number,
  precondition?: Precondition,
): Promise<LockedPayment> {
  const { payment, invoices } = await lockByReference(tx, seen.payment_reference, target);
  if (payment?.id !== seen.id) throw paymentNotFound(seen.id);
  if (precondition && !precondition(toPaymentRow(payment))) {
    throw new AppError('precondition_failed', 'The payment is not as you read it: read it again.');
  }
  return { payment, invoices };
}

/**
 * Locks the payment with a reference, if it exists, and before it the invoices in the order of their ids. All writers
 * of payments, including sync, use this order, so that they cannot deadlock. The caller holds the reference's key.
 *
 * @param target id of the requested invoice
 */
export async function lockByReference(
  tx: Database,
  reference: string,
  target: number,
): Promise<Partial<LockedPayment> & Pick<LockedPayment, 'invoices'>> {
  // Locks the target invoice, and the invoice of the payment with this reference if there is one.
  const [locked, [payment]] = await answersOf(
    lockRows(tx, { reference, target }),
    lockRow(tx, { reference }),
  );
  const invoices = byId(locked);
  if (!payment) return { invoices };
  if (!invoices.has(payment.invoice_id)) throw new ChangedMeanwhileError('the payment was moved');
  return { payment, invoices };
}

const lockRow = statement(['reference'], (db, { reference }) =>
  db.select().from(payments).where(eq(payments.payment_reference, reference)).for('update'),
);

/** Locks the keys of a payment's id and reference, and reads the payment. @throws AppError not_found */
export async function readPayment(tx: Database, id: number): Promise<StoredPayment> {
  const read = async () => {
    const [row] = await tx.select().from(payments).where(eq(payments.id, id));
    if (!row) throw paymentNotFound(id);
    return row;
  };
  // Renaming a payment needs this key, so the reference cannot change while we wait for the key of the reference.
  await lockKey(tx, `payment-id ${id}`);
  await lockKey(tx, keyOfReference((await read()).payment_reference));
  return read();
}

export type LockedInvoice = Pick<typeof invoices.$inferSelect, keyof typeof LOCKED>;

const byId = (rows: LockedInvoice[]) => new Map(rows.map((row) => [row.id, row]));

/** Locks invoices in the order of their ids. */
export async function lockInvoicesById(tx: Database, ids: number[]): Promise<Map<number, LockedInvoice>> {
  const rows = await tx
    .select(LOCKED)
    .from(invoices)
    .where(sql`${invoices.id} = any(${`{${ids}}`}::int[])`)
    .orderBy(invoices.id)
    .for('update');
  return byId(rows);
}

const LOCKED = {
  ...pickColumns(invoices, 'id', 'customer_id', 'status', 'currency', 'number'),
  ...pickColumns(invoices, 'amount_due', 'amount_off_stripe', 'stripe_invoice_id'),
};

const lockRows = statement(['reference', 'target'], (db, { reference, target }) =>
  db
    .select(LOCKED)
    .from(invoices)
    .where(
      sql`${invoices.id} in (${target}, (select invoice_id from payments where payment_reference = ${reference}))`,
    )
    .orderBy(invoices.id)
    .for('update'),
);

/** Returns the customer that a payment names. If that customer was merged into another one, returns the other one. */
export async function meantCustomer(
  tx: Database,
  id: number,
  invoice: LockedInvoice | undefined,
): Promise<number> {
  if (!invoice || invoice.customer_id === id) return id;
  return (await findMergedInto(tx, id)) ?? id;
}

/**
 * Checks a payment against its invoice.
 *
 * @param isNew true if the payment is new on this invoice; an existing one on a cancelled invoice can still be refunded
 * @param takes returns whether an invoice takes a new payment
 * @throws AppError validation_failed with the fields
 */
export function checkPayment(
  payment: { invoice_id: number; customer_id: number; amount: number },
  invoice: LockedInvoice | undefined,
  isNew: boolean,
  takes = takesPayments,
): LockedInvoice {
  const problems: FieldError[] = [];
  const add = (field: string, message: string) => problems.push({ field, message });
  if (!invoice) {
    add('invoice_id', `there is no invoice ${payment.invoice_id}`);
  } else {
    if (isNew && !takes(invoice)) {
      add('invoice_id', `invoice ${invoice.id} is ${invoice.status} and takes no payment`);
    }
    if (invoice.customer_id !== payment.customer_id) {
      add('customer_id', `invoice ${invoice.id} does not belong to customer ${payment.customer_id}`);
    }
    if (!hasCurrencyPrecision(payment.amount, invoice.currency)) {
      const decimals = currencyDecimals(invoice.currency);
      add('amount', `must have at most ${decimals} decimals in ${invoice.currency.toUpperCase()}`);
    }
  }
  if (!invoice || problems.length > 0) {
    throw new AppError('validation_failed', 'The payment does not fit its invoice.', problems);
  }
  return invoice;
}

/**
 * Refuses a completed payment by staff or from a file whose day is in the future. A pending payment may have a future
 * day. The REST API accepts any day, as its contract says.
 *
 * @throws AppError validation_failed at `payment_date`
 */
export function refuseFuture(
  { payment_date, status }: { payment_date: string; status: string },
  { source, now, timeZone }: { source: string; now: Date; timeZone: string },
): void {
  if (status === 'pending' || source === 'api') return;
  if (payment_date > toCalendarDate(now, timeZone)) {
    throw invalidField('payment_date', 'must not be in the future unless the payment is pending');
  }
}

/** True if an invoice takes an imported payment, which may have been made before the invoice was cancelled. */
export function tookPayments({ status }: Pick<LockedInvoice, 'status'>): boolean {
  return status !== 'draft';
}

/** Error for a reference that another payment has. */
export function referenceTaken(): AppError {
  return new AppError('conflict', 'Another payment has this payment_reference.', [
    { field: 'payment_reference', message: 'is used by another payment' },
  ]);
}

const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/** Runs a write, and reports an error if the sum of an invoice's payments does not fit its column. */
export async function withAmountLimit<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isOverLimit(error) ? overLimit() : error;
  }
}

export const isOverLimit = (error: unknown): boolean => pgErrorCode(error) === NUMERIC_VALUE_OUT_OF_RANGE;

export const overLimit = (): AppError =>
  invalidField('amount', 'makes the payments of the invoice add up to more than can be kept');
