'use server';

import { revalidatePath } from 'next/cache';
import { problemOf } from '@/app/admin/_components/page/staff-action';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { setStaffPassword } from '@/lib/auth/staff/set-staff-password';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';

export interface PasswordState {
  /** Why it was refused; null before the first try. */
  problem: string | null;
  /** The new password, for this one answer. */
  reset: { email: string; password: string } | null;
}

/** Sets a new password and shows it, once. */
export async function resetPassword(
  id: string,
  _before: PasswordState,
  form: FormData,
): Promise<PasswordState> {
  const staff = await requireAdmin();
  const given = String(form.get('password') ?? '') || undefined;
  const password = { password: given, passwordTemporary: id !== staff.id };
  try {
    const reset = await setStaffPassword(await getRuntime(), { id }, password, staffActor(staff));
    // One's own session has just ended: the sign-in page would take the place of the password.
    if (id !== staff.id) revalidatePath('/admin', 'layout');
    return { problem: null, reset };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { problem: problemOf(error), reset: null };
  }
}
