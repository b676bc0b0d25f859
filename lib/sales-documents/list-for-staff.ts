import { and, eq, gte, inArray, lte, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { customers, salesDocumentStatus, salesDocuments, salesDocumentType } from '@/db/schema';
import {
  allPages,
  type ListPlace,
  orderOf,
  readSortedPage,
  refusalOf,
  type SortedPage,
  type StaffPage,
} from '../counted-list/sorted-page';
import { toCsv } from '../csv';
import { findNamedCustomers, isOfAny, matchNumbered, type NamedCustomers } from '../customers/match-customer';
import { CUSTOMER_COLUMNS, inColumns } from '../customers/queries';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';
import { constant, type PageStart } from '../page-query';
import { documentColumns, listSalesDocuments, toSalesDocumentRow } from './queries';
import { type SalesDocumentRow, salesDocumentRow } from './schema';

export const DOCUMENT_STATUSES = salesDocumentStatus.enumValues;
export const DOCUMENT_TYPES = salesDocumentType.enumValues;

/** Orders of the staff's list; a minus stands for the latest or largest first. */
const SORTS = ['-date', 'date', '-amount', 'amount'] as const;

/** What staff narrow a list of sales documents to, as they type it. */
export const documentStaffFilters = z
  .object({
    /** A whole number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    number: textLine(100).optional(),
    type: oneOf(DOCUMENT_TYPES).optional(),
    status: oneOf(DOCUMENT_STATUSES).optional(),
    ...dateRange,
    sort: z.enum(SORTS).catch('-date'),
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
type DocumentStaffFilters = z.infer<typeof documentStaffFilters>;

const d = salesDocuments;
const ORDERS = { date: sql`${d.document_date}`, amount: sql`${d.total}` };

/** One page of the documents that match: counted in the usual order, by cursor in any other. */
export async function listDocumentsForStaff(
  db: Database,
  filters: DocumentStaffFilters,
  { request, start }: ListPlace,
): Promise<StaffPage<SalesDocumentRow>> {
  const { sort, number, type, status, from, to } = filters;
  const named = filters.customer === undefined ? null : await findNamedCustomers(db, filters.customer);
  const refused = refusalOf(named);
  if (refused) return refused;
  const isCounted = sort === '-date' && named?.exact !== false;
  if (!isCounted) return readSortedDocuments(db, filters, named, start, filters.per_page);
  return listSalesDocuments(db, {
    ...request,
    ...(named && { customer_id: named.ids[0] }),
    document_number: number,
    type,
    status,
    document_date_from: from,
    document_date_to: to,
  });
}

/** The documents that match, in batches. */
async function readSortedDocuments(
  db: Database,
  filters: DocumentStaffFilters,
  named: NamedCustomers | null,
  start: PageStart,
  size: number,
): Promise<SortedPage<SalesDocumentRow>> {
  const { sort, number, type, status, from, to } = filters;
  const where = and(
    named ? isOfAny(d.customer_id, named.ids) : undefined,
    number === undefined ? undefined : matchNumbered({ id: d.id, number: d.document_number }, number),
    type && sql`${d.type} = ${constant(type)}`,
    status && sql`${d.status} = ${constant(status)}`,
    from === undefined ? undefined : gte(d.document_date, from),
    to === undefined ? undefined : lte(d.document_date, to),
  );
  const few = named !== null || number !== undefined;
  return readSortedPage(
    db,
    { table: d, where, ...orderOf(ORDERS, sort), few },
    { start, size },
    readDocuments,
  );
}

async function readDocuments(tx: Database, ids: number[]): Promise<SalesDocumentRow[]> {
  const found = await tx
    .select(documentColumns)
    .from(d)
    .innerJoin(customers, eq(customers.id, d.customer_id))
    .where(inArray(d.id, ids));
  return found.map(toSalesDocumentRow);
}

const BATCH = 1000;
const COLUMNS = [
  ...Object.keys(salesDocumentRow.shape).filter((column) => column !== 'customer'),
  ...CUSTOMER_COLUMNS,
];

/** The sales documents that match as CSV, piece by piece, in the order of the list. */
export function salesDocumentsCsv(db: Database, filters: DocumentStaffFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: DocumentStaffFilters) {
  const named = filters.customer === undefined ? null : await findNamedCustomers(db, filters.customer);
  for await (const batch of allPages((start) => readSortedDocuments(db, filters, named, start, BATCH))) {
    yield batch.map(inColumns);
  }
}
