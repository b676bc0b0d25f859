import { eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns } from '@/db/database';
import {
  company,
  customers,
  draftImportKeys,
  invoices,
  salesDocumentStatus,
  salesDocuments,
  salesDocumentType,
} from '@/db/schema';
import { transact } from '@/db/transaction';
import { listAudit, recordAudit } from '../audit/audit-log';
import { categorize } from '../customers/tax-category';
import { toCalendarDate } from '../dates';
import { AppError, type FieldError, invalidField } from '../errors';
import { calendarDate, oneOf, textLine } from '../fields';
import {
  addLines,
  amountFields,
  amountProblems,
  type LineRow,
  linesOf,
  listLines,
  toAmounts,
  withoutAmounts,
  writeLines,
} from '../invoices/lines';
import { invoiceKind } from '../invoices/save-invoices';
import { toJsonAmounts } from '../money';
import { printProblems } from '../printable';
import { optionalChoice, optionalText } from '../records/fields';
import { takeNumber } from '../records/number-series';
import type { RecordKind, RecordWriter, Row, Writing } from '../records/record-kind';
import { findIds, outdated, saveRecord } from '../records/save-records';
import { deleteRecord, type Seen, type Step, type SteppedKind } from '../records/steps';
import type { TypedKind } from '../records/typed-record';
import { customerReference } from '../services/save-services';

type StoredDocument = typeof salesDocuments.$inferSelect;

/** The steps by which people change a document's status. Only `convertDocument` changes it to `converted`. */
const DOCUMENT_STEPS = {
  send: { from: ['draft'], to: 'sent' },
  accept: { from: ['sent'], to: 'accepted' },
  reject: { from: ['sent'], to: 'rejected' },
  expire: { from: ['sent'], to: 'expired' },
} satisfies Record<string, Step>;

/** Returns the statuses that a document with this status can reach by one step. */
function nextStatuses(status: string): string[] {
  const steps: Step[] = Object.values(DOCUMENT_STEPS);
  return steps.filter(({ from }) => from.includes(status)).map(({ to }) => to);
}

/** The types that a document can be converted into. */
const CONVERSIONS = ['order_confirmation', 'invoice'] as const;
export type Conversion = (typeof CONVERSIONS)[number];

/**
 * Returns the types that a document can be converted into. An offer must be accepted. An order confirmation must be
 * sent or accepted.
 */
export function conversionsOf({ type, status }: Pick<StoredDocument, 'type' | 'status'>): Conversion[] {
  if (type === 'offer') return status === 'accepted' ? [...CONVERSIONS] : [];
  return status === 'sent' || status === 'accepted' ? ['invoice'] : [];
}

const toInvoice = { column: 'converted_to_invoice_id', problem: 'is not a known invoice' };

/** Rules for writing sales documents. By default, a new document gets the next number of its type and today's date. */
export const salesDocumentKind: RecordKind = {
  name: 'sales_document',
  table: salesDocuments,
  key: 'document_number',
  fields: z.object({
    document_number: textLine(100).optional(),
    type: oneOf(salesDocumentType.enumValues),
    customer_number: textLine(100),
    status: optionalChoice(salesDocumentStatus.enumValues),
    document_date: calendarDate.optional(),
    valid_until: calendarDate.nullable().optional(),
    ...amountFields,
    invoice_number: optionalText(100),
    /** The key by which an imported file refers to a draft invoice, because a draft has no number yet. */
    invoice_import_key: optionalText(200),
    converted_to_document_number: optionalText(100),
  }),
  references: {
    customer_number: customerReference,
    invoice_number: {
      ...toInvoice,
      find: (tx, numbers) =>
        findIds(tx, invoices.number, invoices.id, numbers, isNull(invoices.stripe_invoice_id)),
    },
    invoice_import_key: {
      ...toInvoice,
      find: (tx, keys) => findIds(tx, draftImportKeys.import_key, draftImportKeys.invoice_id, keys),
    },
    converted_to_document_number: {
      column: 'converted_to_document_id',
      problem: 'is not a known sales document',
      find: (tx, numbers) => findIds(tx, salesDocuments.document_number, salesDocuments.id, numbers),
    },
  },
  addParts: (tx, rows) => addLines(tx, 'sales_document', rows),
  toColumns: (values, before, { now, timeZone }) => ({
    ...(!before && { document_date: toCalendarDate(now, timeZone) }),
    ...withoutAmounts(values),
    ...toAmounts(values, before),
  }),
  check: checkDocument,
  checkDelete: ({ status }) =>
    status === 'draft' ? null : `Only drafts can be deleted: this document is ${status}.`,
  nextKey: (tx, row, writer) =>
    takeNumber(tx, row.type === 'offer' ? 'offer' : 'order_confirmation', writer, String(row.document_date)),
  afterwards: async (tx, written, writer) => {
    await writeLines(tx, 'sales_document', written);
    await refuseUnprintable(tx, written, writer);
  },
};

