import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, inTexts } from '@/db/database';
import { draftImportKeys, invoiceStatus, invoices } from '@/db/schema';
import { bookEntries } from '../book-entries';
import { addDays, toCalendarDate } from '../dates';
import { type FieldError, invalidField } from '../errors';
import { calendarDate, textLine } from '../fields';
import { fromThousandths, toThousandths } from '../money';
import { amount, instantOrDay, optionalChoice, optionalText, toInstant } from '../records/fields';
import { takeNumber } from '../records/number-series';
import type { Draft, RecordKind, RecordWriter, Row, Writing } from '../records/record-kind';
import type { SteppedKind } from '../records/steps';
import type { TypedKind } from '../records/typed-record';
import { customerReference } from '../services/save-services';
import { issueCancellation } from './credit-notes';
import { keepParties } from './issued-parties';
import {
  addLines,
  amountFields,
  amountProblems,
  fieldError,
  linesOf,
  toAmounts,
  withoutAmounts,
  writeLines,
} from './lines';
import { settledBy } from './settle';

/**
 * The rules for writing our own invoices from forms and files. When an invoice is issued, it gets the next number of
 * its series, unless it has a number. After that, a form or a file can only cancel it, change its due date or add
 * missing lines.
 */
export const invoiceKind: RecordKind = {
  name: 'invoice',
  table: invoices,
  key: 'number',
  // If a number belongs to no invoice of our own, it refers to the Stripe invoice with this number. Without this rule,
  // a write would create a duplicate.
  hasKey: (numbers) =>
    sql`${inTexts(invoices.number, numbers)} and (${invoices.stripe_invoice_id} is null or not exists (
      select from invoices own where own.number = ${invoices.number} and own.stripe_invoice_id is null))`,
  fields: z.object({
    number: optionalText(100),
    import_key: textLine(200).optional(),
    customer_number: textLine(100),
    status: optionalChoice(invoiceStatus.enumValues),
    invoice_date: calendarDate.optional(),
    due_date: calendarDate.nullable().optional(),
    ...amountFields,
    /** Amount that was paid before the invoice was imported. */
    amount_paid: amount.optional(),
    paid_at: instantOrDay.nullable().optional(),
  }),
  references: { customer_number: customerReference },
  identify: findByImportKey,
  addParts: (tx, rows) => addLines(tx, 'invoice', rows),
  toColumns: toInvoiceColumns,
  check: checkInvoice,
  checkDelete,
  nextKey: (tx, row, writer) => takeNumber(tx, 'invoice', writer, String(row.invoice_date)),
  isKeyless: ({ status }) => status === 'draft',
  afterwards: async (tx, written, writer) => {
    await writeLines(tx, 'invoice', written);
    await keepImportKeys(tx, written);
    await keepIssued(tx, written, writer);
    await issueCancellations(tx, written, writer);
    await bookEntries(tx, { invoices: written.map(({ id }) => id) }, writer);
  },
};

/** Finds invoices by import key, because drafts have no number. A draft keeps its key after it is issued. */
async function findByImportKey(tx: Database, drafts: Draft[]): Promise<Draft[]> {
  const keys = drafts.flatMap(({ id, values }) => (id === undefined ? keyOf(values) : []));
  if (keys.length === 0) return drafts;
  const found = await tx.select().from(draftImportKeys).where(inTexts(draftImportKeys.import_key, keys));
  const ids = new Map(found.map(({ import_key, invoice_id }) => [import_key, invoice_id]));
  return drafts.map((draft) => {
    const id = draft.id ?? keyOf(draft.values).map((key) => ids.get(key))[0];
    return id === undefined ? draft : { ...draft, id };
  });
}

async function keepImportKeys(tx: Database, written: (Writing & { id: number })[]): Promise<void> {
  const fresh = written
    .filter(({ before, after }) => before === null && after.stripe_invoice_id == null)
    .flatMap(({ id, values, after }) => {
      const [import_key] = keyOf(values);
      return import_key || after.status === 'draft' ? { import_key, invoice_id: id } : [];
    });
  if (fresh.length > 0) await tx.insert(draftImportKeys).values(fresh);
}

/**
 * Stores the parties and tax categories for the documents of newly issued invoices.
 *
 * @throws AppError validation_failed for an invalid tax category or an unprintable character
 */
