import { and, count, desc, eq, gte, inArray, lte, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, salesDocuments } from '@/db/schema';
import { matchNumbered } from '../customers/match-customer';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { toJsonAmount } from '../money';
import { MAX_ID, MAX_PER_PAGE, type Page, type PageRequest, pageRequest, toPage } from '../page';
import { readPage } from '../page-query';
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

const newestFirst = [desc(d.document_date), desc(d.id)];

/** Narrows a list further than tools can. */
export interface SalesDocumentConditions extends SalesDocumentFilters {
  /** A whole number, or `#` and our id. */
  document_number?: string | undefined;
  converted_to_invoice_id?: number | undefined;
}

/** Offers and order confirmations, newest first; a page past the last is empty. */
export async function listSalesDocuments(
  db: Database,
  filters: SalesDocumentConditions,
): Promise<Page<SalesDocumentRow>> {
  const request = pageRequest(filters);
  if ((filters.customer_id ?? 0) > MAX_ID) return toPage(request, 0, []);
  const { document_number: number } = filters;
  return pageWhere(
    db,
    request,
    and(
      filters.customer_id === undefined ? undefined : eq(d.customer_id, filters.customer_id),
      number === undefined ? undefined : matchNumbered({ id: d.id, number: d.document_number }, number),
      filters.converted_to_invoice_id === undefined
        ? undefined
        : eq(d.converted_to_invoice_id, filters.converted_to_invoice_id),
      filters.type && eq(d.type, filters.type),
      filters.status && eq(d.status, filters.status),
      filters.document_date_from ? gte(d.document_date, filters.document_date_from) : undefined,
      filters.document_date_to ? lte(d.document_date, filters.document_date_to) : undefined,
    ),
  );
}

/** The newest of a customer's documents that still wait for something: draft, sent or accepted. */
export async function listOpenSalesDocuments(
  db: Database,
  customer_id: number,
): Promise<Page<SalesDocumentRow>> {
  return pageWhere(
    db,
    { page: 1, per_page: MAX_PER_PAGE },
    and(eq(d.customer_id, customer_id), inArray(d.status, ['draft', 'sent', 'accepted'])),
  );
}

async function pageWhere(
  db: Database,
  request: PageRequest,
  where: SQL | undefined,
): Promise<Page<SalesDocumentRow>> {
  const page = await readPage(
    request,
    ({ limit, offset }) => {
      // The ids first, from an index alone: the rows of the pages before are never joined.
      const ids = db.select({ id: d.id }).from(d).where(where);
      const found = ids
        .orderBy(...newestFirst)
        .limit(limit)
        .offset(offset)
        .as('found');
      return db
        .select(documentColumns)
        .from(found)
        .innerJoin(d, eq(d.id, found.id))
        .innerJoin(customers, eq(customers.id, d.customer_id))
        .orderBy(...newestFirst);
    },
    async () => (await db.select({ total: count() }).from(d).where(where))[0]?.total ?? 0,
  );
  return salesDocumentPage.parse({ ...page, data: page.data.map(toSalesDocumentRow) });
}

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
