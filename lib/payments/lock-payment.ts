import { eq } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { payments } from '@/db/schema';
import { statement } from '@/db/statement';
import { answersOf, ChangedMeanwhileError } from '@/db/transaction';
import { AppError } from '../errors';
import { type LockedInvoice, lockInvoices } from './check-payment';
import { paymentNotFound, toPaymentRow } from './queries';
import type { PaymentRow } from './schema';

export type StoredPayment = typeof payments.$inferSelect;

/** Whether a payment is as the writer saw it last. */
export type Precondition = (current: PaymentRow) => boolean;

/** A payment and the invoices that a write of it may touch, all locked. */
export interface LockedPayment {
  payment: StoredPayment;
  invoices: Map<number, LockedInvoice>;
}

/**
 * Locks a payment as `lockByReference` does.
 *
 * @param seen the payment as it was read without a lock
 * @param target the invoice that it shall be for
 * @throws AppError precondition_failed where it has changed since the writer saw it
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
 * Locks the payment of a reference, if it exists, after its invoices, and these in the order of their ids. All writers of
 * payments use this order, sync included, so that they cannot deadlock. The caller holds the key of the reference.
 *
 * @param target the requested invoice
 */
export async function lockByReference(
  tx: Database,
  reference: string,
  target: number,
): Promise<Partial<LockedPayment> & Pick<LockedPayment, 'invoices'>> {
  const [invoices, [payment]] = await answersOf(
    lockInvoices(tx, reference, target),
    lockRow(tx, { reference }),
  );
  if (!payment) return { invoices };
  if (!invoices.has(payment.invoice_id)) throw new ChangedMeanwhileError('the payment was moved');
  return { payment, invoices };
}

const lockRow = statement(['reference'], (db, { reference }) =>
  db.select().from(payments).where(eq(payments.payment_reference, reference)).for('update'),
);

/** Whose lock serialises the people and programs who write the payment of one reference. */
export const keyOfReference = (reference: string): string => `payment ${reference}`;

/** A payment by its id, under its key and that of its reference. @throws AppError not_found */
export async function readPayment(tx: Database, id: number): Promise<StoredPayment> {
  const read = async () => {
    const [row] = await tx.select().from(payments).where(eq(payments.id, id));
    if (!row) throw paymentNotFound(id);
    return row;
  };
  // Who renames a payment holds this key: the reference stays while we wait for its own.
  await lockKey(tx, `payment-id ${id}`);
  await lockKey(tx, keyOfReference((await read()).payment_reference));
  return read();
}