async function keepIssued(
  tx: Database,
  written: (Writing & { id: number })[],
  { importId }: RecordWriter,
): Promise<void> {
  const issued = written.filter(
    ({ before, after }) =>
      after.status !== 'draft' && after.stripe_invoice_id == null && (before?.status ?? 'draft') === 'draft',
  );
  const [problem] = await keepParties(
    tx,
    issued.map(({ id }) => id),
  );
  // Invoices in an imported file were issued by another program, so the import does not refuse them. Their pages show
  // the problem.
  const isIssuedHere = importId === undefined && issued.every(({ before }) => before !== null);
  if (problem && isIssuedHere) throw invalidField('lines', problem);
}

/**
 * Issues the cancellation documents of cancelled invoices. Skips invoices in imported files, because another program
 * cancelled them.
 */
async function issueCancellations(
  tx: Database,
  written: (Writing & { id: number })[],
  writer: RecordWriter,
): Promise<void> {
  if (writer.importId !== undefined) return;
  for (const { id, before, changes } of written) {
    if (before && changes.status === 'cancelled') await issueCancellation(tx, id, writer);
  }
}

const keyOf = ({ import_key }: Record<string, unknown>): string[] =>
  typeof import_key === 'string' ? [import_key] : [];

const DAYS_TO_PAY = 14;
const usualDueDate = ({ invoice_date }: Row) => addDays(String(invoice_date), DAYS_TO_PAY);

/** Returns the columns to set for the given values, including the invoice's status and amounts. */
function toInvoiceColumns(values: Row, before: Row | null, writer: RecordWriter): Row {
  const { import_key: _, amount_paid, paid_at, status, ...rest } = values;
  const today = toCalendarDate(writer.now, writer.timeZone);
  const columns: Row = { ...withoutAmounts(rest), ...toAmounts(values, before) };
  if (!before) columns.invoice_date ??= today;
  const leavesDraft = before?.status === 'draft' && status !== undefined && status !== 'draft';
  if (leavesDraft) columns.due_date ??= before.due_date ?? usualDueDate({ ...before, ...columns });
  const after: Row = { currency: 'eur', ...before, ...columns };
  if (after.total === undefined) return columns;
  const { total, amount_credited = '0', due_date, payment_failed_at, uncollectible } = after;
  const paidBy = (given: unknown) => {
    if (amount_paid !== undefined) return toThousandths(String(amount_paid));
    return given === 'paid' ? toThousandths(String(total)) - toThousandths(String(amount_credited)) : 0;
  };
  if (before && before.status !== 'draft') {
    const claimed = paidBy(status);
    const isMore = claimed > toThousandths(String(before.amount_paid)); // `sentProblems` then refuses the write.
    const state = stateAfter(before, after, status, writer);
    return { ...columns, ...state, ...(isMore && { amount_paid: fromThousandths(claimed) }) };
  }
  const wanted = status ?? before?.status ?? 'draft';
  const given = { status: wanted, paid_at: toInstant(paid_at, writer.timeZone) };
  const owed = { total, amount_credited, due_date, payment_failed_at, uncollectible, ...given };
  return Object.assign(columns, stateBy(owed, paidBy(wanted), writer));
}

/**
 * Returns the status and amounts of an issued invoice. Staff may cancel it, but only payments change its paid amount.
 */
function stateAfter(before: Row, after: Row, wanted: unknown, writer: RecordWriter): Row {
  const isStep = wanted === 'cancelled' || wanted === 'draft' || before.status === 'cancelled';
  const status = isStep && wanted !== undefined ? wanted : before.status;
  if (status === 'draft' || before.stripe_invoice_id !== null) return { status };
  return stateBy({ ...after, status }, toThousandths(String(before.amount_paid)), writer);
}

function stateBy(row: Row, paid: number, { now, timeZone }: RecordWriter): Row {
  const invoice = {
    total: String(row.total),
    amount_credited: String(row.amount_credited ?? '0'),
    status: row.status as Parameters<typeof settledBy>[0]['status'],
    due_date: (row.due_date ?? null) as string | null,
    paid_at: (row.paid_at ?? null) as Date | null,
    payment_failed_at: (row.payment_failed_at ?? null) as Date | null,
    uncollectible: row.uncollectible === true,
  };
  return { ...settledBy(invoice, paid, { today: toCalendarDate(now, timeZone), now }) };
}

/** Fields that a write computes or assigns. `sentProblems` has separate checks for `amount_paid` and `number`. */
const DERIVED = ['amount_paid', 'amount_due', 'paid_at', 'number'];

const MANAGED = 'Stripe manages this invoice';

