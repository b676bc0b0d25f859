import { eq, inArray, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { type Database, pickColumns } from '@/db/database';
import {
  customers,
  invoices,
  listSums,
  salesDocumentBlocks,
  salesDocumentDeltas,
  salesDocumentStatus,
  salesDocuments,
  salesDocumentType,
  validDocumentBlocks,
  validDocumentDeltas,
} from '@/db/schema';
import { dayFilters, defineList, wordFilter } from '../counted-list/define-list';
import { countedList } from '../counted-list/list-reader';
import { summarize } from '../counted-list/list-sums';
import { customerSums, sumByCustomer } from '../customers/customer-sums';
import { customerFilter, numberFilter, statusesFilter, toSelection } from '../customers/match-customer';
import { fileColumns, inColumns, type RecordOf, rowColumns, toCustomerSnippet } from '../customers/queries';
import { customerIdFilter, customerSnippet, wholeId } from '../customers/schema';
import { AppError } from '../errors';
import { calendarDate, listFilters, oneOf, searchLine, someOf } from '../fields';
import { toJsonAmounts } from '../money';
import { MAX_ID, MAX_PER_PAGE, pageOf } from '../page';

export const DOCUMENT_STATUSES = salesDocumentStatus.enumValues;
export const DOCUMENT_TYPES = salesDocumentType.enumValues;

export const salesDocumentFilters = listFilters(
  {
    customer_id: customerIdFilter,
    type: oneOf(DOCUMENT_TYPES).optional(),
    status: oneOf(DOCUMENT_STATUSES).optional(),
    statuses: someOf(DOCUMENT_STATUSES).optional(),
    document_number: searchLine(100).optional().describe('The whole number.'),
    id: wholeId.optional(),
    document_date_from: calendarDate.optional(),
    document_date_to: calendarDate.optional(),
    valid_until_from: calendarDate.optional(),
    valid_until_to: calendarDate.optional(),
  },
  ...['document_date', 'valid_until'],
);

/** An offer or an order confirmation. */
export const salesDocumentRow = z.object({
  id: z.int(),
  document_number: z.string(),
  type: z.enum(DOCUMENT_TYPES),
  status: z.enum(DOCUMENT_STATUSES),
  document_date: z.string(),
  valid_until: z.string().nullable(),
  currency: z.string(),
  subtotal: z.number().describe('Without tax'),
  tax: z.number(),
  total: z.number(),
  converted_to_invoice_id: z.int().nullable(),
  converted_to_document_id: z.int().nullable(),
  customer: customerSnippet,
});

export type SalesDocumentFilters = z.infer<typeof salesDocumentFilters>;
export type SalesDocumentRow = z.infer<typeof salesDocumentRow>;

const d = salesDocuments;

const documentColumns = rowColumns(d, salesDocumentRow);

function toSalesDocumentRow(record: RecordOf<typeof d, typeof documentColumns>): SalesDocumentRow {
  return {
    ...toJsonAmounts(record, 'subtotal', 'tax', 'total'),
    customer: toCustomerSnippet(record.customer),
  };
}

const filters = {
  customer: customerFilter(d.customer_id),
  number: numberFilter({ id: d.id, number: d.document_number }),
  type: wordFilter(DOCUMENT_TYPES, d.type),
  status: wordFilter(DOCUMENT_STATUSES, d.status),
  ...dayFilters(d.document_date),
};

const counted = countedList({
  table: d,
  blocks: salesDocumentBlocks,
  deltas: salesDocumentDeltas,
  order: [d.document_date, d.id],
  newestFirst: true,
  filters,
  otherDay: {
    name: 'valid_until',
    column: d.valid_until,
    blocks: validDocumentBlocks,
    deltas: validDocumentDeltas,
  },
  more: {
    statuses: statusesFilter(d.status),
    converted_to_invoice_id: { matches: (id) => eq(d.converted_to_invoice_id, id) },
    is_open: { matches: () => inArray(d.status, ['draft', 'sent', 'accepted']) },
  },
  columns: documentColumns,
  toRow: toSalesDocumentRow,
  page: pageOf(salesDocumentRow),
});

type ListedDocuments = SalesDocumentFilters & { converted_to_invoice_id?: number | undefined };

const toCounted = ({ id, document_number: number, statuses, ...given }: ListedDocuments) => ({
  ...given,
  ...toSelection({ id, number, statuses }),
});

/**
 * Lists offers and order confirmations, newest first. If they are filtered by `valid_until`, sorts them by that date,
 * latest first. A page past the end is empty.
 */
export const listSalesDocuments = (db: Database, given: ListedDocuments) =>
  counted.list(db, toCounted(given));

/** Lists the newest open documents of a customer, with their total number. Open means draft, sent or accepted. */
export const listOpenSalesDocuments = (db: Database, customer_id: number) =>
  counted.read(db, { page: 1, per_page: MAX_PER_PAGE }, { customer_id, is_open: true });

/** The list of sales documents on staff pages. */
export const salesDocumentList = defineList({
  table: d,
  filters,
  orders: { date: sql`${d.document_date}`, amount: sql`${d.total}` },
  sort: '-date',
  rows: counted.rows,
  counted: counted.read,
  columns: fileColumns(salesDocumentRow),
  toRecord: inColumns,
});

/** Count and total amount of the documents with one currency, type and status. */
export const documentSums = z.object({
  currency: z.string(),
  type: z.string(),
  status: z.string(),
  count: z.int(),
  total: z.number(),
});

const keptSums = {
  ...({ table: d, list: 'sales_document', day: 'valid_until' } as const),
  kinds: [d.type, d.status],
  where: counted.where,
};

/** Counts and sums the documents that match the filters, per currency, type and status. */
export function summarizeSalesDocuments(db: Database, given: SalesDocumentFilters) {
  const { currency, type, status } = d;
  return summarize(db, keptSums, toCounted(given), {
    by: { currency, type, status },
    of: { total: listSums.total },
    schema: documentSums,
  });
}

/** The count and the total of a customer's documents in one currency. */
export const customerDocuments = customerSums({
  total: z.number(),
});

/** Sums the documents that match the filters per customer and currency, the largest total of each currency first. */
export function sumDocumentsByCustomer(db: Database, given: SalesDocumentFilters) {
  return sumByCustomer(db, given, {
    table: d,
    where: counted.where(toCounted(given)),
    of: { total: sql`sum(${d.total})::float` },
    largest: ['total'],
    schema: customerDocuments,
  });
}

const confirmation = alias(salesDocuments, 'confirmation');

/**
 * Returns a sales document with its customer, and with the invoice or order confirmation that it was converted into.
 *
 * @throws AppError not_found
 */
export async function getSalesDocument(db: Database, id: number) {
  const [found] = await db
    .select({
      ...documentColumns,
      ...pickColumns(d, 'version', 'created_at', 'updated_at'),
      invoice: pickColumns(invoices, 'id', 'number', 'status'),
      confirmation: pickColumns(confirmation, 'id', 'document_number'),
    })
    .from(salesDocuments)
    .innerJoin(customers, eq(customers.id, salesDocuments.customer_id))
    .leftJoin(invoices, eq(invoices.id, salesDocuments.converted_to_invoice_id))
    .leftJoin(confirmation, eq(confirmation.id, salesDocuments.converted_to_document_id))
    .where(eq(salesDocuments.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no sales document ${id}.`);
  return { ...found, ...toSalesDocumentRow(found) };
}

export type SalesDocumentDetails = Awaited<ReturnType<typeof getSalesDocument>>;
