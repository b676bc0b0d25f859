import type { PgColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { type Database, inTexts } from '@/db/database';
import { importedRefunds, payments } from '@/db/schema';
import { findCustomerIds } from '../customers/merged-customers';
import { startOfDay } from '../dates';
import { AppError, type FieldError, toFieldErrors } from '../errors';
import { textLine } from '../fields';
import {
  type GivenPayment,
  type Recorded,
  recordGivenRefund,
  recordPayments,
} from '../payments/record-imported';
import { normalReference, paymentInput } from '../payments/schema';
import { recordPayment } from '../payments/write-payment';
import { amountProblem, amount as anyAmount, currencyCode, instantOrDay, toInstant } from '../records/fields';
import type { RecordWriter, Saved } from '../records/record-kind';
import type { ImportKind, Refused } from './import-kind';
import { findInvoices, type NamedInvoice, noInvoice } from './line-import';

const { payment_reference, amount, payment_date, status } = paymentInput.shape;

const fields = z.strictObject({
  payment_reference,
  /** Reference under which an earlier import may have recorded the payment or refund. */
  import_key: payment_reference.optional(),
  /** Reference of the refunded payment. If it has a value, the row is a refund and not a payment. */
  refund_of: payment_reference.nullable().optional(),
  invoice_number: textLine(255).nullable().optional(),
  invoice_import_key: textLine(200).nullable().optional(),
  stripe_invoice_id: textLine(255).nullable().optional(),
  customer_number: textLine(100).optional(),
  amount,
  currency: currencyCode.optional(),
  payment_date,
  status,
  refunded_amount: anyAmount.optional(),
  /** Time of the last refund. Defaults to the payment's date. */
  refunded_at: instantOrDay.nullable().optional(),
});
type PaymentFields = z.infer<typeof fields>;

/**
 * Imports payments and refunds. A payment is applied to its invoice, but never reopens an invoice that was imported as
 * paid.
 */
export const paymentImport: ImportKind = {
  fields,
  keys: ['payment_reference'],
  toKey: normalReference,
  namesEarlier: 'refund_of',
  async save(db, drafts, writer) {
    const parsed = await withEarlierReferences(
      db,
      drafts.map(({ values }) => fields.safeParse(values)),
    );
    const good = parsed.flatMap(({ data }) => data ?? []);
    const invoiceOf = await findInvoices(db, good);
    const customers = await findCustomerIds(
      db,
      good.flatMap(({ customer_number }) => customer_number ?? []),
    );
    const planned = parsed.map(({ data, error }) =>
      data ? plan(data, invoiceOf(data), customers, writer) : toRefused(error.issues),
    );
    const together = planned.flatMap((one) => ('payment' in one ? one.payment : []));
    const recorded = (await recordPayments(db, together, { ...writer, source: 'import' })).values();
    const saved: Saved[] = [];
    // `recordPayments` has written most payments together. Refunds and the other payments are written one by one, in
    // the order of the file, because a refund may refer to a payment of this batch.
    for (const one of planned) {
      if ('refund' in one) saved.push(await orRefused(recordRefund(db, one.refund, writer)));
      else if ('outcome' in one) saved.push(one);
      else saved.push(await orRefused(finish(db, one.payment, recorded.next().value, writer)));
    }
    return saved;
  },
};

type Parsed = ReturnType<typeof fields.safeParse>;

/**
 * Replaces the reference of a payment or refund with its import key if an earlier import used the key as reference.
 * This prevents duplicates.
 */
async function withEarlierReferences(db: Database, parsed: Parsed[]): Promise<Parsed[]> {
  const keys = parsed.flatMap(({ data }) => data?.import_key ?? []);
  if (keys.length === 0) return parsed;
  const find = (column: PgColumn) =>
    db.select({ key: column }).from(column.table).where(inTexts(column, keys));
  const found = await Promise.all([find(payments.payment_reference), find(importedRefunds.reference)]);
  const known = new Set(found.flat().map(({ key }) => key));
  const earlier = new Map(
    parsed.flatMap(({ data }) =>
      data?.import_key && known.has(data.import_key) ? [[data.payment_reference, data.import_key]] : [],
    ),
  );
  const nameOf = (reference: string) => earlier.get(reference) ?? reference;
  return parsed.map((one) => {
    if (!one.data) return one;
    const { payment_reference, refund_of } = one.data;
    const names = { payment_reference: nameOf(payment_reference), refund_of: refund_of && nameOf(refund_of) };
    return { ...one, data: { ...one.data, ...names } };
  });
}

type Refund = PaymentFields & { refund_of: string };
type Planned = { payment: GivenPayment } | { refund: Refund } | Refused;

/** Decides whether a row is a payment or a refund, or is refused. @param customers customer ids by customer number */
function plan(
  row: PaymentFields,
  invoice: NamedInvoice | undefined,
  customers: Map<string, number>,
  { timeZone }: RecordWriter,
): Planned {
  if (row.refund_of != null) return { refund: { ...row, refund_of: row.refund_of } };
  const problems = invoice ? problemsOf(row, invoice, customers) : [noInvoice(row)];
  if (!invoice || problems.length > 0) return { outcome: 'refused', problems };
  const { payment_reference, amount, payment_date, status, refunded_at, refunded_amount: cameBack } = row;
  const given = { payment_reference, amount, payment_date, status, cameBack };
  const refundedAt = toInstant(refunded_at, timeZone) ?? startOfDay(payment_date, timeZone);
  return { payment: { ...given, invoice_id: invoice.id, customer_id: invoice.customer_id, refundedAt } };
}

/** Returns the outcome of a payment. If the payment was not written together with others, writes it now. */
async function finish(
  db: Database,
  payment: GivenPayment,
  recorded: Recorded | undefined,
  writer: RecordWriter,
): Promise<Saved> {
  if (!recorded) throw new Error('a payment was lost');
  if (recorded.outcome !== 'alone') return recorded;
  // The file may be older than a refund, or contain the refund as another row, so importing `completed` must not undo
  // the refund.
  const before = recorded.payment;
  const isOlder = payment.status === 'completed' && before?.status === 'refunded';
  const given = isOlder ? { ...payment, status: undefined } : payment;
  const { payment: after, created } = await recordPayment(db, given, { ...writer, source: 'import' });
  const isSame = before?.updated_at.toISOString() === after.updated_at;
  return { outcome: created ? 'created' : isSame ? 'unchanged' : 'changed', id: after.id };
}

function recordRefund(db: Database, { refund_of, ...refund }: Refund, writer: RecordWriter) {
  const { payment_reference: reference, amount, currency, payment_date: date } = refund;
  const refundedAt = startOfDay(date, writer.timeZone);
  const given = { reference, payment_reference: refund_of, amount, currency, date, refundedAt };
  return recordGivenRefund(db, given, { ...writer, source: 'import' });
}

async function orRefused(saving: Promise<Saved>): Promise<Saved> {
  const saved = await saving.catch((error: unknown): Saved => {
    if (!(error instanceof AppError) || !['validation_failed', 'conflict'].includes(error.code)) throw error;
    return { outcome: 'refused', problems: error.fields };
  });
  return saved.outcome === 'refused' ? { ...saved, problems: saved.problems.map(toOurField) } : saved;
}

function problemsOf(payment: PaymentFields, invoice: NamedInvoice, customers: Map<string, number>) {
  const { customer_number, currency, refunded_amount, amount, status } = payment;
  const problems: FieldError[] = [];
  if (customer_number && customers.get(customer_number) !== invoice.customer_id) {
    problems.push({ field: 'customer_number', message: 'is not the customer of the invoice' });
  }
  if (currency && currency !== invoice.currency) {
    problems.push({ field: 'currency', message: `must be ${invoice.currency}, as the invoice's` });
  }
  if (refunded_amount !== undefined && refunded_amount > amount) {
    problems.push({ field: 'refunded_amount', message: 'is more than the payment' });
  }
  if (refunded_amount !== undefined && refunded_amount < amount && status === 'refunded') {
    problems.push({ field: 'refunded_amount', message: 'is less than the refunded payment' });
  }
  const decimals = amountProblem(refunded_amount, invoice.currency);
  if (decimals) problems.push({ field: 'refunded_amount', message: decimals });
  return problems;
}

const toRefused = (issues: z.core.$ZodIssue[]): Planned => ({
  outcome: 'refused',
  problems: toFieldErrors(issues),
});

const toOurField = ({ field, message }: FieldError): FieldError =>
  field === 'invoice_id' || field === 'customer_id'
    ? { field: 'invoice_number', message }
    : { field, message };
