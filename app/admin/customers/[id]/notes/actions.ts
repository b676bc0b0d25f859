'use server';

import { requireStaff } from '@/lib/auth/session/staff-session';
import { addCustomerNote } from '@/lib/customers/notes';
import { AppError } from '@/lib/errors';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import { getRuntime } from '@/lib/runtime';
import { leaveFor } from '../../../_components/forms/record/leave-for';
import { problemOf } from '../../../_components/forms/to-problems';

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
