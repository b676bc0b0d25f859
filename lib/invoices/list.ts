import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { invoiceBlocks, invoiceDeltas, invoiceStatus, invoices } from '@/db/schema';
import { dayFilters, defineList, wordFilter } from '../counted-list/define-list';
import { countedList } from '../counted-list/list-reader';
import { customerFilter, numberFilter } from '../customers/match-customer';
import { fileColumns, inColumns, type RecordOf, rowColumns, toCustomerSnippet } from '../customers/queries';
import { oneOf } from '../fields';
import { toJsonAmounts } from '../money';
import { addMoneyBack, isRefundedInPart } from './money-back';
import { type InvoiceFilters, type InvoiceRow, invoicePage, invoiceRow } from './schema';

/** Of an invoice in a list. */
export const invoiceColumns = rowColumns(invoices, invoiceRow);

export function toInvoiceRow(record: RecordOf<typeof invoices, typeof invoiceColumns>): InvoiceRow {
  return {
    ...toJsonAmounts(record, 'subtotal', 'tax', 'total', 'amount_paid', 'amount_due'),
    customer: toCustomerSnippet(record.customer),
  };
}

/** The states an invoice can be filtered by: its own status, waiting for money, and what happened to its payments since. */
export const INVOICE_STATES = [...invoiceStatus.enumValues, 'open', 'refunded_in_part'] as const;

const ofStatus = wordFilter(invoiceStatus.enumValues, invoices.status);

const filters = {
  customer: customerFilter(invoices.customer_id),
  number: numberFilter(invoices),
  status: {
    schema: oneOf(INVOICE_STATES),
    means: (state: (typeof INVOICE_STATES)[number], db: Database) => {
      // As literals, so that the partial indexes over them are used.
      if (state === 'open') return { where: sql`${invoices.status} in ('sent', 'overdue')` };
      if (state !== 'refunded_in_part') return ofStatus.means(state, db);
      return { where: isRefundedInPart(), few: true, counted: { is_refunded_in_part: true } };
    },
    counted: { ...ofStatus.counted, is_refunded_in_part: { matches: isRefundedInPart } },
  },
  ...dayFilters(invoices.invoice_date),
};

const counted = countedList({
  table: invoices,
  blocks: invoiceBlocks,
  deltas: invoiceDeltas,
  order: [invoices.invoice_date, invoices.id],
  newestFirst: true,
  filters,
  columns: invoiceColumns,
  toRow: toInvoiceRow,
  page: invoicePage,
});

/** Invoices, newest first; a page past the last is empty. */
export const listInvoices = (db: Database, given: InvoiceFilters) => counted.list(db, given);

/** When an invoice falls due; one without a date, on its own. */
export const dueOn = sql`coalesce(${invoices.due_date}, ${invoices.invoice_date})`;

/** The invoices as staff see them, with what became of their payments. */
export const invoiceList = defineList({
  table: invoices,
  filters,
  orders: { date: sql`${invoices.invoice_date}`, amount: sql`${invoices.total}` },
  sort: '-date',
  rows: async (db, ids) => addMoneyBack(db, await counted.rows(db, ids)),
  async counted(db, request, values) {
    const page = await counted.read(db, request, values);
    return { ...page, data: await addMoneyBack(db, page.data) };
  },
  columns: fileColumns(
    invoiceRow,
    ...['refunded_amount', 'amount_credited', 'amount_off_stripe', 'balance_applied', 'written_off'],
  ),
  toRecord: inColumns,
});

/** Invoices of one currency and status together. */
export const invoiceSums = z.object({
  currency: z.string(),
  status: z.string(),
  count: z.int(),
  total: z.number(),
  amount_paid: z.number(),
  amount_due: z.number(),
  /** Neither paid nor due: by credit notes, or by the customer's balance at Stripe. */
  settled_by_credit: z.number(),
  /** Of `amount_due`: Stripe has given up collecting it. */
  written_off: z.number(),
});

/** Counts and sums of the invoices that the filters find, per currency and status. */
export function summarizeInvoices(db: Database, given: InvoiceFilters) {
  const { currency, status, total, amount_paid, amount_due, uncollectible } = invoices;
  const sums = {
    total,
    amount_paid,
    amount_due,
    // Nothing of a cancelled invoice is settled: its total was never to be paid.
    settled_by_credit: sql`case when ${status} <> 'cancelled' then greatest(${total} - ${amount_paid} - ${amount_due}, 0) end`,
    written_off: sql`case when ${uncollectible} then ${amount_due} end`,
  };
  return counted.sums(db, given, { currency, status }, sums, invoiceSums);
}
