import { inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { findCustomerIds } from '../../customers/merged-customers';
import { startOfDay } from '../../dates';
import { AppError, type FieldError } from '../../errors';
import { textLine } from '../../fields';
import { normalReference } from '../../payments/normal-reference';
import { recordGivenRefund } from '../../payments/record-given-refund';
import { recordPayment } from '../../payments/record-payment';
import { paymentInput } from '../../payments/schema';
import {
  amountProblem,
  amount as anyAmount,
  currencyCode,
  instantOrDay,
  toInstant,
} from '../../records/fields';
import type { RecordWriter, Saved } from '../../records/record-kind';
import type { ImportKind } from '../import-kind';
import { findInvoices, type NamedInvoice, noInvoice } from './named-invoices';

const { payment_reference, amount, payment_date, status } = paymentInput.shape;

const fields = z.strictObject({
  payment_reference,
  /** The payment that came back: the row is a refund of it, and nothing that was paid. */
  refund_of: payment_reference.nullable().optional(),
  invoice_number: textLine(255).nullable().optional(),
  invoice_import_key: textLine(200).nullable().optional(),
  stripe_invoice_id: textLine(255).nullable().optional(),
  customer_number: textLine(100).optional(),
  amount,
  currency: currencyCode.optional(),
  payment_date,
  status,
  /** How much of it came back, and when the last of it did; without that on the day of the payment. */
  refunded_amount: anyAmount.optional(),
  refunded_at: instantOrDay.nullable().optional(),
});
type PaymentFields = z.infer<typeof fields>;

/** Payments, each recorded as if a program had sent it: it settles its invoice, but opens none again that came as paid. */
export const paymentImport: ImportKind = {
  fields,
  keys: ['payment_reference'],
  toKey: normalReference,
  namesEarlier: 'refund_of',
  async save(db, drafts, writer) {
    const parsed = drafts.map(({ values }) => fields.safeParse(values));
    const good = parsed.flatMap(({ data }) => data ?? []);
    const invoiceOf = await findInvoices(db, good);
    const customers = await findCustomerIds(
      db,
      good.flatMap(({ customer_number }) => customer_number ?? []),
    );
    const known = await findKnown(
      db,
      good.map((payment) => payment.payment_reference),
    );
    const saved: Saved[] = [];
    for (const { data, error } of parsed) saved.push(data ? await take(data) : toRefused(error.issues));
    return saved;

    async function take(row: PaymentFields): Promise<Saved> {
      try {
        return row.refund_of == null
          ? await record(db, row, { invoice: invoiceOf(row), customers, known }, writer)
          : await recordRefund(db, { ...row, refund_of: row.refund_of }, writer);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
        return { outcome: 'refused', problems: error.fields.map(toOurField) };
      }
    }
  },
};

/** What the file's rows name. */
interface Known {
  invoice: NamedInvoice | undefined;
  /** Ids by number. */
  customers: Map<string, number>;
  /** When each payment was written last, by reference. */
  known: Map<string, string>;
}

async function record(
  db: Database,
  payment: PaymentFields,
  { invoice, customers, known }: Known,
  { actor, now, timeZone }: RecordWriter,
): Promise<Saved> {
  const problems = problemsOf(payment, { invoice, customers });
  if (!invoice || problems.length > 0) return { outcome: 'refused', problems };
  const { payment_reference: reference, refunded_at, refunded_amount, ...rest } = payment;
  const { payment: recorded, created } = await recordPayment(
    db,
    {
      payment_reference: reference,
      amount: rest.amount,
      payment_date: rest.payment_date,
      status: rest.status,
      cameBack: refunded_amount,
      invoice_id: invoice.id,
      customer_id: invoice.customer_id,
    },
    {
      actor,
      source: 'import',
      now,
      timeZone,
      refundedAt: toInstant(refunded_at, timeZone) ?? startOfDay(rest.payment_date, timeZone),
    },
  );
  const isSame = known.get(reference) === recorded.updated_at;
  return { outcome: created ? 'created' : isSame ? 'unchanged' : 'changed', id: recorded.id };
}

function recordRefund(
  db: Database,
  {
    refund_of,
    payment_reference: reference,
    amount,
    currency,
    payment_date,
  }: PaymentFields & { refund_of: string },
  { actor, now, timeZone }: RecordWriter,
): Promise<Saved> {
  const refundedAt = startOfDay(payment_date, timeZone);
  return recordGivenRefund(
    db,
    { reference, payment_reference: refund_of, amount, currency, date: payment_date },
    { actor, source: 'import', now, timeZone, refundedAt },
  );
}

function problemsOf(
  payment: PaymentFields,
  { invoice, customers }: Pick<Known, 'invoice' | 'customers'>,
): FieldError[] {
  if (!invoice) return [noInvoice(payment)];
  const { customer_number, currency, refunded_amount, amount } = payment;
  const problems: FieldError[] = [];
  if (customer_number && customers.get(customer_number) !== invoice.customer_id) {
    problems.push({ field: 'customer_number', message: 'is not whose invoice it is' });
  }
  if (currency && currency !== invoice.currency) {
    problems.push({ field: 'currency', message: `must be ${invoice.currency}, as the invoice's` });
  }
  if (refunded_amount !== undefined && refunded_amount > amount) {
    problems.push({ field: 'refunded_amount', message: 'is more than the payment' });
  }
  const decimals = amountProblem(refunded_amount, invoice.currency);
  if (decimals) problems.push({ field: 'refunded_amount', message: decimals });
  return problems;
}

const toRefused = (issues: z.core.$ZodIssue[]): Saved => ({
  outcome: 'refused',
  problems: issues.map(({ path, message }) => ({ field: path.join('.'), message })),
});

const toOurField = ({ field, message }: FieldError): FieldError =>
  field === 'invoice_id' || field === 'customer_id'
    ? { field: 'invoice_number', message }
    : { field, message };

/** When those that are there were written last, by their references. */
async function findKnown(db: Database, references: string[]): Promise<Map<string, string>> {
  if (references.length === 0) return new Map();
  const found = await db
    .select({ reference: payments.payment_reference, at: payments.updated_at })
    .from(payments)
    .where(inArray(payments.payment_reference, references));
  return new Map(found.map(({ reference, at }) => [reference, at.toISOString()]));
}
