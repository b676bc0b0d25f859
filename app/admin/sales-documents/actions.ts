'use server';

import { z } from 'zod';
import { rowId } from '@/lib/fields';
import { staffRecordWriter } from '@/lib/records/record-kind';
import { convertDocument } from '@/lib/sales-documents/save-sales-documents';
import { refuseStep, staffAction } from '../_components/page/staff-action';

/** Converts a document, unless it has changed since the page was loaded, and redirects to the new record. */
export const convert = staffAction({
  role: 'staff',
  input: [rowId, z.int().min(0), z.enum(['order_confirmation', 'invoice'])],
  run: ({ runtime, staff }, id, version, to) =>
    convertDocument(runtime.db, { id, version, to }, staffRecordWriter(runtime, staff)),
  done: (made, _id, _version, to) =>
    `/admin/${to === 'invoice' ? 'invoices' : 'sales-documents'}/${made.id}?notice=created`,
  refused: (refusal, id) => refuseStep(refusal, `/admin/sales-documents/${id}`),
});
