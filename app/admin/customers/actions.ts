'use server';

import { addCustomerNote } from '@/lib/customers/notes';
import { rowId } from '@/lib/fields';
import { staffRecordWriter } from '@/lib/records/record-kind';
import type { FormState } from '../_components/forms/form';
import { staffFormAction } from '../_components/page/staff-action';

/** Adds a note to a customer, under the name of the signed-in person. */
export const addNote = staffFormAction({
  role: 'staff',
  input: [rowId],
  form: ['text'],
  run: ({ runtime, staff }, id, { text }) =>
    addCustomerNote(runtime.db, id, text, staffRecordWriter(runtime, staff)),
  done: (_note, id) => `/admin/customers/${id}?notice=noted`,
  refused: ({ problem }, _id, typed): FormState => ({ typed, problems: { text: problem } }),
});
