import { sql } from 'drizzle-orm';
import { type AnyPgColumn, check, date, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { currency, id, money, timestamps, version } from './columns';
import { customers } from './customers';
import { salesDocumentStatus, salesDocumentType } from './enums';
import { invoices } from './invoices';

/** Offers and order confirmations. */
export const salesDocuments = pgTable(
  'sales_documents',
  {
    id: id(),
    document_number: text().notNull().unique(),
    type: salesDocumentType().notNull(),
    status: salesDocumentStatus().notNull().default('draft'),
    customer_id: integer()
      .notNull()
      .references(() => customers.id),
    document_date: date().notNull(),
    valid_until: date(),
    currency: currency(),
    subtotal: money().notNull(),
    tax: money().notNull(),
    total: money().notNull(),
    converted_to_invoice_id: integer().references(() => invoices.id),
    /** The order confirmation that became of an offer. */
    converted_to_document_id: integer().references((): AnyPgColumn => salesDocuments.id),
    version: version(),
    ...timestamps,
  },
  (t) => [
    // The highest number of a series is looked for by how it begins.
    index('sales_documents_number').on(t.document_number.op('text_pattern_ops')),
    index('sales_documents_number_end').on(sql`reverse(${t.document_number}) text_pattern_ops`),
    index('sales_documents_date').on(t.document_date, t.id),
    index('sales_documents_total').on(t.total, t.id),
    index('sales_documents_customer').on(t.customer_id, t.document_date, t.id),
    index('sales_documents_status').on(t.status, t.document_date, t.id),
    index('sales_documents_type').on(t.type, t.document_date, t.id),
    index('sales_documents_type_status').on(t.type, t.status, t.document_date, t.id),
    index('sales_documents_invoice').on(t.converted_to_invoice_id),
    index('sales_documents_document').on(t.converted_to_document_id),
    check('sales_documents_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);
