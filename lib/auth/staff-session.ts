import { parseSetCookieHeader, toCookieOptions } from 'better-auth/cookies';
import { cookies, headers } from 'next/headers';
import { forbidden, redirect } from 'next/navigation';
import { cache } from 'react';
import type { Actor } from '../audit/record-audit';
import { AppError, isNotMigrated } from '../errors';
import { explainFailure, getRuntime } from '../runtime';
import { findStaff, type StaffMember } from './find-staff';
import { signIn } from './sign-in';
import type { Credentials } from './sign-in-request';
import { getStaffAuth } from './staff-auth';
import { PATH_HEADER, UNAVAILABLE_PATH } from './staff-path';

export type { StaffMember };

/** Who is signed in; null: nobody. Asked of the database, once a request. */
export const currentStaff = cache(async (): Promise<StaffMember | null> => {
  const sent = await headers(); // first: it tells Next that the page is not one to render at build time
  const runtime = await getRuntime().catch(showUnavailable);
  return findStaff(runtime, sent).catch(async (error: unknown) =>
    showUnavailable(await explainFailure(runtime, error)),
  );
});

/** A page cannot answer 503: the address that does says why, and leads back. */
function showUnavailable(error: unknown): never {
  if (isNotMigrated(error) || error instanceof AppError) redirect(UNAVAILABLE_PATH);
  throw error;
}

/** Every page and action of the staff begins with this: nobody signed in → the sign-in page. */
export async function requireStaff(): Promise<StaffMember> {
  const staff = await currentStaff();
  if (staff) return staff;
  const path = (await headers()).get(PATH_HEADER) ?? '/admin';
  redirect(`/sign-in?next=${encodeURIComponent(path)}`);
}

/** The same where only admins may be: other staff → the page that says so, 403. */
export async function requireAdmin(): Promise<StaffMember> {
  const staff = await requireStaff();
  if (staff.role === 'admin') return staff;
  const sent = await headers();
  // After a form that was sent without scripts Next cannot show that page: the one it was sent to does.
  if (sent.has('content-type') && !sent.has('next-action')) redirect(sent.get(PATH_HEADER) ?? '/admin');
  forbidden();
}

/** Somebody signed in, as the audit log names them. */
export function staffActor({ id, email }: StaffMember): Actor {
  return { type: 'staff', id, name: email };
}

/**
 * Signs in from a server action whoever has just set their password.
 *
 * @throws AppError as `signIn` does
 */
export async function signInStaff(credentials: Credentials): Promise<void> {
  await passCookies(await signIn(await getRuntime(), credentials, await headers()));
}

/** Ends the session, here and in the database. */
export async function signOutStaff(): Promise<void> {
  const auth = getStaffAuth(await getRuntime());
  const response = await auth.api.signOut({ headers: await headers(), asResponse: true });
  await passCookies(response.headers.getSetCookie());
}

async function passCookies(setCookies: string[]): Promise<void> {
  const jar = await cookies();
  for (const header of setCookies) {
    for (const [name, cookie] of parseSetCookieHeader(header)) {
      jar.set(name, cookie.value, toCookieOptions(cookie));
    }
  }
}
