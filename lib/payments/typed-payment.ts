import { and, eq, isNull, ne } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { startOfDay, toCalendarDate } from '../dates';
import { AppError, type FieldError, invalidField } from '../errors';
import { textLine } from '../fields';
import { MAX_ID } from '../page';
import { amountProblem, typedAmount } from '../read-amount';
import { staffRecordWriter } from '../records/record-kind';
import { outdated } from '../records/save-records';
import type { Seen } from '../records/steps';
import type { Written } from '../store/commit';
import { databaseStore } from '../store/store';
import { type PaymentDraft, warnOfExcess } from './decide-payment';
import {
  BANK_RETURN,
  decideTransfer,
  keysOfTransfer,
  type Share,
  type TransferChange,
  type TransferDecision,
  type TransferValues,
  wasReturned,
} from './decide-transfer';
import { findPayableInvoice, getPaymentContext } from './list';
import { getPayment, getTransfer, listUsableCredits } from './queries';
import { cameBackAfter } from './record-imported';
import {
  type CreditSource,
  normalReference,
  type PaymentRow,
  type PaymentWriter,
  type Precondition,
  paymentInput,
  type RefundState,
  type StoredPayment,
} from './schema';
import { decideAndCommit, recordPayment, updatePayment } from './write-payment';

const trimmed = z.string().trim();

/** Schema for an amount that a person typed into a form. The result is a number. */
const amountField = z
  .string()
  .transform((text, { issues }) => {
    const amount = typedAmount(text);
    if (amount !== null) return Number(amount);
    issues.push({ code: 'custom', input: text, message: amountProblem(text) });
    return z.NEVER;
  })
  .pipe(paymentInput.shape.amount);

const typedDate = trimmed.pipe(paymentInput.shape.payment_date);

const typedPayment = z.object({
  amount: amountField,
  payment_date: typedDate,
  payment_reference: z.string().overwrite(normalReference).pipe(paymentInput.shape.payment_reference),
});

/** Field names of the payment form. */
export const TYPED_FIELDS = typedPayment.keyof().options;

/**
 * Converts the values of a filled-in payment form to a payment's fields.
 *
 * @param typed values of `TYPED_FIELDS`
 * @throws AppError validation_failed naming the fields
 */
export function toPayment(typed: Record<string, string>): z.output<typeof typedPayment> {
  return parseTyped(typedPayment, typed, 'The payment is not complete.');
}

/** Parses the values of a form. @throws AppError validation_failed naming the fields */
function parseTyped<T>(schema: z.ZodType<T>, typed: Record<string, string>, message: string): T {
  const parsed = schema.safeParse(typed);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path, message }) => ({ field: String(path[0]), message }));
  throw new AppError('validation_failed', message, fields);
}

/**
 * Records a new, completed payment of an invoice by its customer.
 *
 * @param typed values of `TYPED_FIELDS`
 * @throws AppError validation_failed naming the fields; conflict, e.g. if the reference is taken
 */
export async function recordForInvoice(
  db: Database,
  invoiceId: number,
  typed: Record<string, string>,
  writer: PaymentWriter,
): Promise<PaymentRow> {
  const { invoice, customer } = await findPayableInvoice(db, `#${invoiceId}`);
  const input = { ...toPayment(typed), invoice_id: invoice.id, customer_id: customer.id };
  return (await recordPayment(db, input, writer, { onlyNew: true })).payment;
}

const typedCorrection = typedPayment.extend({ invoice: z.string().trim() });

/** Field names of the form that corrects a payment. */
export const CORRECTION_FIELDS = typedCorrection.keyof().options;

/**
 * Corrects a payment's amount, date, reference or invoice. A new invoice's customer becomes the payment's customer. If
 * the amount, the date or the invoice changes, the journal reverses the payment's entry and adds a new entry. The
 * reversal is posted on the day of the correction, or on the day of the reversed entry if that day is later.
 *
 * @param typed values of `CORRECTION_FIELDS`; the invoice is its number, or `#` and its id
 * @throws AppError validation_failed naming the fields; not_found; precondition_failed; conflict, for example if Stripe
 *   reported the payment
 */
