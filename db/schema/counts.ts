import { bigint, date, integer, numeric, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from './columns';

// How many rows a list has, so that no list counts them (db/functions/counts.sql keeps all of it, and
// lib/counted-list reads it). A list's order is cut into blocks of some thousand rows; a block tells how
// many it holds of each kind, such as of a status. Writing a row adds a delta; now and then a writer folds the
// deltas into the blocks.

const byDate = { day: date().notNull(), row_id: integer().notNull() };
const byNumber = { number: text().notNull() };

/** Of one kind each ('': all rows), from here to where the next block begins. */
const blockCounts = { kind: text().notNull(), row_count: integer().notNull() };
/** Of one row that was written: 1 or -1 for each of its kinds. */
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
export const serviceBlocks = pgTable('service_blocks', { ...byNumber, ...blockCounts }, (t) => [
  primaryKey({ columns: [t.kind, t.number] }),
]);
export const serviceDeltas = pgTable('service_deltas', { ...byNumber, ...delta });

/** Lists of which the daily job found a block that is wrong, until they are counted anew. */
export const wrongCounts = pgTable('wrong_counts', {
  list: text().primaryKey(),
  noticed_at: instant().notNull().defaultNow(),
});

// What the overview and the renewals tell of all payments, invoices, services and subscriptions, added up as they are
// written: kept like the counts above, by db/functions/sums.sql.

const sum = {
  /**
   * `received`: payments that were received, on their day; `sent` and `overdue`: what such invoices have still due;
   * `service_renewals` and `item_renewals`: what services and items of subscriptions are billed for, on that day.
   */
  of: text().notNull(),
  /** -infinity of what belongs to no day. */
  day: date().notNull(),
  currency: text().notNull(),
  row_count: bigint({ mode: 'number' }).notNull(),
  amount: numeric({ precision: 24, scale: 3 }).notNull(),
};

export const sums = pgTable('sums', sum, (t) => [primaryKey({ columns: [t.of, t.day, t.currency] })]);
export const sumDeltas = pgTable('sum_deltas', sum);