function checkDocument(writing: Writing): FieldError[] {
  const { before, after } = writing;
  const problems = before && before.status !== 'draft' ? [] : amountProblems(writing);
  return [...problems, ...(before ? changeProblems(writing, before) : []), ...dateProblems(after)];
}

/**
 * Returns the problems of a change. The status may change only by one step. If the document is not a draft, no other
 * field may change, except that a document without lines may get lines.
 */
function changeProblems({ changes }: Writing, before: Row): FieldError[] {
  const status = String(before.status);
  const names = Object.keys(changes).filter((name) => name !== 'status');
  const isLineAdded = linesOf(before).length === 0;
  const others = status === 'draft' ? [] : names.filter((name) => name !== 'lines' || !isLineAdded);
  const problems = others.map((name) => ({
    field: name === 'customer_id' ? 'customer_number' : name,
    message: `cannot be changed: the document is ${status}`,
  }));
  if (changes.status === undefined || nextStatuses(status).includes(String(changes.status))) return problems;
  return [
    ...problems,
    { field: 'status', message: `cannot be ${changes.status}: the document is ${status}` },
  ];
}

/**
 * Refuses to send a document whose lines a PDF cannot contain, because they can no longer be changed afterwards. Skips
 * documents in imported files, because another program sent them.
 *
 * @throws AppError validation_failed for an invalid tax category or an unprintable character
 */
async function refuseUnprintable(
  tx: Database,
  written: Writing[],
  { importId }: RecordWriter,
): Promise<void> {
  if (importId !== undefined) return;
  for (const { before, after, changes } of written) {
    if (!before || changes.status !== 'sent') continue;
    const lines = linesOf(after);
    const [buyer] = await tx
      .select(pickColumns(customers, 'country', 'vat_id', 'tax_exempt'))
      .from(customers)
      .where(eq(customers.id, Number(after.customer_id)));
    const [seller] = await tx.select(pickColumns(company, 'country', 'small_business')).from(company);
    const taxed = buyer && seller ? categorize(lines, buyer, seller).problems : [];
    const [problem] = [...printProblems(NO_PARTIES, lines), ...taxed];
    if (problem) throw invalidField('lines', problem);
  }
}

/** The details of the customer and the company can still be changed after the document was sent. */
const NO_PARTIES = { company: {}, customer: {} };

function dateProblems({ document_date, valid_until }: Row): FieldError[] {
  if (typeof valid_until !== 'string' || valid_until >= String(document_date)) return [];
  return [{ field: 'valid_until', message: 'must not be before the date of the document' }];
}

/**
 * Converts an offer into an order confirmation or an invoice, or an order confirmation into an invoice. The new record
 * is a draft for the same customer, with the same lines, or with the same totals if the document has no lines. A
 * document can be converted again only after `deleteDraft` has deleted the new draft.
 *
 * @param version the version of the document that the caller last read
 * @returns the id of the new order confirmation or invoice
 * @throws AppError not_found; precondition_failed if the document has changed since; validation_failed, for example if
 * its status does not allow the conversion
 */
