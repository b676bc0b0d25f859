import { requireStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { toDraftValues } from '@/lib/invoices/typed-draft';
import type { RecordKind } from '@/lib/records/record-kind';
import { saveRecord } from '@/lib/records/save-records';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import { getRuntime } from '@/lib/runtime';
import { leaveFor } from '../record/leave-for';
import { toProblems } from '../to-problems';

export interface DraftState {
  /** The fields as they were typed. */
  typed: Record<string, string>;
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
}

const KEPT = 'What you typed is still here: open the record in another window to compare.';

/** Where to look for a new record, or the one that was changed. */
interface Target {
  path: string;
  notice: string;
  /** The record as its page showed it; none of a new one. */
  seen?: { id: number; version: number };
}

/** Saves what was typed into a form, and leads to the record. */
export async function saveDraft(kind: RecordKind, target: Target, form: FormData): Promise<DraftState> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const typed = toTyped(form);
  let id: number;
  try {
    const draft = { ...target.seen, values: toDraftValues(typed) };
    ({ id } = await saveRecord(runtime.db, kind, draft, staffRecordWriter(runtime, staff)));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'conflict') return { typed, problems: { '': `${error.message} ${KEPT}` } };
    return { typed, problems: toProblems(error, typed) };
  }
  leaveFor(`${target.path}/${id}?notice=${target.notice}`);
}

/** Next adds fields of its own, which begin with a dollar sign. */
function toTyped(form: FormData): Record<string, string> {
  const fields = [...form].filter(([name]) => !name.startsWith('$'));
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}
