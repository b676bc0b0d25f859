'use server';

import { revalidatePath } from 'next/cache';
import { inviteStaffUser } from '@/lib/auth/invitations/invitation';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { toStaffRole } from '@/lib/auth/staff/staff-user';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { toProblems } from '../../_components/page/staff-action';

export interface AddState {
  /** The fields as they were typed, but for the password. */
  typed: { email: string; name: string; role: string; way: string };
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
  /** The new login, for this one answer: with the address of its invitation, or its password. */
  added: { email: string; url: string } | { email: string; password: string } | null;
}

/** Adds a person and shows what lets them in, once. */
export async function add(_before: AddState, form: FormData): Promise<AddState> {
  const staff = await requireAdmin();
  const text = (field: string) => String(form.get(field) ?? '');
  const typed = { email: text('email'), name: text('name'), role: text('role'), way: text('way') };
  const password = text('password');
  try {
    const person = { email: typed.email, name: typed.name, role: toStaffRole(typed.role) };
    const runtime = await getRuntime();
    const actor = staffActor(staff);
    const login = { ...person, password: password || undefined, passwordTemporary: true };
    const added =
      typed.way === 'password'
        ? await addStaffUser(runtime, login, actor)
        : await inviteStaffUser(runtime, person, actor);
    revalidatePath('/admin', 'layout');
    return { typed, problems: {}, added };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const problems =
      error.code === 'conflict' ? { email: error.message } : toProblems(error, { ...typed, password });
    return { typed, problems, added: null };
  }
}
