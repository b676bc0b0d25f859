import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  date,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { currency, id, instant, money, timestamps, version } from './columns';
import { customerId } from './customers';
import { invoices } from './invoices';
import { actor } from './journal';

export const paymentStatus = pgEnum('payment_status', ['pending', 'completed', 'failed', 'refunded']);
export const refundStatus = pgEnum('refund_status', ['pending', 'succeeded', 'failed', 'cancelled']);
export const refundSource = pgEnum('refund_source', ['stripe', 'staff', 'api']);
/** Final statuses of disputes. */
export const DECIDED_DISPUTES = ['won', 'lost', 'warning_closed', 'prevented'] as const;
/** `DECIDED_DISPUTES` as SQL literals, so that PostgreSQL uses the partial index over the undecided disputes. */
export const decidedDisputes = sql.raw(`('${DECIDED_DISPUTES.join("', '")}')`);
/** Stripe's statuses of a dispute. A status `warning_…` means an inquiry, which withdraws no money. */
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

/** Money that was paid back to the customer from the credit of a transfer. The amount is decimal text. */
export interface PaidBack {
  amount: string;
  date: string;
  /** Set if the bank returned the whole transfer. */
  is_return?: true;
}

/**
 * A customer's payment for one or several invoices. Each share is a row in `payments`. The amount is the sum of the
 * shares, the credit, and the credit that was paid back.
 */
