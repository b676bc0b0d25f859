import { sql } from 'drizzle-orm';
import { date, index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { currency, id, instant, money } from './columns';

/**
 * What an accountant posts, in the order in which it became known: rows are added and never changed, so that the month
 * that was handed over stays as it was. Written by `book_entries` in the transaction of what it books.
 */
export const accountingEntries = pgTable(
  'accounting_entries',
  {
    id: id(),
    record: text()
      .$type<'invoice' | 'credit' | 'write_off' | 'balance' | 'paid_elsewhere' | 'payment' | 'refund'>()
      .notNull(),
    /** The invoice it is of, and the payment, which may be deleted by now. */
    invoice_id: integer().notNull(),
    payment_id: integer(),
    /** In whose month it is posted: on its own day, or when it was recorded if that month was over. */
    booked_on: date().notNull(),
    /** Its own day. */
    original_date: date().notNull(),
    /** The row that it takes back. */
    reverses: integer(),
    /** As they were then. */
    customer_number: text().notNull(),
    customer_name: text().notNull(),
    invoice_number: text(),
    due_date: date(),
    payment_reference: text(),
    method: text(),
    /** Percent; null: the invoice has no lines. */
    tax_rate: money(),
    net: money(),
    tax: money(),
    /** What is posted, below zero where money or a claim goes. */
    gross: money().notNull(),
    currency: currency(),
    created_at: instant().notNull().defaultNow(),
  },
  (t) => [
    unique('accounting_entries_reverses').on(t.reverses),
    index('accounting_entries_booked').on(t.booked_on, t.id),
    index('accounting_entries_invoice').on(t.invoice_id),
    index('accounting_entries_payment').on(t.payment_id).where(sql`${t.payment_id} is not null`),
  ],
);
