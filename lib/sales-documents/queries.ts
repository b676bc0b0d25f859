import { and, count, desc, eq, gte, inArray, lte, type SQL, sql, sum } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { customers, invoices, salesDocumentBlocks, salesDocumentDeltas, salesDocuments } from '@/db/schema';
import { listReader, usedConditions } from '../counted-list/list-reader';
import { numberFilters, toNumberFilters } from '../customers/match-customer';
import { isOfCustomer } from '../customers/merged-customers';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { AppError } from '../errors';
import { toJsonAmount } from '../money';
import { MAX_ID, MAX_PER_PAGE, type Page, pageRequest, toPage } from '../page';
import { type SalesDocumentFilters, type SalesDocumentRow, salesDocumentPage } from './schema';

const d = salesDocuments;

/** Of a document in a list. */
export const documentColumns = {
  id: d.id,
  document_number: d.document_number,
  type: d.type,
  status: d.status,
  document_date: d.document_date,
  valid_until: d.valid_until,
  currency: d.currency,
  subtotal: d.subtotal,
  tax: d.tax,
  total: d.total,
  converted_to_invoice_id: d.converted_to_invoice_id,
  customer: snippetColumns,
};

/** Narrows a list further than tools can. */
interface SalesDocumentConditions extends SalesDocumentFilters {
  /** A whole number, or `#` and our id. */
  document_number?: string | undefined;
  converted_to_invoice_id?: number | undefined;
}

/** Offers and order confirmations, newest first; a page past the last is empty. */
export async function listSalesDocuments(
  db: Database,
  { page, per_page, document_number, ...filters }: SalesDocumentConditions,
): Promise<Page<SalesDocumentRow>> {
  const request = pageRequest({ page, per_page });
  if ((filters.customer_id ?? 0) > MAX_ID) return toPage(request, 0, []);
  return toRows(await readDocuments(db, request, { ...filters, ...toNumberFilters(document_number) }));
}

/** The newest of a customer's documents that still wait for something: draft, sent or accepted. */
export async function listOpenSalesDocuments(
  db: Database,
  customer_id: number,
): Promise<Page<SalesDocumentRow>> {
  return toRows(await readDocuments(db, { page: 1, per_page: MAX_PER_PAGE }, { customer_id, is_open: true }));
}

/** What each filter of the list asks of a row. */
const DOCUMENT_FILTERS = {
  customer_id: (id: SQL) => isOfCustomer(d.customer_id, id),
  type: (type: SQL) => eq(d.type, type),
  status: (status: SQL) => eq(d.status, status),
  document_date_from: (from: SQL) => gte(d.document_date, from),
  document_date_to: (to: SQL) => lte(d.document_date, to),
  converted_to_invoice_id: (id: SQL) => eq(d.converted_to_invoice_id, id),
  ...numberFilters({ id: d.id, number: d.document_number }),
  is_open: () => inArray(d.status, ['draft', 'sent', 'accepted']),
};

const readDocuments = listReader({
  list: {
    table: d,
    blocks: salesDocumentBlocks,
    deltas: salesDocumentDeltas,
    order: [d.document_date, d.id],
    newestFirst: true,
  },
  filters: DOCUMENT_FILTERS,
  closed: ['type', 'status'],
  days: ['document_date_from', 'document_date_to'],
  select: (db, found, total) =>
    db
      .select({ ...documentColumns, total_rows: total })
      .from(found)
      .innerJoin(d, eq(d.id, sql`found.id`))
      .innerJoin(customers, eq(customers.id, d.customer_id))
      .orderBy(desc(d.document_date), desc(d.id)),
});

const toRows = (page: Page<SalesDocumentRecord>): Page<SalesDocumentRow> =>
  salesDocumentPage.parse({ ...page, data: page.data.map(toSalesDocumentRow) });

type SalesDocumentRecord = Pick<typeof d.$inferSelect, Exclude<keyof typeof documentColumns, 'customer'>> & {
  customer: Parameters<typeof toCustomerSnippet>[0];
};

export function toSalesDocumentRow(record: SalesDocumentRecord): SalesDocumentRow {
  return {
    ...record,
    subtotal: toJsonAmount(record.subtotal),
    tax: toJsonAmount(record.tax),
    total: toJsonAmount(record.total),
    customer: toCustomerSnippet(record.customer),
  };
}

const confirmation = alias(salesDocuments, 'confirmation');

/** One sales document with its customer and the invoice or order confirmation it became. @throws AppError not_found */
export async function getSalesDocument(db: Database, id: number) {
  const [found] = await db
    .select({
      ...documentColumns,
      invoice: { id: invoices.id, number: invoices.number, status: invoices.status },
      confirmation: { id: confirmation.id, document_number: confirmation.document_number },
      version: salesDocuments.version,
      created_at: salesDocuments.created_at,
      updated_at: salesDocuments.updated_at,
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

/** Documents of one currency, type and status together. */
export const documentSums = z.object({
  currency: z.string(),
  type: z.string(),
  status: z.string(),
  count: z.int(),
  total: z.number(),
});

/** Counts and sums of the documents that the filters find, per currency, type and status. */
export async function summarizeSalesDocuments(
  db: Database,
  { page: _, per_page: __, ...filters }: SalesDocumentFilters,
): Promise<z.infer<typeof documentSums>[]> {
  if ((filters.customer_id ?? 0) > MAX_ID) return [];
  const { currency, type, status } = salesDocuments;
  const found = await db
    .select({ currency, type, status, count: count(), total: sum(salesDocuments.total) })
    .from(salesDocuments)
    .where(and(...usedConditions(DOCUMENT_FILTERS, filters)))
    .groupBy(currency, type, status)
    .orderBy(currency, type, status);
  return found.map((row) => ({ ...row, total: toJsonAmount(row.total ?? '0') }));
}
