import type { Database } from '@/db/database';
import { toCsv } from '../csv';
import { readPaymentsForStaff } from './list-for-staff';
import { paymentRow } from './schema';
import type { StaffFilters } from './staff-filters';

const BATCH = 1000;
const COLUMNS = [
  ...Object.keys(paymentRow.shape),
  'disputed',
  'invoice_number',
  'customer_number',
  'customer_name',
];

/** The payments that match as CSV, piece by piece. */
export function paymentsCsv(db: Database, filters: StaffFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: StaffFilters) {
  for await (const batch of readPaymentsForStaff(db, filters, BATCH)) {
    yield batch.map(({ customer, ...payment }) => ({
      ...payment,
      customer_number: customer?.customer_number,
      customer_name: customer?.name,
    }));
  }
}
