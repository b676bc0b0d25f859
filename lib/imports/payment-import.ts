import { inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { findCustomerIds } from '../customers/merged-customers';
import { AppError, type FieldError } from '../errors';
import { textLine } from '../fields';
import { normalReference } from '../payments/normal-reference';
import { recordPayment } from '../payments/record-payment';
import { paymentInput } from '../payments/schema';
import { currencyCode } from '../records/fields';
import type { RecordWriter, Saved } from '../records/record-kind';
import type { ImportKind } from './import-kind';
import { findInvoices, type PaidInvoice } from './paid-invoices';

const { payment_reference, amount, payment_date, status } = paymentInput.shape;

const fields = z.strictObject({
  payment_reference,
  invoice_number: textLine(255),
  customer_number: textLine(100).optional(),
  amount,
  currency: currencyCode.optional(),
  payment_date,
  status,
});
type PaymentFields = z.infer<typeof fields>;

/** Payments, each recorded as if a program had sent it: it settles its invoice, but opens none again that came as paid. */
export const paymentImport: ImportKind = {
  fields,
  keys: ['payment_reference'],
  toKey: normalReference,
  async save(db, drafts, writer) {
    const parsed = drafts.map(({ values }) => fields.safeParse(values));
    const good = parsed.flatMap(({ data }) => data ?? []);
    const invoices = await findInvoices(
      db,
      good.map(({ invoice_number }) => invoice_number),
    );
    const customers = await findCustomerIds(
      db,
      good.flatMap(({ customer_number }) => customer_number ?? []),
    );
    const known = await findKnown(
      db,
      good.map((payment) => payment.payment_reference),
    );
    const saved: Saved[] = [];
    for (const { data, error } of parsed) {
      const invoice = data && invoices.get(data.invoice_number);
      const problems = data
        ? problemsOf(data, invoice, customers)
        : error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
      const isGood = data && invoice && problems.length === 0;
      saved.push(isGood ? await record(db, data, invoice, writer, known) : { outcome: 'refused', problems });
    }
    return saved;
  },
};

async function record(
  db: Database,
  { invoice_number, customer_number, currency, ...input }: PaymentFields,
  invoice: PaidInvoice,
  { actor, now, timeZone }: RecordWriter,
  known: Map<string, string>,
): Promise<Saved> {
  try {
    const { payment: recorded, created } = await recordPayment(
      db,
      { ...input, invoice_id: invoice.id, customer_id: invoice.customer_id },
      { actor, source: 'import', now, timeZone },
    );
    const isSame = known.get(input.payment_reference) === recorded.updated_at;
    return { outcome: created ? 'created' : isSame ? 'unchanged' : 'changed', id: recorded.id };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
    return { outcome: 'refused', problems: error.fields.map(toOurField) };
  }
}

function problemsOf(
  { customer_number, currency }: PaymentFields,
  invoice: PaidInvoice | undefined,
  customers: Map<string, number>,
): FieldError[] {
  if (!invoice) return [{ field: 'invoice_number', message: 'is no invoice of ours' }];
  const problems: FieldError[] = [];
  if (customer_number && customers.get(customer_number) !== invoice.customer_id) {
    problems.push({ field: 'customer_number', message: 'is not whose invoice it is' });
  }
  if (currency && currency !== invoice.currency) {
    problems.push({ field: 'currency', message: `must be ${invoice.currency}, as the invoice's` });
  }
  return problems;
}

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
