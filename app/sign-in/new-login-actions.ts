'use server';

import { redirect } from 'next/navigation';
import { signInStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { acceptInvitation, createFirstAdmin } from '@/lib/staff/invitations';
import type { FormState } from '../admin/_components/forms/form';
import { toProblems } from '../admin/_components/page/staff-action';

/** Stores the password that an invited person chose, and signs them in. */
export async function accept(token: string, _before: FormState, form: FormData): Promise<FormState> {
  return makeLogin(form, ['password', 'repeated'], (runtime, { password = '', repeated = '' }) =>
    acceptInvitation(runtime, token, { password, repeated }),
  );
}

/** Creates the first admin and signs them in. */
export async function createAdmin(token: string, _before: FormState, form: FormData): Promise<FormState> {
  const fields = ['email', 'name', 'password', 'repeated'];
  return makeLogin(form, fields, async (runtime, { email = '', name = '', password = '', repeated = '' }) => {
    await createFirstAdmin(runtime, token, { email, name, password, repeated });
    return email;
  });
}

/** Creates or completes a login, and signs in with it. The token authorizes this, because there is no session yet. */
async function makeLogin(
  form: FormData,
  fields: string[],
  make: (runtime: Runtime, given: Record<string, string>) => Promise<string>,
): Promise<FormState> {
  const given = Object.fromEntries(fields.map((field) => [field, String(form.get(field) ?? '')]));
  let email: string;
  try {
    email = await make(await getRuntime(), given);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { password: _, repeated: __, ...typed } = given;
    return { typed, problems: toProblems(error, given) };
  }
  redirect(
    await signInStaff({ email, password: given.password ?? '' }).then(
      () => '/admin',
      (error: unknown) => {
        // The login exists even if signing in failed, so the person can try again on the sign-in page.
        if (error instanceof AppError) return '/sign-in';
        throw error;
      },
    ),
  );
}
