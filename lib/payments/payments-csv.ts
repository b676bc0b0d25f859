import { stringify } from 'csv-stringify/sync';
import type { Database } from '@/db/database';
import { readPaymentsForStaff } from './list-for-staff';
import type { NamedPayment } from './payment-context';
import { paymentRow } from './schema';
import type { StaffFilters } from './staff-filters';

const BATCH = 1000;
const COLUMNS = [...Object.keys(paymentRow.shape), 'invoice_number', 'customer_number', 'customer_name'];

/**
 * The payments that match as CSV (RFC 4180), piece by piece. A byte order mark tells spreadsheets that it is
 * UTF-8, and an apostrophe keeps them from taking a text for a formula.
 */
export async function* paymentsCsv(db: Database, filters: StaffFilters): AsyncGenerator<string> {
  let isFirst = true;
  for await (const batch of readPaymentsForStaff(db, filters, BATCH)) {
    yield stringify(batch.map(toRecord), {
      columns: COLUMNS,
      header: isFirst,
      bom: isFirst,
      record_delimiter: 'windows',
      escape_formulas: true,
    });
    isFirst = false;
  }
}

function toRecord({ customer, ...payment }: NamedPayment) {
  return {
    ...payment,
    customer_number: customer?.customer_number,
    customer_name: customer?.name,
  };
}
