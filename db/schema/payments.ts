import { sql } from 'drizzle-orm';
import { check, date, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { currency, id, money, timestamps, version } from './columns';
import { customers } from './customers';
import { paymentSource, paymentStatus } from './enums';
import { invoices } from './invoices';

export const payments = pgTable(
  'payments',
  {
    id: id(),
    invoice_id: integer()
      .notNull()
      .references(() => invoices.id),
    customer_id: integer()
      .notNull()
      .references(() => customers.id),
    amount: money().notNull(),
    currency: currency(),
    payment_date: date().notNull(),
    payment_reference: text().notNull().unique(),
    /** What came back of the amount: succeeded refunds and lost disputes, never more than it. */
    refunded_amount: money().notNull().default('0'),
    status: paymentStatus().notNull().default('completed'),
    source: paymentSource().notNull(),
    /** The value that sync last wrote into `amount`. If `amount` differs, a person or a program changed it. */
    provider_amount: money(),
    /** The same of `payment_date`; null: it is not known, and the date stays. */
    provider_payment_date: date(),
    stripe_payment_intent_id: text(),
    stripe_charge_id: text(),
    version: version(),
    ...timestamps,
  },
  (t) => [
    index('payments_date').on(t.payment_date, t.id),
    index('payments_customer').on(t.customer_id, t.payment_date, t.id),
    index('payments_invoice').on(t.invoice_id, t.payment_date, t.id),
    index('payments_status').on(t.status, t.payment_date, t.id),
    index('payments_amount').on(t.amount, t.id),
    index('payments_refunded_in_part')
      .on(t.payment_date, t.id)
      .where(sql`${t.refunded_amount} > 0 and ${t.refunded_amount} < ${t.amount}`),
    index('payments_stripe_intent')
      .on(t.stripe_payment_intent_id)
      .where(sql`${t.stripe_payment_intent_id} is not null`),
    index('payments_stripe_charge').on(t.stripe_charge_id).where(sql`${t.stripe_charge_id} is not null`),
    index('payments_reference_trgm').using('gin', t.payment_reference.op('gin_trgm_ops')),
    check('payments_amount', sql`${t.amount} > 0`),
    check('payments_refunded_amount', sql`${t.refunded_amount} between 0 and ${t.amount}`),
    check('payments_reference', sql`length(${t.payment_reference}) between 1 and 255`),
    check('payments_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

/** References of deleted Stripe payments: sync must not bring them back. */
export const paymentTombstones = pgTable('payment_tombstones', {
  reference: text().primaryKey(),
  ...timestamps,
});
