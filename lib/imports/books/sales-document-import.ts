import { transact } from '@/db/transaction';
import type { Draft, RecordKind, Saved } from '../../records/record-kind';
import { saveRecords } from '../../records/save-records';
import { salesDocumentKind } from '../../sales-documents/save-sales-documents';
import { type ImportKind, ofRecords } from '../import-kind';

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
export const salesDocumentImport: ImportKind = {
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
