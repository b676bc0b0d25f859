import { customerKind } from '../customers/save-customers';
import { invoiceKind } from '../invoices/save-invoices';
import { salesDocumentKind } from '../sales-documents/save-sales-documents';
import { serverKind } from '../servers/save-servers';
import { serviceKind } from '../services/save-services';
import { type ImportKind, ofRecords } from './import-kind';
import { paymentImport } from './payment-import';

/** What can be imported, in the order in which each finds what it refers to. */
export const IMPORT_KINDS = {
  customers: ofRecords(customerKind),
  servers: ofRecords(serverKind),
  services: ofRecords(serviceKind),
  invoices: ofRecords(invoiceKind, ['number', 'import_key']),
  'sales-documents': ofRecords(salesDocumentKind),
  payments: paymentImport,
} as const satisfies Record<string, ImportKind>;

export type ImportName = keyof typeof IMPORT_KINDS;

export const IMPORT_NAMES = Object.keys(IMPORT_KINDS) as ImportName[];
