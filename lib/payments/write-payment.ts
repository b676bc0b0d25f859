import { eq, sql } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { payments, paymentTombstones } from '@/db/schema';
import { statement } from '@/db/statement';
import { answersOf, ChangedMeanwhileError } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/record-audit';
import { toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import { settleInvoice } from '../invoices/settle-invoice';
import { leftOf } from '../invoices/settled';
import { fromThousandths } from '../money';
import { statusAfter } from './came-back';
import { checkPayment, type LockedInvoice, lockInvoices } from './check-payment';
import { paymentNotFound, toPaymentRow } from './queries';
import { agreeRefunds, refundUpTo } from './recorded-refunds';
import type { PaymentChanges, PaymentRow } from './schema';

/** Whoever writes a payment, and the time it is. */
export interface PaymentWriter {
  actor: Actor;
  source: 'api' | 'staff' | 'import';
  now: Date;
  timeZone: string;
  /** When that came back which is recorded as refunded; without it now. */
  refundedAt?: Date;
}

/** How much of a payment came back, where whoever writes it knows: what is not recorded yet becomes a refund. */
export interface Refunded {
  cameBack?: number | undefined;
}

export type StoredPayment = typeof payments.$inferSelect;

/** The columns that a writer may change. */
export const WRITTEN_COLUMNS = [
  'invoice_id',
  'customer_id',
  'amount',
  'currency',
  'payment_date',
  'payment_reference',
  'status',
  'refunded_amount',
] as const;

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
 * Locks the payment of a reference, where there is one, after its invoices, and these in the order of their
 * ids: so does whoever writes payments, sync among them, and nobody waits in a circle. The caller holds the
 * key of the reference.
 *
 * @param target the invoice that it shall be for
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

/** Writes what differs, leaves its audit entry, and settles the invoices it touches; same again, no write. */
export async function changePayment(
  tx: Database,
  { payment: before, invoices }: LockedPayment,
  changes: PaymentChanges & Refunded,
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
  const told = changes.cameBack;
  if (isSame(before, values) && (told === undefined || told === Number(before.refunded_amount)))
    return before;
  // Sync looks for its payment by reference: renamed, it must not be made a second time.
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

/** What came back of a payment once it has other values; of most nothing ever did. */
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

/** Whoever records a refund. */
export const recorderOf = ({ source, now, refundedAt }: PaymentWriter) =>
  ({ source: source === 'api' ? 'api' : 'staff', now: refundedAt ?? now }) as const;

const updateRow = statement(['id', ...WRITTEN_COLUMNS], (db, { id, ...values }) =>
  db
    .update(payments)
    .set({ ...values, version: sql`${payments.version} + 1` })
    .where(eq(payments.id, id))
    .returning(),
);

/** What every write ends with: its audit entry, and the invoices it touched settled. */
export async function finishWrite(
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
  );
}

const leftFor = (invoiceId: number, payment: StoredPayment | null): number =>
  payment?.invoice_id === invoiceId ? leftOf(payment) : 0;

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
