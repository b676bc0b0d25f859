import { bigint, date, numeric, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';

// What the overview and the renewals tell of all payments, invoices, services and subscriptions, added up as they are
// written: see db/functions/keep_sums.sql and keep_item_sums.sql, and list-counts.ts for how it is kept.

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
