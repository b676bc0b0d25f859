'use server';

import { z } from 'zod';
import { addCustomerNote } from '@/lib/customers/notes';
import { getReminderRules } from '@/lib/documents/reminder-letter';
import { calendarDate, rowId } from '@/lib/fields';
import { MAX_INVOICES, noteReminder, undoReminder } from '@/lib/invoices/reminders';
import { staffRecordWriter } from '@/lib/records/record-kind';
import type { FormState } from '../_components/forms/form';
import { staffAction, staffFormAction } from '../_components/page/staff-action';

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

/** Records that a customer was reminded of the given invoices, and redirects to the page of the customer's reminder. */
export const remind = staffAction({
  role: 'staff',
  input: [rowId, z.array(rowId).max(MAX_INVOICES)],
  run: async ({ runtime, staff }, id, invoiceIds) =>
    noteReminder(
      runtime.db,
      id,
      invoiceIds,
      await getReminderRules(runtime.db),
      staffRecordWriter(runtime, staff),
    ),
  done: (_noted, id) => `/admin/overdue/reminders/${id}?notice=reminded`,
  refused: ({ code }, id) => `/admin/overdue/reminders/${id}?notice=${code}`,
});

/** Undoes the record of a customer's last reminder, and redirects to the page of the customer's reminder. */
export const takeBackReminder = staffAction({
  role: 'staff',
  input: [rowId, calendarDate, z.string().max(40).nullable()],
  run: ({ runtime, staff }, id, day, recordedAt) =>
    undoReminder(runtime.db, id, { day, recordedAt }, staffRecordWriter(runtime, staff)),
  done: (_undone, id) => `/admin/overdue/reminders/${id}?notice=undone`,
  refused: ({ code }, id) => `/admin/overdue/reminders/${id}?notice=undo_${code}`,
});
