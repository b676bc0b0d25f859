import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { parseCookies } from 'better-auth/cookies';
import { and, eq, gt, lt, lte, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import {
  staffAccounts,
  staffRateLimits,
  staffSessions,
  staffSignInFailures,
  staffUsers,
  staffVerifications,
} from '@/db/schema';
import { staffActor } from '../audit/audit-log';
import { AppError } from '../errors';
import { countedAddress, widestNetwork } from '../networks';
import { claimOnce } from '../oauth/grant';
import type { Runtime } from '../runtime';
import { hashToken } from '../tokens/access-token';
import { queueForHash } from './hash-queue';
import {
  countSignIn,
  type DeviceOwner,
  deviceCookie,
  deviceCookieName,
  findSignInWait,
  forgiveSignIn,
  readDevice,
  type SignInOrigin,
  secondsUntil,
} from './sign-in-limit';
import {
  askBetterAuth,
  authCookieName,
  CODE_COOKIE,
  type Credentials,
  PASSKEY_COOKIE,
  PASSWORD_PATH,
  staffSecret,
} from './staff-auth';
import { auditStaff, STAFF_USER_COLUMNS, type StaffUser } from './staff-user';

/**
 * Checks a password and opens a session, or asks for the second factor. Failed attempts are counted, see `countSignIn`.
 * An unknown email address leads to the same error after the same time as a wrong password.
 *
 * @param headers the client's headers
 * @returns `cookies` are the `Set-Cookie` headers of the session and of its device. If a second factor is required,
 * `needsCode` is true, and the cookies belong to a sign-in that waits for a code instead of to a session.
 * @throws AppError unauthenticated; too_many_requests with the seconds to wait; unavailable
 */
export async function signIn(runtime: Runtime, typed: Credentials, headers: Headers) {
  const email = typed.email.trim();
  const origin = await findOrigin(runtime, email, headers);
  const { deviceId } = origin;
  const body = { email, password: typed.password };

  // better-auth's hook counts an attempt only inside the queue. A client that must wait is refused before the queue, so
  // that it does not take a place there.
  const at = runtime.now();
  const until = await findSignInWait(runtime.db, email, origin, at);
  if (until) {
    runtime.log.warn({ component: 'staff-auth' }, 'sign-in refused: too many failures of one account');
    throw tooManyAttempts(secondsUntil(until, at));
  }
  const network = deviceId === null ? widestNetwork(origin.address) : null;
  const asked = { path: PASSWORD_PATH, body, headers, cookies: [], deviceId };
  const response = await queueForHash(network, () => askBetterAuth(runtime, asked));
  if (response.status !== 429) await clearExpired(runtime.db, runtime.now());
  if (!response.ok) throw toRefusal(response, 'The e-mail address or the password is wrong.');
  const { twoFactorRedirect: needsCode = false }: { twoFactorRedirect?: boolean } = await response.json();
  const device = needsCode ? [] : await rememberDevice(runtime, email, deviceId);
  return { cookies: [...response.headers.getSetCookie(), ...device], needsCode };
}

const APP_CODE = /^\d{6}$/;
const WRONG_CODE = 'The code is wrong or has already been used.';

/**
 * Completes a sign-in with the code of a second factor. A wrong code counts like a wrong password. Until the
 * right code is entered, the attempt with the password also counts as failed.
 *
 * @param typed six digits of the authenticator app, or a recovery code, which works once
 * @returns the `Set-Cookie` headers of the session and of its device
 * @throws AppError unauthenticated; conflict if the sign-in must start again; too_many_requests; unavailable
 */
export async function enterCode(runtime: Runtime, typed: string, headers: Headers): Promise<string[]> {
  const { db } = runtime;
  const now = runtime.now();
  const user = await findPending(runtime, headers);
  if (!user) throw new AppError('conflict', 'This sign-in has expired. Start again with your password.');
  const origin = await findOrigin(runtime, user.email, headers);
  const until = await countSignIn(db, user.email, origin, now);
  if (until) throw tooManyAttempts(secondsUntil(until, now));

  const code = typed.replace(/\s/g, '');
  const isAppCode = APP_CODE.test(code);
  const path = `/two-factor/${isAppCode ? 'verify-totp' : 'verify-backup-code'}`;
  // Claim the code before the check, so that parallel requests with it open only one session. A person's recovery codes
  // share one claim, because better-auth rewrites the whole list of codes when one is used.
  const claimed = hashToken(`${user.id} ${isAppCode ? code : 'recovery'}`);
  const release = await claimOnce(runtime, `claimed code ${claimed}`, CLAIM_MS);
  if (!release) throw new AppError('unauthenticated', WRONG_CODE);
  const response = await askBetterAuth(runtime, { path, body: { code }, headers, cookies: [CODE_COOKIE] });
  if (!response.ok || !isAppCode) await release();
  if (!response.ok) throw toRefusal(response, WRONG_CODE);
  await forgiveSignIn(db, user.email, origin, now, 2);
  if (!isAppCode) {
    await auditStaff(db, staffActor(user), 'use_recovery_code', user, user);
  }
  return [
    ...response.headers.getSetCookie(),
    ...(await rememberDevice(runtime, user.email, origin.deviceId)),
  ];
}

/** Finds the person who recently entered the right password. better-auth verifies the signature of the cookie later. */
async function findPending({ db, env, now }: Runtime, headers: Headers): Promise<StaffUser | null> {
  const cookies = parseCookies(headers.get('cookie') ?? '');
  const value = cookies.get(authCookieName(env.publicUrl, CODE_COOKIE)) ?? '';
  const identifier = value.slice(0, Math.max(0, value.lastIndexOf('.')));
  const [user] = await db
    .select(STAFF_USER_COLUMNS)
    .from(staffVerifications)
    .innerJoin(staffUsers, eq(staffUsers.id, staffVerifications.value))
    .where(and(eq(staffVerifications.identifier, identifier), gt(staffVerifications.expiresAt, now())));
  return user ?? null;
}

/** Lifetime of the claim on a code, in milliseconds. A code of an authenticator app is valid for only 90 seconds. */
const CLAIM_MS = 120_000;

/**
 * Returns the options with which the browser asks for a passkey. The options name no account, because the passkey
 * identifies it.
 *
 * @throws AppError too_many_requests after twenty requests from one IP address in a minute; unavailable
 */
export async function beginPasskeySignIn(
  runtime: Runtime,
  headers: Headers,
): Promise<{ options: PublicKeyCredentialRequestOptionsJSON; cookies: string[] }> {
  const path = '/passkey/generate-authenticate-options';
  const answer = await askBetterAuth(runtime, { path, headers, cookies: [] });
  if (answer.status !== 429) await clearExpired(runtime.db, runtime.now());
  if (!answer.ok) throw toRefusal(answer, 'Passkeys do not work right now.');
  const options: PublicKeyCredentialRequestOptionsJSON = await answer.json();
  // better-auth's options only prefer user verification, but `requireVerifiedUser` refuses a passkey without it.
  return { options: { ...options, userVerification: 'required' }, cookies: answer.headers.getSetCookie() };
}

/**
 * Opens a session with a passkey. No code is needed, because the device has verified the passkey's owner.
 *
 * @returns the `Set-Cookie` headers of the session and of its device
 * @throws AppError unauthenticated; too_many_requests; unavailable
 */
export async function finishPasskeySignIn(
  runtime: Runtime,
  response: AuthenticationResponseJSON,
  headers: Headers,
): Promise<string[]> {
  const path = '/passkey/verify-authentication';
  const asked = { path, body: { response }, headers, cookies: [PASSKEY_COOKIE] };
  const answer = await askBetterAuth(runtime, asked);
  if (!answer.ok) throw toRefusal(answer, 'This passkey is not known here. Sign in with your password.');
  const { user }: { user: { email: string } } = await answer.json();
  return [...answer.headers.getSetCookie(), ...(await rememberDevice(runtime, user.email, null))];
}

/**
 * Finds the origin of a sign-in to an account.
 *
 * @param headers the client's headers: `x-forwarded-for` contains the IP address, `cookie` identifies a known device
 */
async function findOrigin(runtime: Runtime, email: string, headers: Headers): Promise<SignInOrigin> {
  const name = deviceCookieName(email, isSecure(runtime));
  const cookie = parseCookies(headers.get('cookie') ?? '').get(name);
  const owner = cookie === undefined ? null : await findOwner(runtime, email);
  const deviceId = cookie !== undefined && owner ? readDevice(cookie, owner, runtime.now()) : null;
  return { deviceId, address: countedAddress(headers.get('x-forwarded-for')) };
}

/**
 * Returns the `Set-Cookie` header that makes a device known. Returns no header if the account is missing or has no
 * password.
 */
export async function rememberDevice(
  runtime: Runtime,
  email: string,
  deviceId: string | null,
): Promise<string[]> {
  const owner = await findOwner(runtime, email);
  const world = { now: runtime.now(), isSecure: isSecure(runtime) };
  return owner ? [deviceCookie(deviceId ?? runtime.newId(), owner, world)] : [];
}

function isSecure({ env }: Runtime): boolean {
  return env.publicUrl.startsWith('https://');
}

async function findOwner(runtime: Runtime, email: string): Promise<DeviceOwner | null> {
  const passwordHash = await findPasswordHash(runtime.db, email);
  if (passwordHash === null) return null;
  return { email, passwordHash, secret: staffSecret(runtime.env, runtime.randomBytes) };
}

/**
 * Returns the stored password hash. Returns null if no account has the email address, or the account has no password
 * yet.
 */
export async function findPasswordHash(db: Database, email: string): Promise<string | null> {
  const [account] = await db
    .select({ passwordHash: staffAccounts.password })
    .from(staffAccounts)
    .innerJoin(staffUsers, eq(staffUsers.id, staffAccounts.userId))
    .where(and(eq(staffUsers.email, email.toLowerCase()), eq(staffAccounts.providerId, 'credential')));
  return account?.passwordHash ?? null;
}

/** Converts better-auth's error response to an AppError. @param wrong the message if the input was wrong */
export function toRefusal({ status, headers }: Response, wrong: string): AppError {
  if (status >= 500) {
    return new AppError('unavailable', 'Signing in does not work right now. Try again in a moment.');
  }
  if (status !== 429) return new AppError('unauthenticated', wrong);
  return tooManyAttempts(Number(headers.get('retry-after') ?? headers.get('x-retry-after') ?? 60));
}

export function tooManyAttempts(seconds: number): AppError {
  const text = `Too many attempts to sign in. Try again in ${inWords(seconds)}.`;
  return new AppError('too_many_requests', text, [], seconds);
}

function inWords(seconds: number): string {
  if (seconds < 2) return 'a second';
  if (seconds <= 90) return `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

interface Attempt {
  by: 'password' | 'code' | 'passkey';
  /**
   * The email address as typed. Only the id of its account is logged, because people sometimes type a password into
   * this field.
   */
  email?: string;
  /** The client's headers. */
  headers: Headers;
}

/**
 * Logs a sign-in that failed because of wrong input, with the client's IP address and the account.
 *
 * @throws the error of the sign-in
 */
export async function logFailedSignIn<T>(
  runtime: Runtime,
  { by, email, headers }: Attempt,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
    const address = countedAddress(headers.get('x-forwarded-for'));
    // Query for unknown email addresses too, so that the response time does not reveal whether an account exists.
    const staff_id = email === undefined ? undefined : await findStaffId(runtime, email);
    runtime.log.warn({ by, address, staff_id }, 'sign-in failed');
    throw error;
  }
}

async function findStaffId({ db }: Runtime, email: string): Promise<string | null> {
  const [user] = await db
    .select({ id: staffUsers.id })
    .from(staffUsers)
    .where(eq(staffUsers.email, email.trim().toLowerCase()));
  return user?.id ?? null;
}

/**
 * Maximum number of expired rows that a sign-in deletes from each table. A sign-in adds fewer, so the tables stay
 * small.
 */
const MAX_CLEARED = 100;
/**
 * Age in milliseconds at which a rate limit row is deleted. It is longer than any window of better-auth's rate limits.
 */
const RATE_LIMIT_ROW_MS = 3_600_000;

/** Deletes expired sessions, verifications, sign-in counters and rate limits, at most 100 rows of each. */
async function clearExpired(db: Database, now: Date): Promise<void> {
  const over: [PgTable, SQL][] = [
    [staffSessions, lte(staffSessions.expiresAt, now)],
    [staffVerifications, lte(staffVerifications.expiresAt, now)],
    [staffSignInFailures, lte(staffSignInFailures.expires_at, now)],
    [staffRateLimits, lt(staffRateLimits.lastRequest, now.getTime() - RATE_LIMIT_ROW_MS)],
  ];
  for (const [table, isOver] of over) {
    await db.execute(sql`delete from ${table} where ctid = any (array(
      select ctid from ${table} where ${isOver} limit ${MAX_CLEARED} for update skip locked
    ))`);
  }
}
