import {
  bigint,
  date,
  index,
  integer,
  numeric,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import { id, instant } from './columns';
import { customerId } from './customers';

// Row counts of the lists, so that a page need not count all rows. db/functions/counts.sql maintains them, and
// lib/counted-list reads them. A list's order is divided into blocks of a few thousand rows. A block has a row count
// for each kind of row, such as a status. Writing a row adds a delta, and from time to time a writer adds the deltas
// to the blocks.

const byDate = { day: date().notNull(), row_id: integer().notNull() };
const byNumber = { number: text().notNull() };

/** The number of rows of one kind ('' for all rows) from the start of a block to the start of the next block. */
const blockCounts = { kind: text().notNull(), row_count: integer().notNull() };
/** The delta of one written row: 1 or -1 for each of its kinds. */
const delta = { kinds: text().array().notNull(), row_count: integer().notNull() };

const blocksByDate = (name: string) =>
  pgTable(name, { ...byDate, ...blockCounts }, (t) => [primaryKey({ columns: [t.kind, t.day, t.row_id] })]);
const deltasByDate = (name: string) => pgTable(name, { ...byDate, ...delta });

export const invoiceBlocks = blocksByDate('invoice_blocks');
export const invoiceDeltas = deltasByDate('invoice_deltas');
export const paymentBlocks = blocksByDate('payment_blocks');
export const paymentDeltas = deltasByDate('payment_deltas');
export const salesDocumentBlocks = blocksByDate('sales_document_blocks');
export const salesDocumentDeltas = deltasByDate('sales_document_deltas');
export const dueInvoiceBlocks = blocksByDate('due_invoice_blocks');
export const dueInvoiceDeltas = deltasByDate('due_invoice_deltas');
export const validDocumentBlocks = blocksByDate('valid_document_blocks');
export const validDocumentDeltas = deltasByDate('valid_document_deltas');
export const billedServiceBlocks = blocksByDate('billed_service_blocks');
export const billedServiceDeltas = deltasByDate('billed_service_deltas');
export const serviceBlocks = pgTable('service_blocks', { ...byNumber, ...blockCounts }, (t) => [
  primaryKey({ columns: [t.kind, t.number] }),
]);
export const serviceDeltas = pgTable('service_deltas', { ...byNumber, ...delta });

/** Names of the lists, sums or receivables in which the daily job found an error. A recount deletes the row. */
export const wrongCounts = pgTable('wrong_counts', {
  list: text().primaryKey(),
  noticed_at: instant().notNull().defaultNow(),
});

// Sums of received payments, of renewals and of entries of the journal, for the overview, the renewals and the
// reports. db/functions/sums.sql maintains them. A write adds deltas, and from time to time a writer adds the deltas to
// the sums.

const sum = {
  /**
   * `received` sums the payments received on a day. `service_renewals` and `item_renewals` sum the prices of the
   * services and subscription items that renew on a day.
   * `booked_invoice`, `booked_credit`, `booked_payment` and `booked_refund` sum a month's gross amounts in the
   * accounting journal. `net_invoice` and `net_credit` sum its net amounts. The day of these sums is the first of the
   * month.
   */
  of: text().notNull(),
  day: date().notNull(),
  currency: text().notNull(),
  row_count: bigint({ mode: 'number' }).notNull(),
  amount: numeric({ precision: 24, scale: 3 }).notNull(),
};

export const sums = pgTable('sums', sum, (t) => [primaryKey({ columns: [t.of, t.day, t.currency] })]);
export const sumDeltas = pgTable('sum_deltas', sum);

const total = () => numeric({ precision: 24, scale: 3 }).notNull();

// Sums of the lists of invoices, sales documents and services, for their summaries (db/functions/list_sums.sql).

const listSum = {
  /** `invoice`, `sales_document` or `service` for sums of a day. ` months` is appended for sums of a month. */
  list: text().notNull(),
  /**
   * The status of invoices, the type and status of sales documents, or the status, interval and type of services,
   * separated by spaces.
   */
  kind: text().notNull(),
  currency: text().notNull(),
  /**
   * The due date of invoices, the last day of validity of sales documents, or the next billing date of services. It is
   * `infinity` for rows without this date. For sums of a month, it is the first day of the month.
   */
  day: date().notNull(),
  row_count: bigint({ mode: 'number' }).notNull(),
  /** Sum of the totals, or of the prices of services. The other amounts are 0 unless the rows are invoices. */
  total: total(),
  tax: total(),
  amount_paid: total(),
  amount_due: total(),
  /** Sum of the amounts that are neither paid nor due, because credit notes or a balance at Stripe settled them. */
  settled: total(),
  /** The part of `amount_due` that Stripe no longer collects. */
  written_off: total(),
};

export const listSums = pgTable('list_sums', listSum, (t) => [
  primaryKey({ columns: [t.list, t.day, t.kind, t.currency] }),
]);
export const listSumDeltas = pgTable('list_sum_deltas', listSum);

// The amounts that customers owe, for the list of receivables. A write only marks the customer. From time to time, a
// writer computes the rows of all marked customers (db/functions/receivables.sql).

/**
 * The amounts that a customer owes in one currency. A row is up to date if its customer is not marked and the current
 * day is from `valid_from` to before `valid_until`.
 */
export const receivables = pgTable(
  'receivables',
  {
    customer_id: integer().notNull(),
    currency: text().notNull(),
    /** Amount due and number of the unpaid invoices, and their oldest due date (or invoice date if that is null). */
    open_amount: total(),
    invoice_count: integer().notNull(),
    oldest_due: date().notNull(),
    /** Open amount in each age group (`lib/overdue.ts`). */
    not_due: total(),
    days_1_30: total(),
    days_31_60: total(),
    days_61_90: total(),
    over_90_days: total(),
    /**
     * The date of the customer's last completed payment or transfer in any currency, and the time of the last note.
     * `-infinity` if the customer has never paid, or has no note.
     */
    last_payment: date().notNull(),
    last_note: instant().notNull(),
    /** The first day on which the row's age groups are correct, and the first day on which they no longer are. */
    valid_from: date().notNull(),
    valid_until: date().notNull(),
  },
  (t) => {
    const order = (name: string, by: PgColumn) =>
      index(`receivables_${name}`).on(by, t.customer_id, t.currency);
    return [
      primaryKey({ columns: [t.customer_id, t.currency] }),
      order('open', t.open_amount),
      order('count', t.invoice_count),
      order('due', t.oldest_due),
      order('not_due', t.not_due),
      order('1_30', t.days_1_30),
      order('31_60', t.days_31_60),
      order('61_90', t.days_61_90),
      order('over_90', t.over_90_days),
      order('payment', t.last_payment),
      order('note', t.last_note),
      index('receivables_valid_from').on(t.valid_from),
      index('receivables_valid_until').on(t.valid_until),
    ];
  },
);

/** Customers for whom `receivables` must be recomputed. */
export const receivableChanges = pgTable('receivable_changes', { customer_id: integer().notNull() });

// The state at the end of each month, for the reports. It is stored nowhere else. The daily job writes the rows of a
// month once, after the end of the month (db/functions/month_states.sql), and never changes them.

/**
 * An amount of money per month. It has more decimals than a currency, because a yearly price divided by twelve may not
 * be exact.
 */
const perMonth = () => numeric({ precision: 24, scale: 6 }).notNull();

export const monthStates = pgTable(
  'month_states',
  {
    /** The first day of the month. */
    month: date().notNull(),
    /**
     * `recorded` means that the month has been recorded. `recorded_age` means that its age groups have been recorded.
     * `recorded_rows` means that `month_amounts` has the rows of all its measures. These three have no currency. `mrr`
     * counts customers and sums their recurring revenue per month. `mrr_new`, `mrr_expansion`, `mrr_contraction` and
     * `mrr_churn` are its changes since the previously recorded month. `product_` with a service type counts services
     * and sums their prices per month. `age_` with an age group (`lib/overdue.ts`), or `age_open` for all groups,
     * counts customers and sums the amounts they owe.
     */
    measure: text().notNull(),
    currency: text().notNull(),
    row_count: integer().notNull(),
    amount: perMonth(),
  },
  (t) => [primaryKey({ columns: [t.month, t.measure, t.currency] })],
);

/**
 * The amounts of each customer that `month_states` sums. A row covers all consecutive months with the same amount, so
 * a new month adds rows only for customers with changed amounts. After a merge, a customer may have several rows for a
 * measure and a month.
 */
export const monthAmounts = pgTable(
  'month_amounts',
  {
    id: id(),
    /** A measure of `month_states`. A row of an `mrr_` measure is a change and covers one month. */
    measure: text().notNull(),
    currency: text().notNull(),
    customer_id: customerId(),
    amount: perMonth(),
    first_month: date().notNull(),
    /** The first month with a different amount. It is `infinity` if the last recorded month still has this amount. */
    until_month: date().notNull(),
  },
  (t) => [
    index('month_amounts_measure').on(t.measure, t.currency, t.customer_id, t.id),
    index('month_amounts_customer').on(t.customer_id, t.id),
  ],
);
