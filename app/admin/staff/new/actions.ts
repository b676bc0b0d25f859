'use server';

import { revalidatePath } from 'next/cache';
import { addStaffUser } from '@/lib/auth/add-staff-user';
import { requireAdmin, staffActor } from '@/lib/auth/staff-session';
import { toStaffRole } from '@/lib/auth/staff-user';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { toProblems } from '../../_components/to-problems';

export interface AddState {
  /** The fields as they were typed, but for the password. */
  typed: { email: string; name: string; role: string };
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
  /** The new login, for this one answer. */
  added: { email: string; password: string } | null;
}

/** Adds a person and shows their password, once. */
export async function add(_before: AddState, form: FormData): Promise<AddState> {
  const staff = await requireAdmin();
  const text = (field: string) => String(form.get(field) ?? '');
  const typed = { email: text('email'), name: text('name'), role: text('role') };
  const password = text('password');
  try {
    const input = { ...typed, role: toStaffRole(typed.role), password: password || undefined };
    const { email, ...added } = await addStaffUser(await getRuntime(), input, staffActor(staff));
    revalidatePath('/admin', 'layout');
    return { typed, problems: {}, added: { email, password: added.password } };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const problems =
      error.code === 'conflict' ? { email: error.message } : toProblems(error, { ...typed, password });
    return { typed, problems, added: null };
  }
}
