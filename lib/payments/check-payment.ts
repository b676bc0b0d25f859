import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import { statement } from '@/db/statement';
import { findMergedInto } from '../customers/merged-customers';
import { toCalendarDate } from '../dates';
import { AppError, type FieldError, invalidField } from '../errors';
import { currencyDecimals, hasCurrencyPrecision } from '../money';

export type LockedInvoice = Pick<typeof invoices.$inferSelect, keyof typeof LOCKED>;

/**
 * Locks the invoice of the payment with this reference, if any, and the target invoice. Locks are taken in the order of
 * ids, so that two writers of the same invoices cannot deadlock.
 */
export async function lockInvoices(
  tx: Database,
  reference: string,
  target: number,
): Promise<Map<number, LockedInvoice>> {
  const rows = await lockRows(tx, { reference, target });
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks invoices in the same order. */
export async function lockInvoicesById(tx: Database, ids: number[]): Promise<Map<number, LockedInvoice>> {
  const rows = await tx
    .select(LOCKED)
    .from(invoices)
    .where(sql`${invoices.id} = any(${`{${ids}}`}::int[])`)
    .orderBy(invoices.id)
    .for('update');
  return new Map(rows.map((row) => [row.id, row]));
}

const LOCKED = {
  id: invoices.id,
  customer_id: invoices.customer_id,
  status: invoices.status,
  currency: invoices.currency,
  number: invoices.number,
  amount_due: invoices.amount_due,
  amount_off_stripe: invoices.amount_off_stripe,
  stripe_invoice_id: invoices.stripe_invoice_id,
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

/** The customer that a payment names; of one that was merged into another, that one. */
export async function meantCustomer(
  tx: Database,
  id: number,
  invoice: LockedInvoice | undefined,
): Promise<number> {
  if (!invoice || invoice.customer_id === id) return id;
  return (await findMergedInto(tx, id)) ?? id;
}

/**
 * Checks a payment against the invoice it is for.
 *
 * @param isNew the payment was not on this invoice before; a refund of a cancelled one stays possible
 * @param takes whether an invoice takes a new one
 * @throws AppError validation_failed naming the fields
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
 * Refuses a completed payment of staff or a file whose day is in the future. A pending payment may be expected later.
 * The REST API takes any day, as its contract says.
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

/** Whether an invoice can be paid at all. */
export function takesPayments({ status }: Pick<LockedInvoice, 'status'>): boolean {
  return status !== 'draft' && status !== 'cancelled';
}

/** The same of what was paid elsewhere: it may have been before the invoice was cancelled. */
export function tookPayments({ status }: Pick<LockedInvoice, 'status'>): boolean {
  return status !== 'draft';
}

/** Of two payments only one can have a reference. */
export function referenceTaken(): AppError {
  return new AppError('conflict', 'Another payment has this payment_reference.', [
    { field: 'payment_reference', message: 'is used by another payment' },
  ]);
}
