'use server';

import { addCustomerNote } from '@/lib/customers/notes';
import { rowId } from '@/lib/fields';
import { staffRecordWriter } from '@/lib/records/record-kind';
import { staffFormAction } from '../../../_components/page/staff-action';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import { getRuntime } from '@/lib/runtime';
import { leaveFor, problemOf } from '../_components/page/staff-action';

export interface NoteState {
  typed: string;
  problem: string | null;
  isAnswer: boolean;
}

/** Adds a note to a customer, under the name of the signed-in person. */
export async function addNote(customerId: number, _before: NoteState, form: FormData): Promise<NoteState> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const typed = String(form.get('text') ?? '');
  try {
    await addCustomerNote(runtime.db, customerId, typed, staffRecordWriter(runtime, staff));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { typed, problem: problemOf(error), isAnswer: true };
  }
  leaveFor(`/admin/customers/${customerId}?notice=noted`);
}
