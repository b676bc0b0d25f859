import { parseSetCookieHeader, toCookieOptions } from 'better-auth/cookies';
import { cookies, headers } from 'next/headers';
import { forbidden, redirect } from 'next/navigation';
import { cache } from 'react';
import { AppError, NotMigratedError } from '../errors';
import { explainFailure, getRuntime } from '../runtime';
import { type DueStep, findStaffSession, type StaffMember, type StaffSession } from './find-staff';
import { signIn } from './sign-in';
import { DUE_PATH, PATH_HEADER, SIGN_IN_PATH, UNAVAILABLE_PATH } from './sign-in-paths';
import { type Credentials, getStaffAuth } from './staff-auth';

export type { StaffMember };

/**
 * Returns the session of the request, even if a step is due. Returns null if there is no session. Only the first call
 * during a request reads the database.
 */
export const currentSession = cache(async (): Promise<StaffSession | null> => {
  // Read the headers first, because this stops Next from rendering the page at build time.
  const sent = await headers();
  const runtime = await getRuntime().catch(showUnavailable);
  return findStaffSession(runtime, sent).catch(async (error: unknown) =>
    showUnavailable(await explainFailure(runtime, error)),
  );
});

/** Returns the signed-in person. Returns null if there is no session or a step is due. */
export async function currentStaff(): Promise<StaffMember | null> {
  const session = await currentSession();
  return session?.due === null ? session.staff : null;
}

/** Redirects to a route that responds with 503, because a page cannot set its status. Rethrows unexpected errors. */
function showUnavailable(error: unknown): never {
  if (error instanceof NotMigratedError || error instanceof AppError) redirect(UNAVAILABLE_PATH);
  throw error;
}

/**
 * Requires a session without a due step. Every staff page and action starts with this or a similar call. Redirects to
 * the sign-in page if there is no session. Redirects to the page of the due step if the person must first choose a
 * password or add a second factor.
 */
export async function requireStaff(): Promise<StaffMember> {
  return (await requireSession()).staff;
}

/** Like `requireStaff`, but returns the session. Use it for staff who change their own login. */
export async function requireSession(): Promise<StaffSession> {
  const session = await currentSession();
  if (session?.due === null) return session;
  const path = (await headers()).get(PATH_HEADER) ?? '/admin';
  redirect(`${session ? DUE_PATH : SIGN_IN_PATH}?next=${encodeURIComponent(path)}`);
}

/** Like `requireSession`, but also allows a session in which this step is due. */
export async function requireSessionFor(step: DueStep): Promise<StaffSession> {
  const session = await currentSession();
  if (session?.due === step) return session;
  return requireSession();
}

/**
 * Requires a session with a due step. Redirects to `next` if no step is due, or to the sign-in page if there is no
 * session.
 */
export async function requireDueSession(next: string): Promise<StaffSession> {
  const session = await currentSession();
  if (session?.due) return session;
  redirect(session ? next : `${SIGN_IN_PATH}?next=${encodeURIComponent(next)}`);
}

/** Requires an admin. Other staff get the 403 page. */
export async function requireAdmin(): Promise<StaffMember> {
  const staff = await requireStaff();
  if (staff.role === 'admin') return staff;
  const sent = await headers();
  // Next cannot show the 403 page for a form sent without JavaScript. Redirect to the form's page, which shows it.
  if (sent.has('content-type') && !sent.has('next-action')) redirect(sent.get(PATH_HEADER) ?? '/admin');
  forbidden();
}

/**
 * Signs in a person who has just set their password. Call this from a server action.
 *
 * @throws AppError as `signIn` does
 */
export async function signInStaff(credentials: Credentials): Promise<void> {
  await passCookies((await signIn(await getRuntime(), credentials, await headers())).cookies);
}

/** Signs the person out. Deletes the session in the database and its cookie in the browser. */
export async function signOutStaff(): Promise<void> {
  const auth = getStaffAuth(await getRuntime());
  const response = await auth.api.signOut({ headers: await headers(), asResponse: true });
  await passCookies(response.headers.getSetCookie());
}

/** Sets the cookies of `Set-Cookie` headers in the browser. Call this from a server action. */
export async function passCookies(setCookies: string[]): Promise<void> {
  const jar = await cookies();
  for (const header of setCookies) {
    for (const [name, cookie] of parseSetCookieHeader(header)) {
      jar.set(name, cookie.value, toCookieOptions(cookie));
    }
  }
}
