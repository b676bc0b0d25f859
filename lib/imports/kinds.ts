import { customerKind } from '../customers/save-customers';
import { importedInvoiceKind } from '../invoices/imported-invoices';
import { serverKind } from '../servers/save-servers';
import { serviceKind } from '../services/save-services';
import { invoiceLineImport, salesDocumentLineImport } from './books/line-import';
import { paymentImport } from './books/payment-import';
import { salesDocumentImport } from './books/sales-document-import';
import { type ImportKind, ofRecords } from './import-kind';

/** What can be imported, in the order in which each finds what it refers to. */
export const IMPORT_KINDS = {
  customers: ofRecords(customerKind),
  servers: ofRecords(serverKind),
  services: ofRecords(serviceKind),
  invoices: ofRecords(importedInvoiceKind, ['number', 'import_key', 'stripe_invoice_id']),
  'invoice-lines': invoiceLineImport,
  'sales-documents': salesDocumentImport,
  'sales-document-lines': salesDocumentLineImport,
  payments: paymentImport,
} as const satisfies Record<string, ImportKind>;

export type ImportName = keyof typeof IMPORT_KINDS;

export const IMPORT_NAMES = Object.keys(IMPORT_KINDS) as ImportName[];
