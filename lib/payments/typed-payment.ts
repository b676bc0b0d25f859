import { z } from 'zod';
import type { Database } from '@/db/database';
import { transact } from '@/db/transaction';
import { startOfDay, toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import { toAmountText, toThousandths } from '../money';
import { ambiguityProblem, typedAmount } from '../read-amount';
import { amountProblem } from '../records/fields';
import { staffRecordWriter } from '../records/record-kind';
import { lockPayment, type Precondition, readPayment } from './lock-payment';
import { findPayableInvoice } from './payable-invoices';
import { getPayment, getPaymentContext } from './queries';
import { normalReference, type PaymentRow, paymentInput, type StoredPayment, toPaymentRow } from './schema';
import { changePayment, type PaymentWriter, recordPayment, updatePayment } from './write-payment';

const trimmed = z.string().trim();

/** An amount as a person types it. */
const amountField = z
  .string()
  .transform((text, { issues }) => {
    const amount = typedAmount(text);
    if (amount !== null) return Number(amount);
    issues.push({
      code: 'custom',
      input: text,
      message: ambiguityProblem(text) ?? 'must be a number like 1119.00',
    });
    return z.NEVER;
  })
  .pipe(paymentInput.shape.amount);

const typedDate = trimmed.pipe(paymentInput.shape.payment_date);

/** A payment as a person types it. */
const typedPayment = z.object({
  amount: amountField,
  payment_date: typedDate,
  payment_reference: z.string().overwrite(normalReference).pipe(paymentInput.shape.payment_reference),
});

/** Names of its fields. */
export const TYPED_FIELDS = typedPayment.keyof().options;

/**
 * @param typed `TYPED_FIELDS` as they were typed
 * @throws AppError validation_failed naming the fields
 */
export function toPayment(typed: Record<string, string>): z.output<typeof typedPayment> {
  return parseTyped(typedPayment, typed, 'The payment is not complete.');
}

/** @throws AppError validation_failed naming the fields */
function parseTyped<T>(schema: z.ZodType<T>, typed: Record<string, string>, message: string): T {
  const parsed = schema.safeParse(typed);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path, message }) => ({ field: String(path[0]), message }));
  throw new AppError('validation_failed', message, fields);
}

/**
 * Records a new, completed payment of an invoice by its customer.
 *
 * @param typed `TYPED_FIELDS` as they were typed
 * @throws AppError validation_failed naming the fields; conflict when the reference is taken
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

/** Names of the fields of a correction. */
export const CORRECTION_FIELDS = typedCorrection.keyof().options;

/**
 * Corrects what was recorded of a payment: its amount, day, reference or invoice. A payment that is moved to another
 * customer's invoice becomes that customer's. The books take the old payment back in this month if its own is over.
 *
 * @param typed `CORRECTION_FIELDS` as they were typed; the invoice by its number, or `#` and its id
 * @throws AppError validation_failed naming the fields; not_found; precondition_failed; conflict if the reference is
 *   taken, or the payment is Stripe's
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

/** What Stripe reported stays as Stripe has it. */
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

/** Names of the fields of a refund. */
export const REFUND_FIELDS = typedRefund.keyof().options;

/**
 * Records that a completed payment, or a part of it, was paid back. It is refunded once all of it was. Nothing is
 * moved, and Stripe is not told.
 *
 * @param typed `REFUND_FIELDS` as they were typed
 * @throws AppError validation_failed naming the fields; not_found; precondition_failed; conflict where it is not completed
 */
export async function recordTypedRefund(
  db: Database,
  id: number,
  typed: Record<string, string>,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<PaymentRow> {
  const { amount, date } = parseTyped(typedRefund, typed, 'The refund is not complete.');
  return transact(
    db,
    async (tx) => {
      const seen = await readPayment(tx, id);
      const locked = await lockPayment(tx, seen, seen.invoice_id, precondition);
      const { payment } = locked;
      if (payment.status !== 'completed')
        throw new AppError('conflict', 'Only completed payments are refunded.');
      const cameBack = cameBackAfter(payment, amount);
      const refundedAt = instantOf(date, payment, writer);
      return toPaymentRow(await changePayment(tx, locked, { cameBack }, { ...writer, refundedAt }));
    },
    `payment ${id}`,
  );
}

function cameBackAfter({ amount, refunded_amount, currency }: StoredPayment, more: number): number {
  const problem = amountProblem(more, currency);
  if (problem) throw invalidField('amount', problem);
  const back = toThousandths(refunded_amount) + toThousandths(String(more));
  if (back <= toThousandths(amount)) return back / 1000;
  const left = (toThousandths(amount) - toThousandths(refunded_amount)) / 1000;
  const text = toAmountText(String(left), currency);
  throw invalidField('amount', `must be at most what is left of the payment: ${text}`);
}

/** Today it was now; of another day its beginning is all that is known. */
function instantOf(date: string, { payment_date }: StoredPayment, { now, timeZone }: PaymentWriter): Date {
  const today = toCalendarDate(now, timeZone);
  if (date > today) throw invalidField('date', 'must not be in the future');
  if (date < payment_date) throw invalidField('date', 'must not be before the payment');
  return date === today ? now : startOfDay(date, timeZone);
}

/** A payment written by a member of staff. */
export function staffWriter(...by: Parameters<typeof staffRecordWriter>): PaymentWriter {
  return { ...staffRecordWriter(...by), source: 'staff' };
}
