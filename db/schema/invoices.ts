import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  boolean,
  check,
  date,
  index,
  integer,
  jsonb,
  numeric,
  pgEnum,
  pgTable,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { bytes, currency, id, instant, money, timestamps, version } from './columns';
import { customerId } from './customers';
import { subscriptions } from './services';

export const invoiceStatus = pgEnum('invoice_status', ['draft', 'sent', 'paid', 'overdue', 'cancelled']);
/** VAT category codes of EN 16931 (UNCL 5305), which `lib/customers/tax-category.ts` explains. */
export const taxCategory = pgEnum('tax_category', ['S', 'Z', 'E', 'AE', 'G', 'O', 'K']);
/** `cancellation` credits our invoice's whole remaining claim. `credit_note` is any other credit, ours or Stripe's. */
export const creditNoteKind = pgEnum('credit_note_kind', ['cancellation', 'credit_note']);
export const salesDocumentType = pgEnum('sales_document_type', ['offer', 'order_confirmation']);
export const salesDocumentStatus = pgEnum('sales_document_status', [
  'draft',
  'sent',
  'accepted',
  'rejected',
  'expired',
  'converted',
]);

export const invoices = pgTable(
  'invoices',
  {
    id: id(),
    /**
     * Invoice number. Null for drafts, and if Stripe gave none. Unique only among our own invoices, because two Stripe
     * accounts may use the same number.
     */
    number: text(),
    customer_id: customerId(),
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
    /** Dates of the payment reminders, the earliest first. Their count is the level of the last reminder. */
    reminded_on: date().array().notNull().default([]),
    /**
     * Amount paid outside Stripe (in cash or by a transfer to us). Null for our own invoices, and until it is known.
     */
    amount_off_stripe: money(),
    /**
     * Sum of the amounts that credit notes credited, before and after payment. The sum does not include cancellations.
     */
    amount_credited: money().notNull().default('0'),
    /**
     * Amount paid from the customer's balance at Stripe. Negative if the invoice also collects an earlier debt, or if
     * its negative total was added to the balance. Null if the balance was not used, or if that is not known yet.
     */
    balance_applied: money(),
    /** Id of the payment that records Stripe's collection under another reference. Null if there is no such payment. */
    collected_by_payment_id: integer(),
    stripe_invoice_id: text().unique(),
    /** Id of the invoice's Stripe customer. Null if the invoice has no Stripe customer. */
    stripe_customer_id: text(),
    stripe_synced_at: instant(),
    provider_as_of: instant(),
    provider_gone_at: instant(),
    recheck_at: instant(),
    /** Fingerprint of the lines that Stripe last reported. Null for our own invoices, and before the first report. */
    lines_hash: text(),
    /** True if `stripe_invoice_lines` holds all lines of the invoice. */
    lines_complete: boolean().notNull().default(false),
    version: version(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex('invoices_number_local').on(t.number).where(sql`${t.stripe_invoice_id} is null`),
    // With this operator class, the index also finds the start of a number in any collation.
    index('invoices_number').on(t.number.op('text_pattern_ops')),
    // This index finds the end of a number.
    index('invoices_number_end').on(sql`reverse(${t.number}) text_pattern_ops`),
    index('invoices_date').on(t.invoice_date, t.id),
    index('invoices_customer').on(t.customer_id, t.invoice_date, t.id),
    index('invoices_status').on(t.status, t.invoice_date, t.id),
    index('invoices_subscription').on(t.subscription_id),
    // The next three indexes serve searches for unpaid invoices by an amount or by a part of a number.
    index('invoices_unpaid_amount').on(t.amount_due, t.id).where(sql`${t.status} in ('sent', 'overdue')`),
    index('invoices_unpaid_total').on(t.total).where(sql`${t.status} in ('sent', 'overdue')`),
    index('invoices_unpaid_number')
      .using('gin', t.number.op('gin_trgm_ops'))
      .where(sql`${t.status} in ('sent', 'overdue')`),
    index('invoices_due').on(t.due_date).where(sql`${t.status} = 'sent'`),
    index('invoices_total').on(t.total, t.id),
    // These indexes serve lists in the order of the open amount or of the due date.
    index('invoices_amount_due').on(t.amount_due, t.id),
    index('invoices_overdue_amount').on(t.amount_due, t.id).where(sql`${t.status} = 'overdue'`),
    index('invoices_unpaid_due')
      .on(sql`coalesce(${t.due_date}, 'infinity')`, t.id)
      .where(sql`${t.status} in ('sent', 'overdue')`),
    // These indexes serve the list in the order of the due date. Invoices without a due date come last.
    index('invoices_due_order').on(sql`coalesce(${t.due_date}, 'infinity')`, t.id),
    index('invoices_status_due').on(t.status, sql`coalesce(${t.due_date}, 'infinity')`, t.id),
    // This index is ordered by due date and covers the columns of the sums. The planner only chooses an
    // index-only scan if the index also contains both dates of the expression.
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
    // This index serves the worklist of reminders, by level. Its condition must match the condition in
    // `lib/invoices/reminders.ts`.
    index('invoices_reminders')
      .on(sql`cardinality(${t.reminded_on})`, sql`coalesce(${t.due_date}, ${t.invoice_date})`, t.id)
      .where(sql`${t.status} in ('sent', 'overdue') and not ${t.uncollectible}
        and (${t.stripe_invoice_id} is null or ${t.due_date} is not null)`),
    index('invoices_open').on(t.invoice_date, t.id).where(sql`${t.status} in ('sent', 'overdue')`),
    // This index finds Stripe's invoices. If its condition used amount_paid, no settlement could be a HOT update.
    index('invoices_stripe').on(t.id).where(sql`${t.stripe_invoice_id} is not null`),
    // This index serves the search for Stripe's credit notes that are not stored yet.
    index('invoices_credited')
      .on(t.id)
      .where(sql`${t.stripe_invoice_id} is not null and ${t.amount_credited} > 0`),
    index('invoices_stripe_customer').on(t.stripe_customer_id),
    index('invoices_recheck').on(t.id).where(sql`${t.recheck_at} is not null`),
    index('invoices_without_lines')
      .on(t.id)
      .where(sql`${t.stripe_invoice_id} is not null and not ${t.lines_complete}`),
    check(
      'invoices_number_present',
      sql`${t.number} is not null or ${t.status} = 'draft' or ${t.stripe_invoice_id} is not null`,
    ),
    check('invoices_amount_paid', sql`${t.amount_paid} >= 0`),
    check('invoices_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

/** Offers and order confirmations. */
export const salesDocuments = pgTable(
  'sales_documents',
  {
    id: id(),
    document_number: text().notNull().unique(),
    type: salesDocumentType().notNull(),
    status: salesDocumentStatus().notNull().default('draft'),
    customer_id: customerId(),
    document_date: date().notNull(),
    valid_until: date(),
    currency: currency(),
    subtotal: money().notNull(),
    tax: money().notNull(),
    total: money().notNull(),
    converted_to_invoice_id: integer().references(() => invoices.id),
    /** The order confirmation that was made from this offer. */
    converted_to_document_id: integer().references((): AnyPgColumn => salesDocuments.id),
    version: version(),
    ...timestamps,
  },
  (t) => [
    // This index finds the highest number of a series by its prefix.
    index('sales_documents_number').on(t.document_number.op('text_pattern_ops')),
    index('sales_documents_number_end').on(sql`reverse(${t.document_number}) text_pattern_ops`),
    index('sales_documents_date').on(t.document_date, t.id),
    index('sales_documents_total').on(t.total, t.id),
    index('sales_documents_customer').on(t.customer_id, t.document_date, t.id),
    index('sales_documents_status').on(t.status, t.document_date, t.id),
    index('sales_documents_valid').on(sql`coalesce(${t.valid_until}, 'infinity')`, t.id),
    index('sales_documents_status_valid').on(t.status, sql`coalesce(${t.valid_until}, 'infinity')`, t.id),
    index('sales_documents_type').on(t.type, t.document_date, t.id),
    index('sales_documents_type_status').on(t.type, t.status, t.document_date, t.id),
    index('sales_documents_invoice').on(t.converted_to_invoice_id),
    index('sales_documents_document').on(t.converted_to_document_id),
    check('sales_documents_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

const line = {
  id: id(),
  /** Position of the line, counted from 1. */
  position: integer().notNull(),
  text: text().notNull(),
  quantity: numeric({ precision: 12, scale: 3 }).notNull(),
  /** Price without tax, in major units of the currency of the line's invoice or document. */
  unit_price: money().notNull(),
  /** Tax rate in percent. */
  tax_rate: numeric({ precision: 5, scale: 2 }).notNull(),
  /** Tax category. Null for the customer's default category. Issuing an invoice stores the category of each line. */
  tax_category: taxCategory(),
};

const invoiceId = () =>
  integer()
    .notNull()
    .references(() => invoices.id, { onDelete: 'cascade' });

/** Lines of our own invoices. Imported invoices may have totals only. */
export const invoiceLines = pgTable(
  'invoice_lines',
  {
    ...line,
    invoice_id: invoiceId(),
  },
  (t) => [unique('invoice_lines_position').on(t.invoice_id, t.position)],
);

/** A tax on a line of a Stripe invoice or credit note. Amounts are decimal text in major units. */
export interface KeptTax {
  amount: string;
  /** True if the line's amount contains the tax. */
  inclusive: boolean;
  /** Percentage as decimal text. Null if Stripe does not report it and the amounts do not determine it. */
  rate: string | null;
  /** Stripe's type of the tax rate, such as `vat`. Null if the API version does not report it. */
  type: string | null;
  /** Stripe's reason for the rate, such as `standard_rated` or `reverse_charge`. Null in older API versions. */
  reason: string | null;
}

/** Lines of Stripe's invoices, as Stripe last reported them. Sync replaces all lines of an invoice at once. */
export const stripeInvoiceLines = pgTable(
  'stripe_invoice_lines',
  {
    id: id(),
    invoice_id: invoiceId(),
    /** Position of the line, counted from 1. */
    position: integer().notNull(),
    description: text(),
    period_start: instant(),
    period_end: instant(),
    /** Quantity. Null if Stripe reports no quantity, as for some metered prices. */
    quantity: numeric(),
    /** Amount before discounts, in the invoice's currency. It contains the inclusive taxes. */
    amount: money().notNull(),
    /** Sum of the discounts, as a positive amount. */
    discount: money().notNull(),
    taxes: jsonb().$type<KeptTax[]>().notNull(),
  },
  (t) => [unique('stripe_invoice_lines_position').on(t.invoice_id, t.position)],
);

export const salesDocumentLines = pgTable(
  'sales_document_lines',
  {
    ...line,
    sales_document_id: integer()
      .notNull()
      .references(() => salesDocuments.id, { onDelete: 'cascade' }),
  },
  (t) => [unique('sales_document_lines_position').on(t.sales_document_id, t.position)],
);

/**
 * Number formats. `take_number` returns the highest number plus one, or `first_count` if that is higher. The same
 * transaction must use the number. Other writers of the series wait for that transaction, so no number is skipped.
 */
export const numberSeries = pgTable('number_series', {
  /** `invoice`, `credit_note`, `offer`, `order_confirmation` or `service`. Customer numbers have no series. */
  name: text().primaryKey(),
  prefix: text().notNull(),
  /** True if the year follows the prefix and the count restarts every year. */
  with_year: boolean().notNull(),
  /** Number of digits of the count, with leading zeros. */
  width: integer().notNull(),
  /** First value of the count. */
  first_count: integer().notNull().default(1),
  ...timestamps,
});

/** Import keys of drafts. A draft has no number, so import files identify it by this key. */
export const draftImportKeys = pgTable('draft_import_keys', {
  import_key: text().primaryKey().default(sql`'draft-' || gen_random_uuid()`),
  invoice_id: invoiceId().unique(),
});

/** Our company's details for documents. There is at most one row. */
export const company = pgTable(
  'company',
  {
    id: integer().primaryKey().default(1),
    name: text(),
    street: text(),
    postal_code: text(),
    city: text(),
    /** Country as an ISO 3166-1 alpha-2 code. */
    country: text(),
    vat_id: text(),
    tax_number: text(),
    /** Register and number, such as `Amtsgericht Musterstadt, HRB 12345`. */
    register_entry: text(),
    /** True if the company charges no VAT as a small business (in Germany section 19 UStG). */
    small_business: boolean().notNull().default(false),
    contact_name: text(),
    contact_phone: text(),
    contact_email: text(),
    bank_name: text(),
    /** IBAN in capitals, without spaces. */
    iban: text(),
    bic: text(),
    /** IBANs of our other bank accounts, separated by commas. Documents do not print them. */
    other_ibans: text(),
    /** Sentence that documents print instead of the default sentence with the due date. */
    payment_terms: text(),
    footer: text(),
    /**
     * PNG or JPEG as a data URL (base64). Only checked pictures are stored, because documents print the logo unchanged.
     */
    logo: text(),
    ...timestamps,
  },
  (t) => [check('company_single', sql`${t.id} = 1`)],
);

/** The details of a company or a customer that a document prints, keyed by column name. */
export type KeptParty = Record<string, string | boolean | null>;

/** Maximum size of a stored PDF or XML file, in bytes. */
export const MAX_DOCUMENT_BYTES = 4_194_304;

/**
 * Documents of issued invoices. A row keeps the seller and the buyer as they were when the invoice was issued. Its
 * files are made once, when all required fields are known, and never change.
 */
export const invoiceDocuments = pgTable(
  'invoice_documents',
  {
    invoice_id: integer()
      .primaryKey()
      .references(() => invoices.id, { onDelete: 'cascade' }),
    seller: jsonb().$type<KeptParty>().notNull(),
    buyer: jsonb().$type<KeptParty>().notNull(),
    /** PDF/A-3 with the e-invoice (Factur-X, profile EN 16931). */
    pdf: bytes(),
    /** The same e-invoice as XRechnung (CII). */
    xml: text(),
    /** SHA-256 of the PDF, in hexadecimal. */
    pdf_sha256: text(),
    made_at: instant(),
    ...timestamps,
  },
  (t) => [
    check(
      'invoice_documents_whole',
      sql`num_nulls(${t.pdf}, ${t.xml}, ${t.pdf_sha256}, ${t.made_at}) in (0, 4)`,
    ),
    check(
      'invoice_documents_size',
      sql`octet_length(${t.pdf}) <= ${sql.raw(String(MAX_DOCUMENT_BYTES))} and octet_length(${t.xml}) <= ${sql.raw(String(MAX_DOCUMENT_BYTES))}`,
    ),
  ],
);

/** Tax of one rate, with the net amount that it applies to, as decimal text. */
export type KeptRate = { tax_rate: string | null; net: string; tax: string };

/** A line of Stripe's credit note, as Stripe reported it. Amounts are decimal text in major units. */
export interface KeptCreditLine {
  description: string | null;
  /** Quantity. Null if Stripe reports no quantity. */
  quantity: string | null;
  /** Amount before discounts. It contains the inclusive taxes. */
  amount: string;
  /** Sum of the discounts, as a positive amount. */
  discount: string;
  taxes: KeptTax[];
}

/**
 * Credit notes and cancellations of our own issued invoices, and credit notes that Stripe issued. Amounts are positive.
 * An issued credit note never changes, but Stripe can void its own credit notes.
 */
export const creditNotes = pgTable(
  'credit_notes',
  {
    id: id(),
    /** Our own numbers are unique. Stripe's need not be, because two Stripe accounts may use the same number. */
    number: text().notNull(),
    kind: creditNoteKind().notNull(),
    /** Stripe's id. Null for our own credit notes. */
    stripe_credit_note_id: text(),
    /** Time when Stripe voided its credit note. */
    voided_at: instant(),
    /** All lines of Stripe's credit note. Null for our own credit notes, and if Stripe did not report all lines. */
    stripe_lines: jsonb().$type<KeptCreditLine[]>(),
    invoice_id: integer()
      .notNull()
      .references(() => invoices.id),
    customer_id: customerId(),
    /** Date of issue. */
    date: date().notNull(),
    currency: currency(),
    subtotal: money().notNull(),
    tax: money().notNull(),
    total: money().notNull(),
    /** Part of the total that Stripe added to the customer's balance. Null if unknown, and for our own credit notes. */
    to_balance: money(),
    /**
     * The tax of each rate. Empty for Stripe's credit notes. The taxes are rounded so that the credit notes of a
     * completely credited invoice add up to the tax of the invoice.
     */
    rates: jsonb().$type<KeptRate[]>().notNull(),
    reason: text(),
    /** The parties as in `invoiceDocuments`. Null while they are not stored. */
    seller: jsonb().$type<KeptParty>(),
    buyer: jsonb().$type<KeptParty>(),
    pdf: bytes(),
    xml: text(),
    pdf_sha256: text(),
    made_at: instant(),
    version: version(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex('credit_notes_own_number').on(t.number).where(sql`${t.stripe_credit_note_id} is null`),
    uniqueIndex('credit_notes_stripe').on(t.stripe_credit_note_id),
    // This index finds the highest number of the series by its prefix.
    index('credit_notes_number').on(t.number.op('text_pattern_ops')),
    index('credit_notes_invoice').on(t.invoice_id, t.id),
    index('credit_notes_customer').on(t.customer_id, t.created_at, t.id),
    index('credit_notes_date').on(t.date, t.id),
    // An invoice can be cancelled only once.
    uniqueIndex('credit_notes_cancellation').on(t.invoice_id).where(sql`${t.kind} = 'cancellation'`),
    check('credit_notes_amounts', sql`${t.total} >= 0 and ${t.total} = ${t.subtotal} + ${t.tax}`),
    check('credit_notes_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
    check('credit_notes_whole', sql`num_nulls(${t.pdf}, ${t.xml}, ${t.pdf_sha256}, ${t.made_at}) in (0, 4)`),
    check(
      'credit_notes_size',
      sql`octet_length(${t.pdf}) <= ${sql.raw(String(MAX_DOCUMENT_BYTES))} and octet_length(${t.xml}) <= ${sql.raw(String(MAX_DOCUMENT_BYTES))}`,
    ),
  ],
);

export const creditNoteLines = pgTable(
  'credit_note_lines',
  {
    ...line,
    credit_note_id: integer()
      .notNull()
      .references(() => creditNotes.id, { onDelete: 'cascade' }),
    /** Position of the invoice's line that this line credits. */
    invoice_position: integer().notNull(),
  },
  (t) => [unique('credit_note_lines_position').on(t.credit_note_id, t.position)],
);

/** PDF files of offers and order confirmations. A file is made once, after its document is sent, and never changes. */
export const salesDocumentFiles = pgTable(
  'sales_document_files',
  {
    sales_document_id: integer()
      .primaryKey()
      .references(() => salesDocuments.id, { onDelete: 'cascade' }),
    pdf: bytes().notNull(),
    /** SHA-256 of the PDF, in hexadecimal. */
    pdf_sha256: text().notNull(),
    made_at: instant().notNull(),
  },
  (t) => [
    check('sales_document_files_size', sql`octet_length(${t.pdf}) <= ${sql.raw(String(MAX_DOCUMENT_BYTES))}`),
  ],
);

/** Settings of the accounting export for DATEV. There is at most one row. */
export const accountingSettings = pgTable(
  'accounting_settings',
  {
    id: integer().primaryKey().default(1),
    consultant_number: text(),
    client_number: text(),
    /** First month of the fiscal year, 1 to 12. */
    fiscal_year_month: integer().notNull().default(1),
    /** Number of digits of a general ledger account. A debtor account has one digit more. */
    account_length: integer().notNull().default(4),
    /** Accounts by purpose, such as `revenue S 19` or `payment stripe`. A BU key may follow, after a space. */
    accounts: jsonb().$type<Record<string, string>>().notNull(),
    ...timestamps,
  },
  (t) => [check('accounting_settings_single', sql`${t.id} = 1`)],
);
