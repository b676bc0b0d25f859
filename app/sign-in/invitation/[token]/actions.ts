'use server';

import { redirect } from 'next/navigation';
import { toProblems } from '@/app/admin/_components/page/staff-action';
import { acceptInvitation } from '@/lib/auth/invitations/accept-invitation';
import { signInStaff } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';

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