export async function correctPayment(
  db: Database,
  id: number,
  typed: Record<string, string>,
  writer: PaymentWriter,
  precondition: Precondition,
): Promise<PaymentRow> {
  const { invoice, ...values } = parseTyped(typedCorrection, typed, 'The payment is not complete.');
  const payment = await getPayment(db, id);
  if (!isCorrectable(payment)) {
    throw new AppError('conflict', 'Stripe reported this payment: correct it in Stripe.');
  }
  const moved = await targetOf(db, payment, invoice);
  return updatePayment(db, id, { ...values, ...moved }, writer, precondition);
}

/** Returns whether staff may correct a payment. They correct Stripe's payments in Stripe. */
export const isCorrectable = ({ source }: Pick<PaymentRow, 'source'>): boolean => source !== 'stripe';

async function targetOf(db: Database, payment: PaymentRow, text: string) {
  const { invoice: current } = await getPaymentContext(db, payment);
  if (text === current.number || text === `#${current.id}`) return {};
  const { invoice, customer } = await findPayableInvoice(db, text);
  if (invoice.currency !== payment.currency) {
    const [its, ours] = [invoice.currency, payment.currency].map((code) => code.toUpperCase());
    throw invalidField('invoice', `is in ${its}, and the payment in ${ours}`);
  }
  return { invoice_id: invoice.id, customer_id: customer.id };
}

const typedRefund = z.object({ amount: amountField, date: typedDate });

/** Field names of the forms that record a refund, or credit that was paid back. */
export const REFUND_FIELDS = typedRefund.keyof().options;

/** Converts the values of a filled-in refund form. @throws AppError validation_failed naming the fields */
function toRefund(typed: Record<string, string>): z.output<typeof typedRefund> {
  return parseTyped(typedRefund, typed, 'The refund is not complete.');
}

/**
 * Records a full or partial refund of a completed payment. The payment becomes refunded when its whole amount is
 * refunded. This neither moves money nor informs Stripe.
 *
 * @param typed values of `REFUND_FIELDS`
 * @throws AppError validation_failed; not_found; precondition_failed; conflict if the status is not completed
 */
