import { and, eq, gte, inArray, lte, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, salesDocuments } from '@/db/schema';
import { orderOf, readSortedPage, type SortedPage } from '../counted-list/sorted-page';
import { type ListPlace, refusalOf, type StaffPage } from '../counted-list/staff-list';
import { constant, type PageStart } from '../cursor-page';
import { matchNumbered } from '../customers/match-customer';
import { findNamedCustomers, isOfAny, type NamedCustomers } from '../customers/named-customers';
import { documentColumns, listSalesDocuments, toSalesDocumentRow } from './queries';
import type { SalesDocumentRow } from './schema';
import type { DocumentStaffFilters } from './staff-filters';

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
export async function readSortedDocuments(
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
