import type { Database } from '@/db/database';
import { allPages } from '../counted-list/staff-list';
import { toCsv } from '../csv';
import { inColumns } from '../customers/customer-columns';
import { toIso } from '../dates';
import { listOverdue, type OverdueFilters } from './overdue-worklist';

const BATCH = 1000;
const COLUMNS = [
  'id',
  'number',
  'due_date',
  'days',
  'currency',
  'amount_due',
  'payment_failed_at',
  'stripe_invoice_id',
  'customer_number',
  'customer_name',
];

/** The overdue invoices that match as CSV, piece by piece, what is due the longest first. */
export function overdueCsv(db: Database, filters: OverdueFilters, today: string): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters, today));
}

async function* readRecords(db: Database, filters: OverdueFilters, today: string) {
  for await (const batch of allPages((start) => listOverdue(db, filters, today, start, BATCH))) {
    yield batch.map((invoice) => ({
      ...inColumns(invoice),
      payment_failed_at: toIso(invoice.payment_failed_at),
    }));
  }
}
