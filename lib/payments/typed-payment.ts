import { and, asc, desc, eq, inArray, like, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { findCustomers } from '../customers/find-customers';
import { spellings } from '../customers/match-customer';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { customerQuery } from '../customers/schema';
import { startOfDay, toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import { textLine } from '../fields';
import { matchInvoice } from '../invoices/queries';
import { takesPayments } from '../invoices/settle';
import { toJsonAmounts } from '../money';
import { literal } from '../page-query';
import { ambiguityProblem, typedAmount, typedAmounts } from '../read-amount';
import { staffRecordWriter } from '../records/record-kind';
import { containsPattern, prefixPattern } from '../search-text';
import { getPaymentContext } from './list';
import { getPayment } from './queries';
import { cameBackAfter } from './record-imported';
import {
  normalReference,
  type PaymentRow,
  type PaymentWriter,
  type Precondition,
  paymentInput,
  type StoredPayment,
} from './schema';
import { recordPayment, updatePayment } from './write-payment';

const trimmed = z.string().trim();

/** Schema for an amount that a person typed into a form. The result is a number. */
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

/** Schema of the payment form. */
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
 * @param typed values of `TYPED_FIELDS`
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

/** Field names of the form that corrects a payment. */
export const CORRECTION_FIELDS = typedCorrection.keyof().options;

/**
 * Corrects a payment's amount, date, reference or invoice. If the new invoice belongs to another customer, so
 * does the payment. The journal reverses the old payment, in the current month if its month is over.
 *
 * @param typed values of `CORRECTION_FIELDS`; the invoice is its number, or `#` and its id
 * @throws AppError validation_failed naming the fields; not_found; precondition_failed; conflict if the reference is
 *   taken, or Stripe reported the payment
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

/** Returns whether staff may correct a payment. Stripe's payments can be corrected only in Stripe. */
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

/** Field names of the form that records a refund. */
export const REFUND_FIELDS = typedRefund.keyof().options;

/**
 * Records a full or partial refund of a completed payment. The payment becomes refunded when its whole amount is
 * refunded. This moves no money and does not inform Stripe.
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
  const { amount, date } = parseTyped(typedRefund, typed, 'The refund is not complete.');
  const changes = (payment: StoredPayment) => {
    if (payment.status !== 'completed')
      throw new AppError('conflict', 'Only completed payments are refunded.');
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

/** Returns the writer for a payment by a member of staff. */
export function staffWriter(...by: Parameters<typeof staffRecordWriter>): PaymentWriter {
  return { ...staffRecordWriter(...by), source: 'staff' };
}

/** Maximum number of invoices that a search returns, so that a person can read the list. */
const MAX_FOUND = 20;
/** Condition for unpaid invoices, with the same literals as in their partial indexes. */
const isUnpaid = sql`${invoices.status} in ('sent', 'overdue')`;

/**
 * Finds invoices that a payment may belong to: by customer, part of a number, amount due or total.
 *
 * @param text search text, such as a line of a bank statement
 * @returns at most 20 invoices: first unpaid ones, then paid ones that match by number or customer
 */
export async function findPayableInvoices(db: Database, text: string) {
  const query = customerQuery.safeParse(text);
  if (!query.success) return [];
  const people = (await findCustomers(db, query.data)).matches.map(({ id }) => id);
  const ofPeople = people.length > 0 ? [inArray(invoices.customer_id, people)] : [];
  const starts = spellings(text)
    .filter(Boolean)
    .map((start) => like(invoices.number, prefixPattern(start)));
  const unpaid = [
    ...typedAmounts(text).flatMap((amount) => [eq(invoices.amount_due, amount), eq(invoices.total, amount)]),
    ...spellings(text)
      .filter(Boolean)
      .map((part) => like(invoices.number, containsPattern(part))),
    ...ofPeople,
  ];
  const found = [];
  for (const matches of unpaid)
    found.push(...(await read(db, and(isUnpaid, matches), asc(invoices.due_date))));
  for (const matches of [...starts, ...ofPeople]) {
    if (distinct(found).length < MAX_FOUND) {
      found.push(...(await read(db, and(eq(invoices.status, 'paid'), matches), desc(invoices.invoice_date))));
    }
  }
  return distinct(found).slice(0, MAX_FOUND);
}

async function read(db: Database, where: SQL | undefined, order: SQL) {
  const rows = await db
    .select({
      ...pickColumns(invoices, 'id', 'number', 'status', 'invoice_date', 'due_date', 'currency'),
      ...pickColumns(invoices, 'total', 'amount_due'),
      customer: snippetColumns,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(where)
    .orderBy(order, asc(invoices.id))
    .limit(literal(MAX_FOUND));
  return rows.map((invoice) => ({
    ...toJsonAmounts(invoice, 'total', 'amount_due'),
    customer: toCustomerSnippet(invoice.customer),
  }));
}

function distinct<Row extends { id: number }>(rows: Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

const MAX_NAMED = 5;

/**
 * Finds the invoice that staff entered, with its customer, and checks that it takes payments.
 *
 * @param text the invoice's number, or `#` and its id
 * @throws AppError validation_failed at the field `invoice`
 */
export async function findPayableInvoice(db: Database, text: string) {
  const named = textLine(100).safeParse(text);
  if (!named.success) throw invalidField('invoice', named.error.issues[0]?.message ?? '');
  const found = await db
    .select({ id: invoices.id, customer_id: invoices.customer_id, status: invoices.status })
    .from(invoices)
    .where(matchInvoice(text))
    .orderBy(invoices.id)
    .limit(literal(MAX_NAMED));
  const [invoice, another] = found;
  if (!invoice) throw invalidField('invoice', 'there is no such invoice');
  if (another) {
    const ids = found.map(({ id }) => `#${id}`).join(', ');
    throw invalidField('invoice', `is a number of several invoices: enter one of ${ids}`);
  }
  if (!takesPayments(invoice)) throw invalidField('invoice', `is ${invoice.status} and takes no payment`);
  return getPaymentContext(db, { invoice_id: invoice.id, customer_id: invoice.customer_id });
}