export const transfers = pgTable(
  'transfers',
  {
    id: id(),
    customer_id: customerId(),
    amount: money().notNull(),
    /** Part of the amount that belongs to no share and was not paid back. */
    credit: money().notNull(),
    paid_back: jsonb().$type<PaidBack[]>().notNull().default([]),
    currency: currency(),
    payment_date: date().notNull(),
    reference: text().notNull().unique(),
    method: text(),
    version: version(),
    ...timestamps,
  },
  (t) => [
    index('transfers_customer').on(t.customer_id, t.payment_date, t.id),
    index('transfers_credit').on(t.payment_date).where(sql`${t.credit} > 0`),
    check('transfers_amount', sql`${t.amount} > 0`),
    check('transfers_credit', sql`${t.credit} between 0 and ${t.amount}`),
    check('transfers_reference', sql`length(${t.reference}) between 1 and 255`),
    check('transfers_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

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
    /**
     * Sum of the refunds, lost disputes, and prevented disputes whose amount was withdrawn and not returned to us. At
     * most `amount`.
     */
    refunded_amount: money().notNull().default('0'),
    status: paymentStatus().notNull().default('completed'),
    source: paymentSource().notNull(),
    /**
     * The value that sync last wrote into `amount`, or null. If the amounts differ, a person or a program changed
     * `amount`.
     */
    provider_amount: money(),
    /** The date that sync last wrote into `payment_date`, or null. If the dates differ, sync keeps `payment_date`. */
    provider_payment_date: date(),
    stripe_payment_intent_id: text(),
    stripe_charge_id: text(),
    /** Reference of the transfer that the payment is a share of. */
    transfer: text().references(() => transfers.reference, { onUpdate: 'cascade' }),
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
    index('payments_transfer').on(t.transfer).where(sql`${t.transfer} is not null`),
    index('payments_reference_trgm').using('gin', t.payment_reference.op('gin_trgm_ops')),
    check('payments_amount', sql`${t.amount} > 0`),
    check('payments_refunded_amount', sql`${t.refunded_amount} between 0 and ${t.amount}`),
    check('payments_reference', sql`length(${t.payment_reference}) between 1 and 255`),
    check('payments_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

/** References of deleted Stripe payments, and former references of renamed ones. Sync must not use them again. */
export const paymentTombstones = pgTable('payment_tombstones', {
  reference: text().primaryKey(),
  ...timestamps,
});

/** Columns of both refunds and disputes. */
const moneyBack = {
  id: id(),
  /** The payment that was refunded or disputed. Null if it is unknown or was deleted. */
  payment_id: integer().references(() => payments.id, { onDelete: 'set null' }),
  stripe_payment_intent_id: text(),
  stripe_charge_id: text(),
  /** Stripe's id of the paid invoice. Null if Stripe did not report it. */
  stripe_invoice_id: text(),
  amount: money().notNull(),
  currency: currency(),
  /** Status and reason as Stripe reports them. */
  provider_status: text(),
  reason: text(),
  issued_at: instant().notNull(),
  /** Time of the state that Stripe reported. Null for a refund that Stripe has not reported. */
  provider_as_of: instant(),
  provider_gone_at: instant(),
  version: version(),
  ...timestamps,
};

/** Refunds, either made by Stripe, or made elsewhere and recorded here. */
export const refunds = pgTable(
  'refunds',
  {
    ...moneyBack,
    /** Stripe's id. Null if the refund was recorded here and Stripe has not reported it. */
    stripe_refund_id: text().unique(),
    status: refundStatus().notNull(),
    /**
     * Who recorded the refund: staff or a client. `stripe` if only Stripe reported it, or if the recorded refund was
     * withdrawn or its payment deleted. A pending refund counts as returned unless its source is `stripe`.
     */
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

/** Disputes. In a dispute, a bank reclaims a payment for itself or for its customer. */
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
 * The accounting journal, in the order in which events became known. Rows are only added, and once the journal exists,
 * never to a past month. A past month that was exported to the accountant therefore never changes, except by an
 * erasure. `book_entries` writes the rows in the transaction that changes the booked record.
 */
export const accountingEntries = pgTable(
  'accounting_entries',
  {
    id: id(),
    record: text()
      .$type<'invoice' | 'credit' | 'write_off' | 'balance' | 'paid_elsewhere' | 'payment' | 'refund'>()
      .notNull(),
    /** Invoice and payment of the entry. The payment may have been deleted since. */
    invoice_id: integer(),
    payment_id: integer(),
    /** Set if the entry posts a transfer's credit as received or paid back. The invoice and payment are then null. */
    transfer_id: integer(),
    /**
     * Posting date: the original date, or the date of recording if the original month was already over. A reversal has
     * the date of recording, or the posting date of the reversed entry if that is later.
     */
    booked_on: date().notNull(),
    /** Date of the invoice, payment or refund itself, or of the other change that the entry posts. */
    original_date: date().notNull(),
    /** The entry that this entry reverses. */
    reverses: integer(),
    /** Number and name of the customer at the time of the entry. A reversal has those of the reversed entry. */
    customer_number: text().notNull(),
    customer_name: text().notNull(),
    /** Country code and VAT ID of the customer at the same time. */
    customer_country: text(),
    customer_vat_id: text(),
    invoice_number: text(),
    /** Number of our own credit note or cancellation that the entry posts. */
    credit_note_number: text(),
    due_date: date(),
    payment_reference: text(),
    method: text(),
    /** Tax rate in percent. Null unless the entry posts a rate of an invoice with lines or of our own credit note. */
    tax_rate: money(),
    net: money(),
    tax: money(),
    /**
     * The posted amount. Usually positive for invoices and received money, and negative for cancellations, credits,
     * write-offs and refunds. A reversal or a correction may have the opposite sign.
     */
    gross: money().notNull(),
    currency: currency(),
    created_at: instant().notNull().defaultNow(),
  },
  (t) => [
    unique('accounting_entries_reverses').on(t.reverses),
    index('accounting_entries_booked').on(t.booked_on, t.id),
    index('accounting_entries_kind').on(t.record, t.currency, t.booked_on, t.id),
    index('accounting_entries_invoice').on(t.invoice_id),
    index('accounting_entries_payment').on(t.payment_id).where(sql`${t.payment_id} is not null`),
    index('accounting_entries_transfer').on(t.transfer_id).where(sql`${t.transfer_id} is not null`),
    check('accounting_entries_subject', sql`num_nonnulls(${t.invoice_id}, ${t.transfer_id}) = 1`),
  ],
);

/** References of imported refunds. A second import of a file skips them, even if a refund has changed since. */
export const importedRefunds = pgTable('imported_refunds', {
  reference: text().primaryKey(),
  payment_id: integer()
    .notNull()
    .references(() => payments.id, { onDelete: 'cascade' }),
  amount: money().notNull(),
  refund_date: date().notNull(),
});

/**
 * `ignored` means that the entry is not a customer's payment. Only older versions wrote `returned`, which means that
 * the money went back, or that the entry took money back. Now `returned_transfer_id` or `returned_payment_id` is set
 * instead.
 */
export const bankEntryState = pgEnum('bank_entry_state', ['open', 'ignored', 'returned']);

/** Uploaded statements of our own bank accounts. */
export const bankStatements = pgTable(
  'bank_statements',
  {
    id: id(),
    account: text().notNull(),
    currency: currency(),
    first_day: date().notNull(),
    last_day: date().notNull(),
    /** Balances in the file. Null if the file contains none. */
    opening: money(),
    closing: money(),
    /** Sum and number of the file's entries, including those that an earlier file contained. */
    booked: money().notNull(),
    entry_count: integer().notNull(),
    file_name: text().notNull(),
    file_sha256: text().notNull(),
    ...actor,
    created_at: instant().notNull().defaultNow(),
  },
  (t) => [
    unique('bank_statements_file').on(t.account, t.file_sha256),
    index('bank_statements_last_day').on(t.last_day, t.id),
    index('bank_statements_account').on(t.account, t.last_day, t.id),
  ],
);

/** Stripe's payouts to a bank account. Reconciliation writes them and compares them with payments and bank entries. */
export const stripePayouts = pgTable(
  'stripe_payouts',
  {
    id: id(),
    stripe_payout_id: text().notNull().unique(),
    /** Amount. Negative if Stripe takes money from the bank account. */
    amount: money().notNull(),
    currency: currency(),
    /** Stripe's status, such as `paid`. A payout can still change from `paid` to `failed` days later. */
    status: text().notNull(),
    failure_code: text(),
    /** False for a payout that a person made. Stripe does not list the transactions of such a payout. */
    is_automatic: boolean().notNull(),
    /** True once Stripe lists all transactions of the payout. Always false for a payout that is not automatic. */
    is_listed: boolean().notNull(),
    arrival_date: date().notNull(),
    issued_at: instant().notNull(),
    /** Sum and number of the payout's entries of each kind. Null until the entries have been read. */
    sums: jsonb().$type<PayoutSums>(),
    /** Kinds of the differences that the last comparison found. */
    differences: jsonb().$type<string[]>().notNull().default([]),
    ...timestamps,
  },
  (t) => [
    index('stripe_payouts_arrival').on(t.arrival_date, t.id),
    index('stripe_payouts_different').on(t.id).where(sql`${t.differences} <> '[]'`),
    index('stripe_payouts_unread').on(t.id).where(sql`${t.sums} is null and ${t.is_listed}`),
    check('stripe_payouts_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

/** Sums of a payout's entries, as decimal text. `charges`, `refunds` and `others` are before Stripe's fees. */
export interface PayoutSums {
  charges: string;
  charge_count: number;
  /** Sum of the refunds. It is negative, because refunds leave the balance. */
  refunds: string;
  refund_count: number;
  /** Sum of disputes and all other movements. */
  others: string;
  other_count: number;
  fees: string;
  /** Sum of all entries after fees. */
  net: string;
}

/** Balance transactions of a payout, without the transaction of the payout itself. */
export const stripePayoutEntries = pgTable(
  'stripe_payout_entries',
  {
    id: id(),
    payout_id: integer()
      .notNull()
      .references(() => stripePayouts.id, { onDelete: 'cascade' }),
    stripe_transaction_id: text().notNull(),
    /** Stripe's transaction type, such as `charge`. */
    type: text().notNull(),
    amount: money().notNull(),
    fee: money().notNull(),
    net: money().notNull(),
    currency: currency(),
    /** Id of the charge, refund, dispute or other source. Null if there is no source, as for a Stripe fee. */
    source_id: text(),
    stripe_payment_intent_id: text(),
    /** Stripe's id of the invoice that the charge pays, taken from our payment with the charge's ids or from Stripe. */
    stripe_invoice_id: text(),
  },
  (t) => [
    unique('stripe_payout_entries_transaction').on(t.payout_id, t.stripe_transaction_id),
    index('stripe_payout_entries_intent')
      .on(t.stripe_payment_intent_id)
      .where(sql`${t.stripe_payment_intent_id} is not null`),
    index('stripe_payout_entries_invoice')
      .on(t.stripe_invoice_id)
      .where(sql`${t.stripe_invoice_id} is not null`),
  ],
);

/**
 * Movements of our bank accounts. An entry counts as explained if its state is not `open`, or as long as a record to
 * which it is linked exists.
 */
export const bankEntries = pgTable(
  'bank_entries',
  {
    id: id(),
    statement_id: integer()
      .notNull()
      .references(() => bankStatements.id),
    account: text().notNull(),
    currency: currency(),
    day: date().notNull(),
    /** Amount. Negative if money left the account. */
    amount: money().notNull(),
    /** Name and IBAN of the other party, and the purpose. Empty if the bank does not report them. */
    name: text().notNull().default(''),
    iban: text().notNull().default(''),
    purpose: text().notNull().default(''),
    bank_reference: text().notNull().default(''),
    is_return: boolean().notNull().default(false),
    /**
     * Digest that identifies the entry in files with overlapping periods. It depends on the entry's values and on its
     * position among equal entries.
     */
    fingerprint: text().notNull(),
    state: bankEntryState().notNull().default('open'),
    transfer_id: integer().references(() => transfers.id, { onDelete: 'set null' }),
    payout_id: integer().references(() => stripePayouts.id, { onDelete: 'set null' }),
    /** The transfer, or the payment without a transfer, that the bank took back with this entry. */
    returned_transfer_id: integer().references(() => transfers.id, { onDelete: 'set null' }),
    returned_payment_id: integer().references(() => payments.id, { onDelete: 'set null' }),
    ...timestamps,
  },
  (t) => [
    unique('bank_entries_fingerprint').on(t.account, t.fingerprint),
    index('bank_entries_statement').on(t.statement_id),
    index('bank_entries_day').on(t.account, t.day, t.id),
    index('bank_entries_iban').on(t.iban, t.id).where(sql`${t.iban} <> ''`),
    uniqueIndex('bank_entries_transfer').on(t.transfer_id).where(sql`${t.transfer_id} is not null`),
    uniqueIndex('bank_entries_payout').on(t.payout_id).where(sql`${t.payout_id} is not null`),
    uniqueIndex('bank_entries_returned_transfer')
      .on(t.returned_transfer_id)
      .where(sql`${t.returned_transfer_id} is not null`),
    uniqueIndex('bank_entries_returned_payment')
      .on(t.returned_payment_id)
      .where(sql`${t.returned_payment_id} is not null`),
  ],
);

/** Rules that staff made to assign an IBAN to a customer. Money from this IBAN belongs to the customer. */
export const bankRules = pgTable(
  'bank_rules',
  {
    id: id(),
    iban: text().notNull().unique(),
    customer_id: customerId(),
    ...actor,
    ...timestamps,
  },
  (t) => [index('bank_rules_customer').on(t.customer_id, t.id)],
);