export async function convertDocument(
  db: Database,
  { id, version, to }: { id: number; version: number; to: Conversion },
  writer: RecordWriter,
): Promise<{ id: number }> {
  return transact(db, async (tx) => {
    const [before] = await tx.select().from(salesDocuments).where(eq(salesDocuments.id, id)).for('update');
    if (!before) throw new AppError('not_found', `There is no sales document ${id}.`);
    if (before.version !== version) throw outdated();
    if (!conversionsOf(before).includes(to))
      throw invalidField('status', `does not allow this: ${before.status}`);
    const kind = to === 'invoice' ? invoiceKind : salesDocumentKind;
    const made = await saveRecord(tx, kind, { values: await valuesOf(tx, before, to) }, writer);
    const became =
      to === 'invoice' ? { converted_to_invoice_id: made.id } : { converted_to_document_id: made.id };
    const [after] = await tx
      .update(salesDocuments)
      .set({ status: 'converted', ...became })
      .where(eq(salesDocuments.id, id))
      .returning();
    const entry = { actor: writer.actor, action: 'sales_document.convert', before, after: after ?? null };
    await recordAudit(tx, { ...entry, entity: 'sales_document', entity_id: id });
    return made;
  });
}

async function valuesOf(tx: Database, document: StoredDocument, to: Conversion) {
  const lines = await listLines(tx, 'sales_document', document.id);
  const [customer] = await tx
    .select({ customer_number: customers.customer_number })
    .from(customers)
    .where(eq(customers.id, document.customer_id));
  return {
    ...customer,
    ...(to !== 'invoice' && { type: to }),
    currency: document.currency,
    ...(lines.length > 0 ? { lines: lines.map(toLine) } : sumsOf(document)),
  };
}

const toLine = ({ quantity, unit_price, tax_rate, ...rest }: LineRow) => ({
  ...rest,
  quantity: Number(quantity),
  unit_price: Number(unit_price),
  tax_rate: Number(tax_rate),
});

const sumsOf = ({ subtotal, tax, total }: StoredDocument) =>
  toJsonAmounts({ subtotal, tax, total }, 'subtotal', 'tax', 'total');

/**
 * Deletes a draft of an invoice or a sales document. If the draft was converted from another document, that document
 * gets back its status from before the conversion, so that it can be converted again.
 *
 * @throws AppError in the same cases as `deleteRecord`
 */
export function deleteDraft(db: Database, kind: RecordKind, seen: Seen, writer: RecordWriter): Promise<void> {
  const became =
    kind.name === 'invoice'
      ? salesDocuments.converted_to_invoice_id
      : salesDocuments.converted_to_document_id;
  return transact(db, async (tx) => {
    // Lock the source document before the draft, as `convertDocument` does, so that the two functions cannot deadlock.
    const sources = await tx.select().from(salesDocuments).where(eq(became, seen.id)).for('update');
    for (const before of sources) {
      const entries = await listAudit(tx, 'sales_document', before.id);
      const conversion = entries.find(({ action }) => action === 'sales_document.convert');
      // Documents that were imported as converted have no such entry.
      const status = conversion?.before?.status === 'sent' ? 'sent' : 'accepted';
      const [after = null] = await tx
        .update(salesDocuments)
        .set({ status, [became.name]: null })
        .where(eq(salesDocuments.id, before.id))
        .returning();
      const entry = { action: 'sales_document.update', entity: 'sales_document' } as const;
      await recordAudit(tx, { actor: writer.actor, ...entry, entity_id: before.id, before, after });
    }
    await deleteRecord(tx, kind, seen, writer);
  });
}

/** The form fields of a draft sales document. */
export const typedSalesDocument = {
  kind: salesDocumentKind,
  fields: {
    customer_number: 'text',
    currency: 'currency',
    document_date: 'text',
    valid_until: 'text',
    lines: 'lines',
  },
} satisfies TypedKind;

/** The form fields of a new sales document. They include the type, because it determines the number series. */
export const typedNewSalesDocument = {
  kind: salesDocumentKind,
  fields: { type: 'text', ...typedSalesDocument.fields },
} satisfies TypedKind;

export const salesDocumentSteps = {
  kind: salesDocumentKind,
  steps: DOCUMENT_STEPS,
} satisfies SteppedKind;
