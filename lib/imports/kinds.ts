import { transact } from '@/db/transaction';
import { customerKind } from '../customers/save-customers';
import { importedInvoiceKind } from '../invoices/imported-invoices';
import type { Draft, RecordKind, Saved } from '../records/record-kind';
import { saveRecords } from '../records/save-records';
import { salesDocumentKind } from '../sales-documents/save-sales-documents';
import { serverKind } from '../servers/save-servers';
import { serviceKind } from '../services/save-services';
import type { Reports } from './file-format';
import { type ImportKind, ofRecords } from './import-kind';
import { invoiceLineImport, salesDocumentLineImport } from './line-import';
import { paymentImport } from './payment-import';
import { WHMCS } from './whmcs';

const NEXT = 'converted_to_document_number';

/** A form may leave out the date of a new document, which is today then. A file states it. */
const datedKind: RecordKind = {
  ...salesDocumentKind,
  check: (writing) =>
    writing.before === null && writing.values.document_date == null
      ? [{ field: 'document_date', message: 'is needed' }]
      : (salesDocumentKind.check?.(writing) ?? []),
};

/** Sales documents: of one batch those that name what became of them last, so that it is there. */
const salesDocumentImport: ImportKind = {
  ...ofRecords(datedKind),
  namesEarlier: NEXT,
  save: (db, drafts, writer) =>
    transact(db, async (tx) => {
      const saved = new Map<Draft, Saved>();
      for (const isNaming of [false, true]) {
        const some = drafts.filter(({ values }) => (values[NEXT] != null) === isNaming);
        const done = await saveRecords(tx, datedKind, some, writer);
        for (const [i, draft] of some.entries()) saved.set(draft, done[i] as Saved);
      }
      return drafts.map((draft) => saved.get(draft) as Saved);
    }),
};

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

/** Other programs whose files can be imported, and their reports by what they hold. */
export const FORMATS: Record<string, Partial<Record<ImportName, Reports>>> = { whmcs: WHMCS };
