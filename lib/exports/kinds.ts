import { eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import {
  customerServices,
  customers,
  draftImportKeys,
  invoiceLines,
  invoices,
  payments,
  salesDocumentLines,
  salesDocuments,
  servers,
} from '@/db/schema';
import { customerKind } from '../customers/save-customers';
import { importedInvoiceKind } from '../invoices/imported-invoices';
import { COUNTED_BACK } from '../payments/money-back';
import { salesDocumentKind } from '../sales-documents/save-sales-documents';
import { serverKind } from '../servers/save-servers';
import { serviceKind } from '../services/save-services';
import { type ExportKind, fieldsOf, inOrder, pick } from './export-csv';

const { customer_number } = customers;
const { hostname } = servers;
const { import_key } = draftImportKeys;

const next = alias(salesDocuments, 'next');

const OF_LINES = ['position', 'text', 'quantity', 'unit_price', 'tax_rate'];
const OF_PAYMENTS = ['payment_reference', 'amount', 'currency', 'payment_date', 'status', 'refunded_amount'];

/** The import key of an invoice without a number. */
const invoice_import_key = sql`case when ${invoices.number} is null then ${import_key} end`;
const ofInvoice = { invoice_number: invoices.number, invoice_import_key };
const withKey = { table: draftImportKeys, on: eq(draftImportKeys.invoice_id, invoices.id) };

/** The kinds of export, in the order in which they must be imported. */
export const EXPORT_KINDS = {
  customers: { ...inOrder(customers), columns: pick(customers, fieldsOf(customerKind)) },
  servers: { ...inOrder(servers), columns: pick(servers, fieldsOf(serverKind)) },
  services: {
    ...inOrder(customerServices),
    columns: pick(customerServices, fieldsOf(serviceKind), { customer_number, hostname }),
    joins: [
      { table: customers, on: eq(customers.id, customerServices.customer_id) },
      { table: servers, on: eq(servers.id, customerServices.server_id) },
    ],
  },
  invoices: {
    ...inOrder(invoices),
    columns: pick(invoices, fieldsOf(importedInvoiceKind), { customer_number, import_key }),
    joins: [{ table: customers, on: eq(customers.id, invoices.customer_id) }, withKey],
  },
  'invoice-lines': {
    table: invoiceLines,
    order: [invoiceLines.invoice_id, invoiceLines.position],
    updatedAt: invoices.updated_at,
    columns: { ...ofInvoice, ...pick(invoiceLines, OF_LINES) },
    joins: [{ table: invoices, on: eq(invoices.id, invoiceLines.invoice_id) }, withKey],
  },
  'sales-documents': {
    ...inOrder(salesDocuments),
    columns: pick(salesDocuments, fieldsOf(salesDocumentKind), {
      customer_number,
      ...ofInvoice,
      converted_to_document_number: next.document_number,
    }),
    joins: [
      { table: customers, on: eq(customers.id, salesDocuments.customer_id) },
      { table: invoices, on: eq(invoices.id, salesDocuments.converted_to_invoice_id) },
      withKey,
      { table: next, on: eq(next.id, salesDocuments.converted_to_document_id) },
    ],
    // The record that a document became must exist when the document is imported.
    inTurn: [
      isNull(salesDocuments.converted_to_document_id),
      isNotNull(salesDocuments.converted_to_document_id),
    ],
  },
  'sales-document-lines': {
    table: salesDocumentLines,
    order: [salesDocumentLines.sales_document_id, salesDocumentLines.position],
    updatedAt: salesDocuments.updated_at,
    columns: { document_number: salesDocuments.document_number, ...pick(salesDocumentLines, OF_LINES) },
    joins: [{ table: salesDocuments, on: eq(salesDocuments.id, salesDocumentLines.sales_document_id) }],
  },
  payments: {
    ...inOrder(payments),
    columns: {
      ...pick(payments, OF_PAYMENTS),
      refunded_at:
        sql`(select max(c.at) from (${COUNTED_BACK}) c where c.payment_id = ${payments.id})`.mapWith(
          payments.created_at,
        ),
      ...ofInvoice,
      stripe_invoice_id: invoices.stripe_invoice_id,
      customer_number,
    },
    joins: [
      { table: invoices, on: eq(invoices.id, payments.invoice_id) },
      withKey,
      { table: customers, on: eq(customers.id, payments.customer_id) },
    ],
  },
} as const satisfies Record<string, ExportKind>;

export type ExportName = keyof typeof EXPORT_KINDS;

export const EXPORT_NAMES = Object.keys(EXPORT_KINDS) as ExportName[];