export async function recordTypedRefund(
  db: Database,
  id: number,
  typed: Record<string, string>,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<PaymentRow> {
  const { amount, date } = toRefund(typed);
  const changes = (payment: StoredPayment) => {
    if (payment.status !== 'completed')
      throw new AppError('conflict', 'Only completed payments can be refunded.');
    return {
      cameBack: cameBackAfter(payment, amount, 'must be at most what is left of the payment'),
      refundedAt: instantOf(date, payment, writer),
    };
  };
  return updatePayment(db, id, changes, writer, precondition);
}

/** Returns the time of a refund: now if its date is today, otherwise the start of that date. */
function instantOf(date: string, { payment_date }: StoredPayment, { now, timeZone }: PaymentWriter): Date {
  const today = toCalendarDate(now, timeZone);
  if (date > today) throw invalidField('date', 'must not be in the future');
  if (date < payment_date) throw invalidField('date', 'must not be before the payment');
  return date === today ? now : startOfDay(date, timeZone);
}

/** Returns the `PaymentWriter` for a member of staff. */
export function staffWriter(...by: Parameters<typeof staffRecordWriter>): PaymentWriter {
  return { ...staffRecordWriter(...by), source: 'staff' };
}

const typedTransfer = z.object({
  method: z
    .string()
    .trim()
    .transform((text) => text || null)
    .pipe(textLine(100).nullable()),
});

/** Field names of the transfer form. In addition, `share_N` is the share of the invoice with id N. */
export const TRANSFER_FIELDS = ['amount', 'payment_date', 'payment_reference', 'method'] as const;

function toValues(typed: Record<string, string>): TransferValues {
  const { payment_reference: reference, ...values } = toPayment(typed);
  return { ...values, ...parseTyped(typedTransfer, typed, 'The transfer is not complete.'), reference };
}

function toShares(typed: Record<string, string>): Share[] {
  const problems: FieldError[] = [];
  const shares = Object.entries(typed).flatMap(([field, text]) => {
    const [, id] = /^share_(\d{1,10})$/.exec(field) ?? [];
    const amount = Number(typedAmount(text) ?? Number.NaN);
    if (id === undefined || text.trim() === '' || amount === 0) return [];
    if (!(amount > 0)) problems.push({ field, message: amountProblem(text) });
    return [{ invoice_id: Math.min(Number(id), MAX_ID), amount }];
  });
  if (problems.length > 0) throw new AppError('validation_failed', 'The transfer is not complete.', problems);
  return shares;
}

/**
 * Records a customer's transfer, which can pay several invoices. The amount that exceeds the shares becomes the
 * customer's credit.
 *
 * @param typed values of `TRANSFER_FIELDS` and of the fields `share_N`
 * @returns the id of the transfer
 * @throws AppError validation_failed naming the fields; conflict if the reference is taken; not_found
 */
export async function recordTransfer(
  db: Database,
  customer_id: number,
  currency: string,
  typed: Record<string, string>,
  writer: PaymentWriter,
): Promise<number> {
  const values = toValues(typed);
  const shares = toShares(typed);
  const [customer] = await db
    .select({ id: customers.id })
    .from(customers)
    .where(and(eq(customers.id, Math.min(customer_id, MAX_ID)), isNull(customers.erased_at)));
  if (!customer) throw new AppError('not_found', 'The customer no longer exists, or was erased.');
  const { transfer } = await writeTransfer(
    db,
    { kind: 'record', customer_id, currency, values, shares },
    writer,
  );
  return transfer?.id ?? 0;
}

/**
 * Reads the current reference of the transfer to change, and keeps the version that the page showed. If the transfer
 * has changed since, the versions differ and the write is refused.
 */
async function toSeen(db: Database, { id, version }: Seen) {
  const { reference } = await getTransfer(db, id);
  return { reference, version };
}

/**
 * Corrects amount, date, reference and method of a transfer, and date and reference of its payments.
 *
 * @throws AppError not_found; precondition_failed; validation_failed, for example if the new amount is less than was
 *   used to pay invoices or paid back; conflict if the new reference is taken
 */
export async function correctTransfer(
  db: Database,
  seen: Seen,
  typed: Record<string, string>,
  writer: PaymentWriter,
): Promise<void> {
  const change = { kind: 'correct', seen: await toSeen(db, seen), values: toValues(typed) } as const;
  await writeTransfer(db, change, writer);
}

/**
 * Deletes a transfer with all its payments.
 *
 * @param onlyKept whether to refuse if money of the transfer was paid back, refunded or returned
 * @throws AppError not_found; precondition_failed; conflict in the case of `onlyKept`
 */
export async function deleteTransfer(
  db: Database,
  seen: Seen,
  writer: PaymentWriter,
  { onlyKept }: { onlyKept?: boolean } = {},
): Promise<void> {
  await writeTransfer(db, { kind: 'delete', seen: await toSeen(db, seen), onlyKept }, writer);
}

/**
 * Records that a part of a transfer's credit was paid back. This moves no money.
 *
 * @param typed values of `REFUND_FIELDS`
 * @throws AppError not_found; precondition_failed; validation_failed; conflict if it was paid back too often
 */
export async function payBackCredit(
  db: Database,
  seen: Seen,
  typed: Record<string, string>,
  writer: PaymentWriter,
): Promise<void> {
  const change = { kind: 'pay_back', seen: await toSeen(db, seen), ...toRefund(typed) } as const;
  await writeTransfer(db, change, writer);
}

/**
 * Removes the amount at a position of `paid_back`.
 *
 * @throws AppError not_found; precondition_failed; conflict if the bank returned the amount
 */
export async function undoPayBack(
  db: Database,
  seen: Seen,
  position: number,
  writer: PaymentWriter,
): Promise<void> {
  await writeTransfer(db, { kind: 'undo_pay_back', seen: await toSeen(db, seen), position }, writer);
}

/**
 * Records that the bank took back a whole transfer, so that its invoices become due again.
 *
 * @param date day of the return
 * @throws AppError not_found; precondition_failed; conflict if a part was refunded or paid back before
 */
export async function returnTransfer(
  db: Database,
  seen: Seen,
  date: string,
  writer: PaymentWriter,
): Promise<void> {
  await writeTransfer(db, { kind: 'return', seen: await toSeen(db, seen), date }, writer);
}

/** Undoes the recorded return of a transfer. @throws AppError not_found; precondition_failed; validation_failed */
export async function undoTransferReturn(db: Database, seen: Seen, writer: PaymentWriter): Promise<void> {
  await writeTransfer(db, { kind: 'undo_return', seen: await toSeen(db, seen) }, writer);
}

/**
 * Records that the bank took back a payment without a transfer, so that its invoice becomes due again.
 *
 * @param date day of the return
 * @throws AppError not_found; conflict if the payment belongs to Stripe or to a transfer, is not completed, or was
 *   refunded before
 */
export async function returnPayment(
  db: Database,
  id: number,
  date: string,
  writer: PaymentWriter,
): Promise<void> {
  const changes = ({ transfer, source, status, amount, refunded_amount }: StoredPayment) => {
    const isWhole = status === 'completed' && Number(refunded_amount) === 0;
    if (transfer !== null || source === 'stripe' || !isWhole) {
      throw new AppError('conflict', 'Only a whole payment that Stripe did not report can be returned.');
    }
    const refund = { refundedAt: startOfDay(date, writer.timeZone), refundReason: BANK_RETURN };
    return { cameBack: Number(amount), ...refund };
  };
  await updatePayment(db, id, changes, writer);
}

/** Undoes the recorded return of a payment, if there is one. @throws AppError not_found; validation_failed */
export async function undoPaymentReturn(db: Database, id: number, writer: PaymentWriter): Promise<void> {
  const changes = (payment: StoredPayment, refunds: RefundState[]) =>
    wasReturned(payment, refunds) ? { status: 'completed' as const } : {};
  await updatePayment(db, id, changes, writer);
}

/** Maximum number of credit sources for one payment with credit. Each source can add a payment. */
const MAX_SOURCES = 20;

/**
 * Pays an invoice with its customer's credit in the same currency. Uses the oldest credit first.
 *
 * @param seen id of the invoice, and the version that the page showed. The version keeps a form that is sent twice from
 *   paying twice, because such a payment has no reference of its own.
 * @param text the amount as a person typed it
 * @throws AppError, for example not_found, precondition_failed, or validation_failed at `amount`
 */
export async function applyCredit(
  db: Database,
  { id: invoice_id, version }: Seen,
  text: string,
  writer: PaymentWriter,
): Promise<void> {
  const amount = Number(typedAmount(text) ?? Number.NaN);
  if (!(amount > 0)) throw invalidField('amount', amountProblem(text));
  const [invoice] = await db
    .select(pickColumns(invoices, 'customer_id', 'currency'))
    .from(invoices)
    .where(and(eq(invoices.id, Math.min(invoice_id, MAX_ID)), ne(invoices.status, 'draft')));
  if (!invoice) throw new AppError('not_found', `There is no issued invoice ${invoice_id}.`);
  const credits = await listUsableCredits(db, invoice.customer_id);
  const credit = credits.find(({ currency }) => currency === invoice.currency);
  const isElsewhere = (source: CreditSource) => !('invoice' in source) || source.invoice !== invoice_id;
  const all = (credit?.sources ?? []).filter(isElsewhere);
  const [sources, hasMore] = [all.slice(0, MAX_SOURCES), all.length > MAX_SOURCES];
  await writeTransfer(db, { kind: 'use_credit', invoice_id, amount, sources, hasMore }, writer, (draft) => {
    if (draft.invoices.get(invoice_id)?.version !== version) throw outdated();
  });
}

/**
 * Reads, decides and commits one change.
 *
 * @param check function that may refuse the change. It sees the rows on which the change is decided.
 * @throws AppError if it is refused, see `decideTransfer`
 */
async function writeTransfer(
  db: Database,
  change: TransferChange,
  writer: PaymentWriter,
  check: (draft: PaymentDraft) => void = () => {},
): Promise<TransferDecision> {
  const { result, written } = await decideAndCommit(databaseStore(db), turnOf(change), writer, {
    keys: () => keysOfTransfer(change),
    decide: (draft) => {
      check(draft);
      return decideTransfer(draft, change, writer);
    },
    conclude: (draft, decision) => {
      for (const one of decision.payments) warnOfExcess(draft, one);
      return decision;
    },
  });
  return written ? withIds(result, written) : result;
}

function turnOf(change: TransferChange): string {
  if (change.kind === 'record') return `transfer ${change.values.reference}`;
  return change.kind === 'use_credit' ? `invoice ${change.invoice_id}` : `transfer ${change.seen.reference}`;
}

function withIds({ transfer, payments }: TransferDecision, { ids }: Written): TransferDecision {
  return { transfer: transfer && { ...transfer, id: ids.get(transfer.id) ?? transfer.id }, payments };
}
