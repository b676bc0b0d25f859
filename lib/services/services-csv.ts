import type { Database } from '@/db/database';
import { allPages } from '../counted-list/staff-list';
import { toCsv } from '../csv';
import { CUSTOMER_COLUMNS, inColumns } from '../customers/customer-columns';
import { findNamedCustomers } from '../customers/named-customers';
import { readSortedServices } from './list-for-staff';
import { serviceRow } from './schema';
import type { ServiceStaffFilters } from './staff-filters';

const BATCH = 1000;
const COLUMNS = [
  ...Object.keys(serviceRow.shape).filter((column) => column !== 'customer'),
  ...CUSTOMER_COLUMNS,
];

/** The services that match as CSV, piece by piece, in the order of the list. */
export function servicesCsv(db: Database, filters: ServiceStaffFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: ServiceStaffFilters) {
  const named = filters.customer === undefined ? null : await findNamedCustomers(db, filters.customer);
  for await (const batch of allPages((start) => readSortedServices(db, filters, named, start, BATCH))) {
    yield batch.map(inColumns);
  }
}
