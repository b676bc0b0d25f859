import { parseCookies } from 'better-auth/cookies';
import { and, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffAccounts, staffUsers } from '@/db/schema';
import { AppError } from '../errors';
import type { Runtime } from '../runtime';
import { clearExpired } from './clear-expired';
import { countedAddress } from './counted-address';
import { type DeviceOwner, deviceCookie, deviceCookieName, readDevice } from './device-cookie';
import { queueForHash } from './hash-queue';
import { type Credentials, toSignInRequest } from './sign-in-request';
import { getStaffAuth } from './staff-auth';
import { staffSecret } from './staff-secret';

/**
 * Opens a session. Guesses are counted, see `countSignIn`; an address that nobody has is answered like
 * one whose password is wrong, and takes as long.
 *
 * @param headers the client's: `x-forwarded-for` holds its address, `cookie` tells whether its device is known
 * @returns the `Set-Cookie` headers of the session and of its device
 * @throws AppError unauthenticated; too_many_requests with the seconds to wait; unavailable
 */
export async function signIn(runtime: Runtime, typed: Credentials, headers: Headers): Promise<string[]> {
  const { env, db } = runtime;
  const now = runtime.now();
  const isSecure = env.publicUrl.startsWith('https://');
  const email = typed.email.trim();
  const cookie = parseCookies(headers.get('cookie') ?? '').get(deviceCookieName(email, isSecure));
  const owner = cookie === undefined ? null : await findOwner(runtime, email);
  const deviceId = cookie !== undefined && owner ? readDevice(cookie, owner, now) : null;
  const origin = { deviceId, address: countedAddress(headers.get('x-forwarded-for')) };
  const request = toSignInRequest(env, { ...typed, email }, origin, headers.get('user-agent'));

  const response = await queueForHash(deviceId !== null, () => getStaffAuth(runtime).handler(request));
  if (response.status !== 429) await clearExpired(db, now);
  if (!response.ok) throw refusal(response);
  const signedIn = owner ?? (await findOwner(runtime, email));
  const device = signedIn && deviceCookie(deviceId ?? runtime.newId(), signedIn, { now, isSecure });
  return [...response.headers.getSetCookie(), ...(device ? [device] : [])];
}

async function findOwner(runtime: Runtime, email: string): Promise<DeviceOwner | null> {
  const passwordHash = await findPasswordHash(runtime.db, email);
  if (passwordHash === null) return null;
  return { email, passwordHash, secret: staffSecret(runtime.env, runtime.randomBytes) };
}

async function findPasswordHash(db: Database, email: string): Promise<string | null> {
  const [account] = await db
    .select({ passwordHash: staffAccounts.password })
    .from(staffAccounts)
    .innerJoin(staffUsers, eq(staffUsers.id, staffAccounts.userId))
    .where(and(eq(staffUsers.email, email.toLowerCase()), eq(staffAccounts.providerId, 'credential')));
  return account?.passwordHash ?? null;
}

function refusal({ status, headers }: Response): AppError {
  if (status >= 500) {
    return new AppError('unavailable', 'Signing in does not work right now. Try again in a moment.');
  }
  if (status !== 429) return new AppError('unauthenticated', 'The e-mail address or the password is wrong.');
  const seconds = Number(headers.get('retry-after') ?? headers.get('x-retry-after') ?? 60);
  const text = `Too many attempts to sign in. Try again in ${inWords(seconds)}.`;
  return new AppError('too_many_requests', text, [], seconds);
}

function inWords(seconds: number): string {
  if (seconds < 2) return 'a second';
  if (seconds <= 90) return `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
