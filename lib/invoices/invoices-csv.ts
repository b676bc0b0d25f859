import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { toCsv } from '../csv';
import { literal } from '../page-query';
import { addMoneyBack, type WithMoneyBack } from './money-back';
import { type InvoiceConditions, invoiceColumns, matchInvoices, newestFirst, toInvoiceRow } from './queries';
import { type InvoiceRow, invoiceRow } from './schema';
import { type InvoiceStaffFilters, toInvoiceConditions } from './staff-filters';

const BATCH = 1000;
const COLUMNS = [
  ...Object.keys(invoiceRow.shape).filter((column) => column !== 'customer'),
  'refunded_amount',
  'amount_credited',
  'customer_id',
  'customer_number',
  'customer_name',
];

/** The invoices that match as CSV, piece by piece, newest first. */
export function invoicesCsv(db: Database, filters: InvoiceStaffFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: InvoiceStaffFilters) {
  const conditions = await toInvoiceConditions(db, filters);
  for (let last: InvoiceRow | undefined, more = true; more; ) {
    const batch: InvoiceRow[] = conditions ? await readBatch(db, conditions, last) : [];
    yield (await addMoneyBack(db, batch)).map(toRecord);
    last = batch.at(-1);
    more = batch.length === BATCH;
  }
}

/** Behind the last one: what comes in between shifts nothing. */
async function readBatch(db: Database, conditions: InvoiceConditions, last: InvoiceRow | undefined) {
  const rest =
    last && sql`(${invoices.invoice_date}, ${invoices.id}) < (${last.invoice_date}::date, ${last.id}::int)`;
  const found = await db
    .select(invoiceColumns)
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(and(matchInvoices(conditions), rest))
    .orderBy(...newestFirst)
    .limit(literal(BATCH));
  return found.map(toInvoiceRow);
}

function toRecord({ customer, ...invoice }: WithMoneyBack<InvoiceRow>) {
  return {
    ...invoice,
    customer_id: customer.id,
    customer_number: customer.customer_number,
    customer_name: customer.name,
  };
}
