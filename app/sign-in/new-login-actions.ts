'use server';

import { redirect } from 'next/navigation';
import { signInStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { acceptInvitation, createFirstAdmin } from '@/lib/staff/invitations';
import { toProblems } from '../admin/_components/page/staff-action';

/** Stores the chosen password and signs in. There is no session yet, so the token decides. */
export async function accept(
  token: string,
  _before: Record<string, string>,
  form: FormData,
): Promise<Record<string, string>> {
  const text = (field: string) => String(form.get(field) ?? '');
  const typed = { password: text('password'), repeated: text('repeated') };
  let email: string;
  try {
    email = await acceptInvitation(await getRuntime(), token, typed);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return toProblems(error, typed);
  }
  redirect(await signInStaff({ email, password: typed.password }).then(() => '/admin', toSignInPage));
}

/** The password is stored, even if the sign-in failed. */
function toSignInPage(error: unknown): string {
  if (error instanceof AppError) return '/sign-in';
  throw error;
}

export interface FirstAdminState {
  /** The fields as they were typed, but for the passwords. */
  typed: { email: string; name: string };
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
}

/** Creates the first admin and signs them in. There is no session yet, so the token decides. */
export async function createAdmin(
  token: string,
  _before: FirstAdminState,
  form: FormData,
): Promise<FirstAdminState> {
  const text = (field: string) => String(form.get(field) ?? '');
  const typed = { email: text('email'), name: text('name') };
  const given = { ...typed, password: text('password'), repeated: text('repeated') };
  try {
    await createFirstAdmin(await getRuntime(), token, given);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { typed, problems: toProblems(error, given) };
  }
  redirect(await signInStaff(given).then(() => '/admin', toSignInPage));
}
