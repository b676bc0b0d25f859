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

/** In a file, a new sales document needs a date. In a form, a missing date becomes today. */
const datedKind: RecordKind = {
  ...salesDocumentKind,
  check: (writing, writer) =>
    writing.before === null && writing.values.document_date == null
      ? [{ field: 'document_date', message: 'is needed' }]
      : (salesDocumentKind.check?.(writing, writer) ?? []),
};

/** Imports sales documents. In each batch, documents that name a successor are written after all others. */
const salesDocumentImport: ImportKind = {
  ...ofRecords(datedKind),
  namesEarlier: NEXT,
  save: (db, drafts, writer) =>
    transact(db, async (tx) => {
      const isNaming = ({ values }: Draft) => values[NEXT] != null;
      const save = async (some: Draft[]) => (await saveRecords(tx, datedKind, some, writer)).values();
      const others = await save(drafts.filter((draft) => !isNaming(draft)));
      const naming = await save(drafts.filter(isNaming));
      return drafts.map((draft) => (isNaming(draft) ? naming : others).next().value as Saved);
    }),
};

/** All import kinds, in import order. Records refer only to records of the same or an earlier kind. */
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

/** Formats of other programs: the reports of each program, keyed by its name and the kind of record. */
export const FORMATS: Record<string, Partial<Record<ImportName, Reports>>> = { whmcs: WHMCS };
