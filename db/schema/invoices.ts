import { sql } from 'drizzle-orm';
import { boolean, check, date, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { currency, id, instant, money, timestamps, version } from './columns';
import { customers } from './customers';
import { invoiceStatus } from './enums';
import { subscriptions } from './subscriptions';

export const invoices = pgTable(
  'invoices',
  {
    id: id(),
    /** Null on drafts. Stripe may number two accounts' invoices alike, so ours alone are unique. */
    number: text(),
    customer_id: integer()
      .notNull()
      .references(() => customers.id),
    subscription_id: integer().references(() => subscriptions.id),
    status: invoiceStatus().notNull().default('draft'),
    invoice_date: date().notNull(),
    due_date: date(),
    currency: currency(),
    subtotal: money().notNull(),
    tax: money().notNull(),
    total: money().notNull(),
    amount_paid: money().notNull().default('0'),
    amount_due: money().notNull(),
    paid_at: instant(),
    payment_failed_at: instant(),
    uncollectible: boolean().notNull().default(false),
    /** Paid, but not collected by Stripe (cash, transfer noted there); null: not known yet. */
    amount_off_stripe: money(),
    /** Of the total, by Stripe's credit notes, before and after payment. */
    amount_credited: money().notNull().default('0'),
    /**
     * Of the total, paid from the customer's balance at Stripe. Below zero: the invoice also collects an earlier debt,
     * or its negative total was added to the balance. Null: no part of it, or not known yet.
     */
    balance_applied: money(),
    /** The payment that a program or staff recorded of what Stripe collected, before sync could. */
    collected_by_payment_id: integer(),
    stripe_invoice_id: text().unique(),
    /** Whose it is at Stripe. */
    stripe_customer_id: text(),
    stripe_synced_at: instant(),
    provider_as_of: instant(),
    provider_gone_at: instant(),
    recheck_at: instant(),
    version: version(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex('invoices_number_local').on(t.number).where(sql`${t.stripe_invoice_id} is null`),
    // Also finds the beginning of a number, in any collation of the database.
    index('invoices_number').on(t.number.op('text_pattern_ops')),
    // For the end of one.
    index('invoices_number_end').on(sql`reverse(${t.number}) text_pattern_ops`),
    index('invoices_date').on(t.invoice_date, t.id),
    index('invoices_customer').on(t.customer_id, t.invoice_date, t.id),
    index('invoices_status').on(t.status, t.invoice_date, t.id),
    index('invoices_subscription').on(t.subscription_id),
    // For payments that are looked for by an amount or a part of a number.
    index('invoices_unpaid_amount').on(t.amount_due).where(sql`${t.status} in ('sent', 'overdue')`),
    index('invoices_unpaid_total').on(t.total).where(sql`${t.status} in ('sent', 'overdue')`),
    index('invoices_unpaid_number')
      .using('gin', t.number.op('gin_trgm_ops'))
      .where(sql`${t.status} in ('sent', 'overdue')`),
    index('invoices_due').on(t.due_date).where(sql`${t.status} = 'sent'`),
    index('invoices_total').on(t.total, t.id),
    // In the order in which they were due, with what their sums are made of; the planner takes the dates for needed too.
    index('invoices_overdue')
      .on(
        sql`coalesce(${t.due_date}, ${t.invoice_date})`,
        t.id,
        t.currency,
        t.amount_due,
        t.due_date,
        t.invoice_date,
      )
      .where(sql`${t.status} = 'overdue'`),
    index('invoices_unpaid')
      .on(t.customer_id, t.currency, t.status, t.amount_due)
      .where(sql`${t.status} in ('sent', 'overdue')`),
    index('invoices_open').on(t.invoice_date, t.id).where(sql`${t.status} in ('sent', 'overdue')`),
    // For what Stripe collected. With amount_paid in the condition, no settlement could be a HOT update.
    index('invoices_stripe').on(t.id).where(sql`${t.stripe_invoice_id} is not null`),
    index('invoices_stripe_customer').on(t.stripe_customer_id),
    index('invoices_recheck').on(t.id).where(sql`${t.recheck_at} is not null`),
    check(
      'invoices_number_present',
      sql`${t.number} is not null or ${t.status} = 'draft' or ${t.stripe_invoice_id} is not null`,
    ),
    check('invoices_amount_paid', sql`${t.amount_paid} >= 0`),
    check('invoices_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);
