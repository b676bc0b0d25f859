import { parseCookies } from 'better-auth/cookies';
import { and, eq, gt } from 'drizzle-orm';
import { staffUsers, staffVerifications } from '@/db/schema';
import { AppError } from '../../errors';
import type { Runtime } from '../../runtime';
import { countSignIn, forgiveSignIn, secondsUntil } from '../sign-in/sign-in-limit';
import { findOrigin, rememberDevice } from '../sign-in/sign-in-origin';
import { tooManyAttempts, toRefusal } from '../sign-in/sign-in-refusal';
import type { StaffUser } from '../staff/staff-user';
import { auditStaff } from '../staff/write-staff';
import { askBetterAuth, authCookieName } from './ask-better-auth';
import { claimCode } from './claim-code';
import { CODE_COOKIE } from './plugins';

const APP_CODE = /^\d{6}$/;
const WRONG = 'The code is wrong or has already been used.';

/**
 * The second step of a sign-in. A wrong code counts like a wrong password, and until a right one comes,
 * so does the password before it.
 *
 * @param typed six digits of the authenticator app, else a recovery code, which works once
 * @returns the `Set-Cookie` headers of the session and of its device
 * @throws AppError unauthenticated; conflict where the sign-in has to begin again; too_many_requests; unavailable
 */
export async function enterCode(runtime: Runtime, typed: string, headers: Headers): Promise<string[]> {
  const { db } = runtime;
  const now = runtime.now();
  const user = await findPending(runtime, headers);
  if (!user) throw new AppError('conflict', 'This sign-in is over. Start again with your password.');
  const origin = await findOrigin(runtime, user.email, headers);
  const until = await countSignIn(db, user.email, origin, now);
  if (until) throw tooManyAttempts(secondsUntil(until, now));

  const code = typed.replace(/\s/g, '');
  const isAppCode = APP_CODE.test(code);
  const path = `/two-factor/${isAppCode ? 'verify-totp' : 'verify-backup-code'}`;
  const release = await claimCode(runtime, user.id, isAppCode ? code : 'recovery');
  if (!release) throw new AppError('unauthenticated', WRONG);
  const response = await askBetterAuth(runtime, { path, body: { code }, headers, cookies: [CODE_COOKIE] });
  if (!response.ok || !isAppCode) await release();
  if (!response.ok) throw toRefusal(response, WRONG);
  await forgiveSignIn(db, user.email, origin, now, 2);
  if (!isAppCode) {
    const actor = { type: 'staff' as const, id: user.id, name: user.email };
    await auditStaff(db, actor, 'use_recovery_code', { before: user, after: user });
  }
  return [
    ...response.headers.getSetCookie(),
    ...(await rememberDevice(runtime, user.email, origin.deviceId)),
  ];
}

/** Whose password was right a short while ago; better-auth checks the cookie's signature afterwards. */
async function findPending({ db, env, now }: Runtime, headers: Headers): Promise<StaffUser | null> {
  const cookies = parseCookies(headers.get('cookie') ?? '');
  const value = cookies.get(authCookieName(env.publicUrl, CODE_COOKIE)) ?? '';
  const identifier = value.slice(0, Math.max(0, value.lastIndexOf('.')));
  const [user] = await db
    .select({ id: staffUsers.id, email: staffUsers.email, name: staffUsers.name, role: staffUsers.role })
    .from(staffVerifications)
    .innerJoin(staffUsers, eq(staffUsers.id, staffVerifications.value))
    .where(and(eq(staffVerifications.identifier, identifier), gt(staffVerifications.expiresAt, now())));
  return user ?? null;
}