/** Returns the reasons why an invoice must not be written. */
function checkInvoice(writing: Writing, writer: RecordWriter): FieldError[] {
  const { before, after } = writing;
  if (before?.stripe_invoice_id) return [fieldError('', MANAGED)];
  if (before && before.status !== 'draft') return sentProblems(writing, before);
  const problems = amountProblems(writing);
  if (problems.length > 0) return problems;
  return [...draftProblems(writing), ...dateProblems(after), ...futureProblems(writing, writer)];
}

/**
 * Refuses to issue an invoice before its date, because its number and its entries in accounting would belong to a
 * future year or month. An imported invoice with a number was already issued by another program.
 */
function futureProblems({ before, after }: Writing, { now, timeZone }: RecordWriter): FieldError[] {
  const isIssuedHere = after.status !== 'draft' && (before !== null || after.number == null);
  if (!isIssuedHere || String(after.invoice_date) <= toCalendarDate(now, timeZone)) return [];
  return [fieldError('invoice_date', 'must not be in the future when the invoice is issued')];
}

/** Returns why an invoice must not be deleted. Returns null for our own drafts, which leave no gap in the numbers. */
function checkDelete({ status, stripe_invoice_id }: Row): string | null {
  if (stripe_invoice_id) return `${MANAGED}.`;
  return status === 'draft' ? null : 'The invoice was issued: cancel it instead of deleting it.';
}

function draftProblems({ before, after, values }: Writing): FieldError[] {
  const paid = toThousandths(String(after.amount_paid ?? 0));
  if (after.status === 'draft') {
    if (after.number != null) return [fieldError('number', 'is assigned when the invoice is issued')];
    return paid > 0 ? [fieldError('amount_paid', 'must be 0: a draft cannot have payments')] : [];
  }
  if (after.status === 'cancelled' && (before || after.number == null)) {
    return [fieldError('status', 'must not be cancelled: it was never issued')];
  }
  if (values.status === 'paid' && after.status !== 'paid') {
    return [fieldError('amount_paid', 'is less than the total of a paid invoice')];
  }
  return [];
}

/** Checks a change to an issued invoice. Only a cancellation, a due date and missing lines are allowed. */
function sentProblems({ after, changes, values }: Writing, before: Row): FieldError[] {
  const isCancelled = changes.status === 'cancelled';
  const isLineAdded = changes.lines !== undefined && linesOf(before).length === 0;
  if (before.status === 'cancelled' && !(isLineAdded && Object.keys(changes).length === 1)) {
    return [fieldError('', 'It is cancelled and can no longer be changed')];
  }
  if (changes.status === 'draft') return [fieldError('status', 'must not be draft: it was issued')];
  if (isCancelled && Number(before.amount_paid) > 0) {
    return [fieldError('status', 'must not be cancelled: refund what was paid first')];
  }
  if (changes.amount_paid !== undefined) {
    return [
      fieldError(values.amount_paid === undefined ? 'status' : 'amount_paid', 'changes only by payments'),
    ];
  }
  const allowed = ['status', 'due_date', ...DERIVED, ...(isLineAdded ? ['lines'] : [])];
  const others = Object.keys(changes).filter((name) => !allowed.includes(name));
  const numbered = changes.number === undefined ? [] : ['number'];
  const problems = [...others, ...numbered].map((name) =>
    fieldError(
      name === 'customer_id' ? 'customer_number' : name,
      'cannot be changed: the invoice was issued',
    ),
  );
  return [...problems, ...dateProblems(after)];
}

function dateProblems({ invoice_date, due_date }: Row): FieldError[] {
  if (typeof due_date !== 'string' || due_date >= String(invoice_date)) return [];
  return [fieldError('due_date', 'must not be before the date of the invoice')];
}

/** Form fields of a draft invoice. */
export const typedInvoice = {
  kind: invoiceKind,
  fields: {
    customer_number: 'text',
    currency: 'currency',
    invoice_date: 'text',
    due_date: 'text',
    lines: 'lines',
  },
} satisfies TypedKind;

/** Form field of an issued invoice. Only its due date may change. */
export const typedDueDate = { kind: invoiceKind, fields: { due_date: 'text' } } satisfies TypedKind;

/** The status changes of our own invoices that staff can make. The status `paid` follows from the invoice's amounts. */
export const invoiceSteps = {
  kind: invoiceKind,
  steps: {
    send: { from: ['draft'], to: 'sent' },
    cancel: { from: ['sent', 'overdue'], to: 'cancelled' },
  },
} satisfies SteppedKind;
