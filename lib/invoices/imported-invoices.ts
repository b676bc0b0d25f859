import { z } from 'zod';
import { type Database, inTexts } from '@/db/database';
import { invoices } from '@/db/schema';
import type { FieldError } from '../errors';
import { toAmountText } from '../money';
import {
  amount,
  amountProblem,
  instantOrDay,
  optionalText,
  toAmountColumn,
  toInstant,
} from '../records/fields';
import type { Draft, RecordKind, RecordWriter, Row, Writing } from '../records/record-kind';
import { amountProblems, fieldError, signedSums, toAmounts, withoutAmounts } from './lines';
import { invoiceKind } from './save-invoices';

/** Fields that only a file may set, and sums, which may be negative for Stripe's invoices. */
const ofFiles = {
  ...signedSums,
  stripe_invoice_id: optionalText(255),
  stripe_customer_id: optionalText(255),
  amount_credited: amount.optional(),
  payment_failed_at: instantOrDay.nullable().optional(),
  uncollectible: z.boolean('must be true or false').optional(),
  amount_due: amount.optional(),
};
/** Fields that a file may set only for Stripe's invoices. */
const OF_STRIPE = ['stripe_invoice_id', 'stripe_customer_id', 'payment_failed_at', 'uncollectible'];
const AMOUNTS = ['amount_paid', 'amount_due', 'amount_credited'] as const;

/**
 * The rules for importing invoices, both our own and those that Stripe manages. An import can create a Stripe invoice,
 * which keeps the file's values until Stripe reports the invoice. An import never changes an existing Stripe invoice.
 */
export const importedInvoiceKind: RecordKind = {
  ...invoiceKind,
  fields: invoiceKind.fields.extend(ofFiles),
  identify: async (tx, drafts) => {
    const found = await findByStripeId(tx, drafts);
    return (await invoiceKind.identify?.(tx, found)) ?? found;
  },
  toColumns: (values, before, writer) =>
    isStripes(values) ? toStripeColumns(values, before, writer) : toOurColumns(values, before, writer),
  check: (writing, writer) =>
    isStripes(writing.values) ? checkStripes(writing) : checkOurs(writing, writer),
  isKeyless: (row) => isStripes(row) || invoiceKind.isKeyless?.(row) === true,
};

const isStripes = (values: Row) => values.stripe_invoice_id != null;

async function findByStripeId(tx: Database, drafts: Draft[]): Promise<Draft[]> {
  const idOf = ({ values }: Draft) => String(values.stripe_invoice_id);
  const wanted = drafts.filter(({ values }) => isStripes(values)).map(idOf);
  if (wanted.length === 0) return drafts;
  const found = await tx
    .select({ id: invoices.id, stripe_invoice_id: invoices.stripe_invoice_id })
    .from(invoices)
    .where(inTexts(invoices.stripe_invoice_id, wanted));
  const ids = new Map(found.map(({ id, stripe_invoice_id }) => [stripe_invoice_id, id]));
  return drafts.map((draft) => ({ ...draft, id: draft.id ?? ids.get(idOf(draft)) }));
}

function toOurColumns(values: Row, before: Row | null, writer: RecordWriter): Row {
  const rest: Row = {};
  for (const [name, value] of Object.entries(values)) {
    if (name !== 'amount_due' && name !== 'amount_credited' && !OF_STRIPE.includes(name)) rest[name] = value;
  }
  // Only our own credit notes credit a stored invoice. Those of another database are not in its files.
  if (!before) rest.amount_credited = toAmountColumn(values.amount_credited);
  const columns = invoiceKind.toColumns?.(rest, before, writer) ?? rest;
  // If the file has no time of payment, `toColumns` uses the import's time, which is not when the invoice was paid.
  // Keep the stored time instead, or null.
  const isToday = columns.paid_at === writer.now && rest.paid_at == null;
  return isToday ? { ...columns, paid_at: before?.paid_at ?? null } : columns;
}

function toStripeColumns(values: Row, before: Row | null, { timeZone }: RecordWriter): Row {
  const { import_key: _, ...columns } = withoutAmounts(values);
  for (const name of AMOUNTS) if (columns[name] !== undefined) columns[name] = toAmountColumn(columns[name]);
  for (const name of ['paid_at', 'payment_failed_at']) {
    if (columns[name] !== undefined) columns[name] = toInstant(columns[name], timeZone);
  }
  if (values.status === 'cancelled') columns.amount_due = '0';
  return { ...columns, ...toAmounts(values, before) };
}

function checkStripes(writing: Writing): FieldError[] {
  const { before, values } = writing;
  if (before) {
    return before.stripe_invoice_id
      ? [fieldError('', 'Stripe manages this invoice')]
      : [fieldError('stripe_invoice_id', 'must be empty: the invoice is not from Stripe')];
  }
  const needed = ['status', 'invoice_date', 'amount_due'].filter((name) => values[name] === undefined);
  if (needed.length > 0) return needed.map((name) => fieldError(name, 'is required for a Stripe invoice'));
  return amountProblems(writing);
}

function checkOurs(writing: Writing, writer: RecordWriter): FieldError[] {
  const { before, after, values } = writing;
  if (!before && values.invoice_date == null) return [fieldError('invoice_date', 'is needed')];
  const problems = invoiceKind.check?.(writing, writer) ?? [];
  if (before || problems.length > 0) return problems;
  const foreign = OF_STRIPE.filter((name) => values[name]);
  const due = String(after.amount_due);
  // For a cancelled invoice, other programs' files and our older files have the amount due before the cancellation.
  const isDue =
    after.status === 'cancelled' ||
    values.amount_due === undefined ||
    toAmountColumn(values.amount_due) === due;
  const text = toAmountText(due, String(after.currency ?? 'eur'));
  return [
    ...foreign.map((name) => fieldError(name, 'is only for Stripe invoices, which have a stripe_invoice_id')),
    ...creditProblems(after),
    ...(isDue ? [] : [fieldError('amount_due', `does not agree with the rest: ${text}`)]),
  ];
}

/** Checks the credited amount of a new invoice of our own. Its credit notes stay where they were issued. */
function creditProblems({ status, total, amount_credited, currency }: Row): FieldError[] {
  const credited = Number(amount_credited ?? 0);
  const isMore = credited > (status === 'draft' ? 0 : Number(total));
  const problem = isMore
    ? 'must not be more than the total of an issued invoice'
    : amountProblem(amount_credited, currency ?? 'eur');
  return problem === undefined ? [] : [fieldError('amount_credited', problem)];
}
