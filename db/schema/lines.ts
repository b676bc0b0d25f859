import { integer, numeric, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { id, money } from './columns';
import { invoices } from './invoices';
import { salesDocuments } from './sales-documents';

const line = {
  id: id(),
  /** Counted from 1. */
  position: integer().notNull(),
  text: text().notNull(),
  quantity: numeric({ precision: 12, scale: 3 }).notNull(),
  /** Without tax, in whole units of the currency of what it belongs to. */
  unit_price: money().notNull(),
  /** Percent. */
  tax_rate: numeric({ precision: 5, scale: 2 }).notNull(),
};

/** The lines of our own invoices. An imported invoice, or one of Stripe's, may have only totals. */
export const invoiceLines = pgTable(
  'invoice_lines',
  {
    ...line,
    invoice_id: integer()
      .notNull()
      .references(() => invoices.id, { onDelete: 'cascade' }),
  },
  (t) => [unique('invoice_lines_position').on(t.invoice_id, t.position)],
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
