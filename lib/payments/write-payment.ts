import { eq, sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { payments, paymentTombstones } from '@/db/schema';
import { answersOf } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import { bookEntries } from '../book-entries';
import { toCalendarDate } from '../dates';
import { invalidField } from '../errors';
import { leftOf, settleInvoice } from '../invoices/settle';
import { fromThousandths } from '../money';
import { staffRecordWriter } from '../records/record-kind';
import {
  checkPayment,
  type LockedInvoice,
  type LockedPayment,
  meantCustomer,
  refuseFuture,
  type StoredPayment,
  takesPayments,
  tookPayments,
} from './lock-payment';
import { paymentNotFound } from './queries';
import { agreeRefunds, refundUpTo, statusAfter } from './refunds';
import type { PaymentChanges, PaymentInput } from './schema';
import { refuseCounted } from './stripe-payment';

/** Who writes a payment, and when. */
export interface PaymentWriter {
  actor: Actor;
  source: 'api' | 'staff' | 'import';
  now: Date;
  timeZone: string;
  /** When that came back which is recorded as refunded; without it now. */
  refundedAt?: Date;
}

/** A payment written by a program that holds an access token. */
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

/** A payment written by a member of staff. */
export function staffWriter(...by: Parameters<typeof staffRecordWriter>): PaymentWriter {
  return { ...staffRecordWriter(...by), source: 'staff' };
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

/** The columns that a new payment is written with. */
export const NEW_COLUMNS = [...WRITTEN_COLUMNS, 'source'] as const;

/**
 * A new payment as it is written. What of it came back is its refund, which the caller records.
 *
 * @throws AppError validation_failed when it does not fit its invoice
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

/** The refunded amount, if the writer states it. The part that is not recorded yet becomes a refund. */
export interface Refunded {
  cameBack?: number | undefined;
}

/** Writes what differs, leaves its audit entry, and settles the invoices it touches; same again, no write. */
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
  // A payment that was stored with a later day can still change otherwise.
  if (wanted.payment_date !== before.payment_date || wanted.status !== before.status) {
    refuseFuture(wanted, writer);
  }
  if (moved || wanted.payment_reference !== before.payment_reference) {
    if (before.source !== 'stripe') await refuseCounted(tx, wanted, before.id);
  }
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

/** Who records a refund. */
export const recorderOf = ({ source, now, refundedAt }: PaymentWriter) =>
  ({ source: source === 'api' ? 'api' : 'staff', now: refundedAt ?? now }) as const;

const updateRow = statement(['id', ...WRITTEN_COLUMNS], (db, { id, ...values }) =>
  db
    .update(payments)
    .set({ ...values, version: sql`${payments.version} + 1` })
    .where(eq(payments.id, id))
    .returning(),
);

/** What every write ends with: its audit entry, the invoices it touched settled, and the books. */
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
    bookEntries(tx, { payments: [entity_id] }, { now, timeZone }),
  );
}

const leftFor = (invoiceId: number, payment: StoredPayment | null): number =>
  payment?.invoice_id === invoiceId ? leftOf(payment) : 0;

/** Keeps sync from making a payment of this reference again. */
export async function leaveTombstone(tx: Database, reference: string): Promise<void> {
  await tx.insert(paymentTombstones).values({ reference }).onConflictDoNothing();
}

/** Whether a payment already has the requested values. */
export const isAlready = (payment: StoredPayment, changes: PaymentChanges & Refunded): boolean =>
  isSame(payment, withChanges(payment, changes), changes.cameBack);

/** A payment's fields once they are changed. */
const withChanges = (before: StoredPayment, changes: PaymentChanges) => ({
  invoice_id: changes.invoice_id ?? before.invoice_id,
  customer_id: changes.customer_id ?? before.customer_id,
  amount: changes.amount ?? Number(before.amount),
  payment_date: changes.payment_date ?? before.payment_date,
  payment_reference: changes.payment_reference ?? before.payment_reference,
  status: changes.status ?? before.status,
});

/** @param told how much came back, where the writer knows */
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
