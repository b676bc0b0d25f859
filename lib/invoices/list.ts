import { inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import {
  dueInvoiceBlocks,
  dueInvoiceDeltas,
  invoiceBlocks,
  invoiceDeltas,
  invoiceStatus,
  invoices,
  listSums,
} from '@/db/schema';
import { dayFilters, defineList, wordFilter } from '../counted-list/define-list';
import { countedList } from '../counted-list/list-reader';
import { summarize } from '../counted-list/list-sums';
import { customerSums, sumByCustomer } from '../customers/customer-sums';
import { customerFilter, numberFilter, statusesFilter, toSelection } from '../customers/match-customer';
import { fileColumns, inColumns, type RecordOf, rowColumns, toCustomerSnippet } from '../customers/queries';
import { toIso } from '../dates';
import { oneOf } from '../fields';
import { toJsonAmounts } from '../money';
import { UNPAID_STATUSES } from '../overdue';
import { addMoneyBack, isRefundedInPart } from './money-back';
import { type InvoiceFilters, type InvoiceRow, invoicePage, invoiceRow } from './schema';

/** Columns of an invoice in a list. */
export const invoiceColumns = rowColumns(invoices, invoiceRow);

export function toInvoiceRow(record: RecordOf<typeof invoices, typeof invoiceColumns>): InvoiceRow {
  return {
    ...toJsonAmounts(record, 'subtotal', 'tax', 'total', 'amount_paid', 'amount_due'),
    paid_at: toIso(record.paid_at),
    customer: toCustomerSnippet(record.customer),
  };
}

/** Values of the status filter: each status, `open` for unpaid invoices, and `refunded_in_part`. */
export const INVOICE_STATES = [...invoiceStatus.enumValues, 'open', 'refunded_in_part'] as const;

const ofStatus = wordFilter(invoiceStatus.enumValues, invoices.status);

const filters = {
  customer: customerFilter(invoices.customer_id),
  number: numberFilter(invoices),
  status: {
    schema: oneOf(INVOICE_STATES),
    means: (state: (typeof INVOICE_STATES)[number], db: Database) => {
      // Write the values as literals, so that PostgreSQL can use the partial indexes with the same condition.
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
  more: { statuses: statusesFilter(invoices.status) },
  otherDay: {
    name: 'due_date',
    column: invoices.due_date,
    blocks: dueInvoiceBlocks,
    deltas: dueInvoiceDeltas,
  },
  columns: invoiceColumns,
  toRow: toInvoiceRow,
  page: invoicePage,
});

const toCounted = ({ id, number, statuses, ...given }: InvoiceFilters) => ({
  ...given,
  ...toSelection({ id, number, statuses }),
});

/** Lists invoices, newest first. A filter by due date puts the latest due date first. A page past the end is empty. */
export const listInvoices = (db: Database, given: InvoiceFilters) => counted.list(db, toCounted(given));

/** The due date of an invoice, or its invoice date if it has no due date. */
export const dueOn = sql`coalesce(${invoices.due_date}, ${invoices.invoice_date})`;

/** The list of invoices on staff pages, with their refunds and credits. */
export const invoiceList = defineList({
  table: invoices,
  filters,
  orders: {
    date: sql`${invoices.invoice_date}`,
    amount: sql`${invoices.total}`,
    due: sql`coalesce(${invoices.due_date}, 'infinity')`,
    open: sql`${invoices.amount_due}`,
  },
  sort: '-date',
  // No index supports the returned orders with these filters. Such a query might read all other invoices first.
  lacks({ from, to, status, customer, number }) {
    if (customer !== undefined || number !== undefined) return [];
    if (from || to) return ['due', 'open'];
    return isClosed(status) ? ['open'] : [];
  },
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

const isClosed = (state: (typeof INVOICE_STATES)[number] | undefined): boolean =>
  state === 'draft' || state === 'paid' || state === 'cancelled';

/** Sums of the invoices with one currency and status. */
export const invoiceSums = z.object({
  currency: z.string(),
  status: z.string(),
  count: z.int(),
  tax: z.number(),
  total: z.number(),
  amount_paid: z.number(),
  amount_due: z.number(),
  /** Amount that was settled by credit notes or by the customer's balance at Stripe. It is neither paid nor due. */
  settled_by_credit: z.number(),
  /** The part of `amount_due` that Stripe no longer collects. */
  written_off: z.number(),
});

const keptSums = {
  ...({ table: invoices, list: 'invoice', kinds: [invoices.status], day: 'due_date' } as const),
  where: counted.where,
};

/** Counts and sums the invoices that match the filters, per currency and status. */
export function summarizeInvoices(db: Database, given: InvoiceFilters) {
  const { currency, status } = invoices;
  const { tax, total, amount_paid, amount_due, settled, written_off } = listSums;
  return summarize(db, keptSums, toCounted(given), {
    by: { currency, status },
    of: { tax, total, amount_paid, amount_due, settled_by_credit: settled, written_off },
    schema: invoiceSums,
  });
}

/** Unpaid and invoiced amounts of a customer in one currency. */
export const customerInvoices = customerSums({
  total: z.number(),
  unpaid_count: z.int(),
  unpaid: z.number(),
  oldest_due_date: z.string().nullable(),
});

/**
 * Sums the invoices that match the filters per customer and currency. The currency with the most invoices comes first,
 * and within a currency the customer who owes most.
 */
export function sumInvoicesByCustomer(db: Database, given: InvoiceFilters) {
  const isUnpaid = inArray(invoices.status, UNPAID_STATUSES);
  return sumByCustomer(db, given, {
    table: invoices,
    where: counted.where(toCounted(given)),
    of: {
      total: sql`sum(${invoices.total})::float`,
      unpaid_count: sql`(count(*) filter (where ${isUnpaid}))::int`,
      unpaid: sql`coalesce(sum(${invoices.amount_due}) filter (where ${isUnpaid}), 0)::float`,
      oldest_due_date: sql`(min(${dueOn}) filter (where ${isUnpaid}))::text`,
    },
    largest: ['unpaid', 'total'],
    schema: customerInvoices,
  });
}
