import type { Database } from '@/db/database';
import { allPages } from '../counted-list/staff-list';
import { toCsv } from '../csv';
import { CUSTOMER_COLUMNS, inColumns } from '../customers/customer-columns';
import { findNamedCustomers } from '../customers/named-customers';
import { readSortedInvoices } from './list-for-staff';
import { invoiceRow } from './schema';
import type { InvoiceStaffFilters } from './staff-filters';

const BATCH = 1000;
const COLUMNS = [
  ...Object.keys(invoiceRow.shape).filter((column) => column !== 'customer'),
  'refunded_amount',
  'amount_credited',
  'amount_off_stripe',
  'balance_applied',
  'written_off',
  ...CUSTOMER_COLUMNS,
];

/** The invoices that match as CSV, piece by piece, in the order of the list. */
export function invoicesCsv(db: Database, filters: InvoiceStaffFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: InvoiceStaffFilters) {
  const named = filters.customer === undefined ? null : await findNamedCustomers(db, filters.customer);
  for await (const batch of allPages((start) => readSortedInvoices(db, filters, named, start, BATCH))) {
    yield batch.map(inColumns);
  }
}
