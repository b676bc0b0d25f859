import { and, inArray, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import {
  draftImportKeys,
  invoices,
  salesDocumentStatus,
  salesDocuments,
  salesDocumentType,
} from '@/db/schema';
import { toCalendarDate } from '../dates';
import type { FieldError } from '../errors';
import { calendarDate, oneOf, textLine } from '../fields';
import { amountFields, amountProblems, linesOf, toAmounts, withoutAmounts } from '../invoices/amounts';
import { addLines, writeLines } from '../invoices/line-rows';
import { optionalChoice, optionalText } from '../records/fields';
import type { RecordKind, Row, Writing } from '../records/record-kind';
import { takeNumber } from '../records/take-number';
import { customerReference } from '../services/save-services';
import { nextStatuses } from './document-steps';

/** Offers and order confirmations as people write them; a new one without a number takes the next of its series. */
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
    /** Of an invoice that is a draft yet. */
    invoice_import_key: optionalText(200),
    converted_to_document_number: optionalText(100),
  }),
  references: {
    customer_number: customerReference,
    invoice_number: {
      column: 'converted_to_invoice_id',
      problem: 'is not a known invoice',
      find: findInvoiceIds,
    },
    invoice_import_key: {
      column: 'converted_to_invoice_id',
      problem: 'is not a known invoice',
      find: findKeyedInvoiceIds,
    },
    converted_to_document_number: {
      column: 'converted_to_document_id',
      problem: 'is not a known sales document',
      find: findDocumentIds,
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
  afterwards: (tx, written) => writeLines(tx, 'sales_document', written),
};

function checkDocument(writing: Writing): FieldError[] {
  const { before, after } = writing;
  const problems = before && before.status !== 'draft' ? [] : amountProblems(writing);
  return [...problems, ...(before ? changeProblems(writing, before) : []), ...dateProblems(after)];
}

/** Its content changes in draft alone, and its status by one step at a time. */
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

function dateProblems({ document_date, valid_until }: Row): FieldError[] {
  if (typeof valid_until !== 'string' || valid_until >= String(document_date)) return [];
  return [{ field: 'valid_until', message: 'must not be before the date of the document' }];
}

async function findInvoiceIds(tx: Database, numbers: string[]): Promise<Map<string, number>> {
  const found = await tx
    .select({ id: invoices.id, number: invoices.number })
    .from(invoices)
    .where(and(inArray(invoices.number, numbers), isNull(invoices.stripe_invoice_id)));
  return new Map(found.map(({ id, number }) => [String(number), id]));
}

async function findKeyedInvoiceIds(tx: Database, keys: string[]): Promise<Map<string, number>> {
  const found = await tx.select().from(draftImportKeys).where(inArray(draftImportKeys.import_key, keys));
  return new Map(found.map(({ import_key, invoice_id }) => [import_key, invoice_id]));
}

async function findDocumentIds(tx: Database, numbers: string[]): Promise<Map<string, number>> {
  const found = await tx
    .select({ id: salesDocuments.id, number: salesDocuments.document_number })
    .from(salesDocuments)
    .where(inArray(salesDocuments.document_number, numbers));
  return new Map(found.map(({ id, number }) => [number, id]));
}
