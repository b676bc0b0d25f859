import { z } from 'zod';
import type { StaffMember } from '@/lib/auth/session/staff-session';
import { AppError, invalidField } from '@/lib/errors';
import { mergeTyped } from '@/lib/records/merge-typed';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import type { Typed, TypedKind } from '@/lib/records/typed-fields';
import { isLineField } from '@/lib/records/typed-lines';
import { readTyped, saveTyped, type TypedRecord } from '@/lib/records/typed-record';
import { getRuntime } from '@/lib/runtime';
import { toProblems } from '../to-problems';
import type { FormState } from './form-state';
import { leaveFor } from './leave-for';

interface Target {
  typedKind: TypedKind;
  /** Null: a new record. */
  id: number | null;
  /** Where records of this kind are. */
  path: string;
}

/** Writes a record as its form was filled in, and leads to it; else what the form has to say. */
export async function saveForm(staff: StaffMember, target: Target, form: FormData): Promise<FormState> {
  const runtime = await getRuntime();
  const { typedKind, id, path } = target;
  const typed = typedOf(typedKind, form);
  const opened = id === null ? null : openedOf(form);
  const seen = id === null || opened === null ? null : { id, version: opened.version };
  let saved: { id: number };
  try {
    if (id !== null && seen === null) throw invalidField('', 'the form arrived incomplete: open it again');
    saved = await saveTyped(runtime.db, typedKind, seen, typed, staffRecordWriter(runtime, staff));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'precondition_failed' && id !== null && opened)
      return conflict(target, id, opened, typed);
    return { typed, opened, problems: toProblems(error, typed), theirs: null, isAnswer: true };
  }
  return leaveFor(`${path}/${saved.id}?notice=${id === null ? 'created' : 'saved'}`);
}

function typedOf({ fields }: TypedKind, form: FormData): Typed {
  const names = Object.entries(fields).flatMap(([name, field]) =>
    field === 'lines' ? [...form.keys()].filter(isLineField) : [name],
  );
  return Object.fromEntries(names.map((name) => [name, String(form.get(name) ?? '')]));
}

const openedRecord = z.object({ version: z.int(), typed: z.record(z.string(), z.string()) });

function openedOf(form: FormData): TypedRecord | null {
  try {
    return openedRecord.parse(JSON.parse(String(form.get('opened'))));
  } catch {
    return null; // the form was not made by our page
  }
}

/** The form goes on from what is stored now, with what was typed into it. */
async function conflict(
  { typedKind }: Target,
  id: number,
  opened: TypedRecord,
  typed: Typed,
): Promise<FormState> {
  const stored = await readTyped((await getRuntime()).db, typedKind, id);
  const merged = mergeTyped(opened.typed, typed, stored.typed);
  return { ...merged, opened: stored, problems: {}, isAnswer: true };
}
