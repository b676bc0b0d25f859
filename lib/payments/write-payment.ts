import { eq } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { payments, paymentTombstones } from '@/db/schema';
import { ChangedMeanwhileError } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/record-audit';
import { toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import { settleInvoice } from '../invoices/settle-invoice';
import { checkPayment, type LockedInvoice, lockInvoices } from './check-payment';
import { paymentNotFound, toPaymentRow } from './queries';
import type { PaymentChanges, PaymentRow } from './schema';

/** Whoever writes a payment, and the time it is. */
export interface PaymentWriter {
  actor: Actor;
  source: 'api' | 'staff' | 'import';
  now: Date;
  timeZone: string;
}

export type StoredPayment = typeof payments.$inferSelect;

/** Whether a payment is as the writer saw it last. */
export type Precondition = (current: PaymentRow) => boolean;

/** A payment and the invoices that a write of it may touch, all locked. */
export interface LockedPayment {
  payment: StoredPayment;
  invoices: Map<number, LockedInvoice>;
}

/**
 * Locks a payment after its invoices, and these in the order of their ids: so does whoever writes payments,
 * sync among them, and nobody waits in a circle. The caller holds the key of its reference.
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
  const invoices = await lockInvoices(tx, [seen.invoice_id, target]);
  const [payment] = await tx.select().from(payments).where(eq(payments.id, seen.id)).for('update');
  if (!payment) throw paymentNotFound(seen.id);
  if (payment.invoice_id !== seen.invoice_id) throw new ChangedMeanwhileError('the payment was moved');
  if (precondition && !precondition(toPaymentRow(payment))) {
    throw new AppError('precondition_failed', 'The payment has changed since you read it: read it again.');
  }
  return { payment, invoices };
}

/** Serialises the people and programs who write the payment of one reference. */
export async function lockReference(tx: Database, reference: string): Promise<void> {
  await lockKey(tx, `payment ${reference}`);
}

/** A payment by its id, under its key and that of its reference. @throws AppError not_found */
export async function readPayment(tx: Database, id: number): Promise<StoredPayment> {
  const read = async () => {
    const [row] = await tx.select().from(payments).where(eq(payments.id, id));
    if (!row) throw paymentNotFound(id);
    return row;
  };
  // Who renames a payment holds this key: the reference stays while we wait for its own.
  await lockKey(tx, `payment-id ${id}`);
  await lockReference(tx, (await read()).payment_reference);
  return read();
}

/** Writes what differs, leaves its audit entry, and settles the invoices it touches; same again, no write. */
export async function changePayment(
  tx: Database,
  { payment: before, invoices }: LockedPayment,
  changes: PaymentChanges,
  writer: PaymentWriter,
): Promise<StoredPayment> {
  const wanted = {
    invoice_id: changes.invoice_id ?? before.invoice_id,
    customer_id: changes.customer_id ?? before.customer_id,
    amount: changes.amount ?? Number(before.amount),
    payment_date: changes.payment_date ?? before.payment_date,
    payment_reference: changes.payment_reference ?? before.payment_reference,
    status: changes.status ?? before.status,
  };
  const moved = wanted.invoice_id !== before.invoice_id;
  const { currency } = checkPayment(wanted, invoices.get(wanted.invoice_id), moved);
  if (currency !== before.currency && changes.amount === undefined) {
    throw invalidField('amount', `must be given: the invoice is in ${currency.toUpperCase()}`);
  }
  const values = { ...wanted, currency, amount: String(wanted.amount) };
  if (isSame(before, values)) return before;
  // Sync looks for its payment by reference: renamed, it must not be made a second time.
  if (before.source === 'stripe' && wanted.payment_reference !== before.payment_reference) {
    await leaveTombstone(tx, before.payment_reference);
  }
  const [after] = await tx.update(payments).set(values).where(eq(payments.id, before.id)).returning();
  if (!after) throw paymentNotFound(before.id);
  await finishWrite(tx, 'payment.update', before, after, writer);
  return after;
}

/** What every write ends with: its audit entry, and the invoices it touched settled. */
export async function finishWrite(
  tx: Database,
  action: string,
  before: StoredPayment | null,
  after: StoredPayment | null,
  { actor, now, timeZone }: PaymentWriter,
): Promise<void> {
  const entity_id = after?.id ?? before?.id ?? 0;
  await recordAudit(tx, { actor, action, entity: 'payment', entity_id, before, after });
  const touched = new Set([before?.invoice_id, after?.invoice_id].filter((id) => id !== undefined));
  for (const id of touched) await settleInvoice(tx, id, { today: toCalendarDate(now, timeZone), now });
}

/** Keeps sync from making a payment of this reference again. */
export async function leaveTombstone(tx: Database, reference: string): Promise<void> {
  await tx.insert(paymentTombstones).values({ reference }).onConflictDoNothing();
}

function isSame(before: StoredPayment, values: Partial<Record<keyof StoredPayment, unknown>>): boolean {
  return Object.entries(values).every(([field, value]) =>
    field === 'amount'
      ? Number(before.amount) === Number(value)
      : before[field as keyof StoredPayment] === value,
  );
}
