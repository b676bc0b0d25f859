import type { Database } from '@/db/database';
import { allPages } from '../counted-list/staff-list';
import { toCsv } from '../csv';
import { listCustomersForStaff } from './list-for-staff';
import type { CustomerFilters } from './staff-filters';

const BATCH = 1000;
const COLUMNS = ['id', 'customer_number', 'name', 'email', 'city', 'country', 'currency', 'status'];

/** The customers that match as CSV, piece by piece, in the order of the list. */
export function customersCsv(db: Database, filters: CustomerFilters): AsyncGenerator<string> {
  return toCsv(
    COLUMNS,
    allPages((start) => listCustomersForStaff(db, filters, start, BATCH)),
  );
}
