import { sql } from 'drizzle-orm';
import { check, date, index, integer, pgEnum, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { currency, id, instant, money, timestamps, version } from './columns';
import { customerId } from './customers';
import { invoices } from './invoices';

export const paymentStatus = pgEnum('payment_status', ['pending', 'completed', 'failed', 'refunded']);
export const refundStatus = pgEnum('refund_status', ['pending', 'succeeded', 'failed', 'cancelled']);
export const refundSource = pgEnum('refund_source', ['stripe', 'staff', 'api']);
/** Disputes that go no further. */
export const DECIDED_DISPUTES = ['won', 'lost', 'warning_closed', 'prevented'] as const;
/** The same as literals, so that the partial index over the others is used. */
export const decidedDisputes = sql.raw(`('${DECIDED_DISPUTES.join("', '")}')`);
/** Stripe's own; `warning_…` is an inquiry, which withdraws nothing. */
export const disputeStatus = pgEnum('dispute_status', [
  'warning_needs_response',
  'warning_under_review',
  'warning_closed',
  'needs_response',
  'under_review',
  'won',
  'lost',
  'prevented',
]);
export const paymentSource = pgEnum('payment_source', ['api', 'staff', 'stripe', 'import']);

export const payments = pgTable(
  'payments',
  {
    id: id(),
    invoice_id: integer()
      .notNull()
      .references(() => invoices.id),
    customer_id: customerId(),
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

/** What refunds and disputes have in common. */
const moneyBack = {
  id: id(),
  /** Null if its payment is unknown or was deleted. */
  payment_id: integer().references(() => payments.id, { onDelete: 'set null' }),
  stripe_payment_intent_id: text(),
  stripe_charge_id: text(),
  /** The invoice that the money was paid for, if Stripe reported it. */
  stripe_invoice_id: text(),
  amount: money().notNull(),
  currency: currency(),
  /** As Stripe words them. */
  provider_status: text(),
  reason: text(),
  issued_at: instant().notNull(),
  /** As of when Stripe told this state; null: Stripe does not know it. */
  provider_as_of: instant(),
  provider_gone_at: instant(),
  version: version(),
  ...timestamps,
};

/** Money that was paid back: by Stripe, or elsewhere and recorded by staff or the API. */
export const refunds = pgTable(
  'refunds',
  {
    ...moneyBack,
    /** Null: it was recorded here, and Stripe has not told of it. */
    stripe_refund_id: text().unique(),
    status: refundStatus().notNull(),
    /** Who told of it first. */
    source: refundSource().notNull(),
  },
  (t) => [
    index('refunds_payment').on(t.payment_id, t.id),
    index('refunds_issued').on(t.issued_at, t.id),
    index('refunds_open').on(t.id).where(sql`${t.status} = 'pending' and ${t.stripe_refund_id} is not null`),
    index('refunds_without_payment').on(t.id).where(sql`${t.payment_id} is null`),
    check('refunds_amount', sql`${t.amount} > 0`),
    check('refunds_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

/** Payments that a bank, or a customer through theirs, asks back. */
export const disputes = pgTable(
  'disputes',
  {
    ...moneyBack,
    stripe_dispute_id: text().notNull().unique(),
    status: disputeStatus().notNull(),
    evidence_due_at: instant(),
    funds_withdrawn_at: instant(),
    funds_returned_at: instant(),
  },
  (t) => [
    index('disputes_payment').on(t.payment_id, t.id),
    index('disputes_issued').on(t.issued_at, t.id),
    index('disputes_open').on(t.issued_at).where(sql`${t.status} not in ${decidedDisputes}`),
    index('disputes_without_payment').on(t.id).where(sql`${t.payment_id} is null`),
    check('disputes_amount', sql`${t.amount} > 0`),
    check('disputes_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

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

/** Refunds that files contained, so that importing a file again records none twice, even if one changed since. */
export const importedRefunds = pgTable('imported_refunds', {
  reference: text().primaryKey(),
  payment_id: integer()
    .notNull()
    .references(() => payments.id, { onDelete: 'cascade' }),
  amount: money().notNull(),
  refund_date: date().notNull(),
});
