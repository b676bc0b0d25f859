'use server';

import { notFound } from 'next/navigation';
import { z } from 'zod';
import { invalidField } from '@/lib/errors';
import { rowId } from '@/lib/fields';
import { staffRecordWriter } from '@/lib/records/record-kind';
import { takeStep } from '@/lib/records/steps';
import { isLineField } from '@/lib/records/typed-lines';
import {
  mergeTyped,
  readTyped,
  saveTyped,
  type Typed,
  type TypedKind,
  type TypedRecord,
} from '@/lib/records/typed-record';
import { refuseStep, staffAction, staffFormAction, toProblems } from '../../page/staff-action';
import { FORMS, type FormName, KINDS, type KindName, type StaffForm, type StaffKind } from './kinds';
import type { RecordFormState } from './record-form';

const sentForm = z.enum(Object.keys(FORMS) as FormName[]).transform((name): StaffForm => FORMS[name]);
const sentKind = z.enum(Object.keys(KINDS) as KindName[]).transform((name): StaffKind => KINDS[name]);
/** The row version that the page showed. */
const sentVersion = z.int().min(0);

/** Saves the record that a form submits, and redirects to the record's page. The id is null for a new record. */
export const save = staffFormAction({
  role: 'staff',
  input: [sentForm, rowId.nullable()],
  form: {}, // The fields depend on the record kind, so `typedOf` reads them.
  run: ({ runtime, staff }, { typedKind, isNew }, id, _typed, form) =>
    saveTyped(
      runtime.db,
      typedKind,
      isNew ? null : seenIn(form, id),
      typedOf(typedKind, form),
      staffRecordWriter(runtime, staff),
    ),
  done: ({ id }, { path, isNew }) => `${path}/${id}?notice=${isNew ? 'created' : 'saved'}`,
  refused: async ({ runtime, error }, { typedKind, isNew }, id, _typed, form): Promise<RecordFormState> => {
    const typed = typedOf(typedKind, form);
    const opened = isNew ? null : openedOf(form);
    if (error.code !== 'precondition_failed' || id === null || !opened) {
      return { typed, opened, problems: toProblems(error, typed), theirs: null };
    }
    // The record has changed since the form was opened. Show the form again, with the person's changes applied to
    // the stored record.
    const stored = await readTyped(runtime.db, typedKind, id);
    return { ...mergeTyped(opened.typed, typed, stored.typed), opened: stored, problems: {} };
  },
});

function seenIn(form: FormData, id: number | null) {
  const opened = openedOf(form);
  if (!opened) throw invalidField('', 'the form was incomplete: open it again');
  return { id: id ?? notFound(), version: opened.version };
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
    return null; // Our pages always send a valid `opened`.
  }
}

/** Moves a record to another status, and redirects to its page. If the step is refused, returns the reason. */
export const step = staffAction({
  role: 'staff',
  input: [sentKind, rowId, sentVersion, z.string()],
  run: ({ runtime, staff }, { steps }, id, version, name) =>
    takeStep(runtime.db, steps, name, { id, version }, staffRecordWriter(runtime, staff)),
  done: (_none, { path }, id, _version, name) => `${path}/${id}?notice=${name}`,
  refused: (refusal, { path }, id) => refuseStep(refusal, `${path}/${id}`),
});

/** Deletes a record, and redirects to the list. If the deletion is refused, returns the reason. */
export const remove = staffAction({
  role: 'staff',
  input: [sentKind, rowId, sentVersion],
  run: ({ runtime, staff }, { steps, remove: removeIt }, id, version) =>
    removeIt(runtime.db, steps.kind, { id, version }, staffRecordWriter(runtime, staff)),
  done: (_none, { path }) => `${path}?notice=deleted`,
  // If another person has already deleted the record, treat this as success.
  refused: (refusal, { path }, id) =>
    refusal.code === 'not_found' ? `${path}?notice=deleted` : refuseStep(refusal, `${path}/${id}`),
});
