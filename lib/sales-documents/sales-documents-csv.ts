import type { Database } from '@/db/database';
import { allPages } from '../counted-list/staff-list';
import { toCsv } from '../csv';
import { CUSTOMER_COLUMNS, inColumns } from '../customers/customer-columns';
import { findNamedCustomers } from '../customers/named-customers';
import { readSortedDocuments } from './list-for-staff';
import { salesDocumentRow } from './schema';
import type { DocumentStaffFilters } from './staff-filters';

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
