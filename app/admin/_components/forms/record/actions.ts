'use server';

import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { rowId } from '@/lib/fields';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import { takeStep } from '@/lib/records/take-step';
import { getRuntime } from '@/lib/runtime';
import { refusalOf } from '../refusal-of';
import type { FormState } from './form-state';
import { type FormName, formOf, type KindName, kindOf, sentSeen } from './kinds';
import { leaveFor } from './leave-for';
import { saveForm } from './save-form';

/** Writes a record as its form was filled in, and leads to it. @param id null: a new one */
export async function save(
  name: FormName,
  id: number | null,
  _before: FormState,
  form: FormData,
): Promise<FormState> {
  const staff = await requireStaff();
  const staffForm = formOf(name) ?? notFound();
  if (staffForm.isNew) return saveForm(staff, { ...staffForm, id: null }, form);
  return saveForm(staff, { ...staffForm, id: rowId.safeParse(id).data ?? notFound() }, form);
}

/** Takes a record a step on, and leads back to it. @param version as the page showed it */
export async function step(kind: KindName, id: number, version: number, name: string): Promise<void> {
  const staff = await requireStaff();
  const { path, steps } = kindOf(kind) ?? notFound();
  const seen = sentSeen.safeParse({ id, version }).data ?? notFound();
  const runtime = await getRuntime();
  const refused = await refusalOf(
    takeStep(runtime.db, steps, String(name), seen, staffRecordWriter(runtime, staff)),
  );
  leaveFor(`${path}/${seen.id}?notice=${refused ?? name}`);
}

/** Deletes a record, and leads to the list; where that is refused, back to it. @param version as the page showed it */
export async function remove(kind: KindName, id: number, version: number): Promise<void> {
  const staff = await requireStaff();
  const { path, steps, remove: removeIt } = kindOf(kind) ?? notFound();
  const seen = sentSeen.safeParse({ id, version }).data ?? notFound();
  const runtime = await getRuntime();
  const refused = await refusalOf(removeIt(runtime.db, steps.kind, seen, staffRecordWriter(runtime, staff)));
  // Gone already is gone.
  const isGone = !refused || refused === 'not_found';
  leaveFor(isGone ? `${path}?notice=deleted` : `${path}/${seen.id}?notice=${refused}`);
}
