import { parseCookies } from 'better-auth/cookies';
import { and, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffAccounts, staffUsers } from '@/db/schema';
import type { Runtime } from '../../runtime';
import { staffSecret } from '../session/staff-secret';
import { countedAddress } from './counted-address';
import { type DeviceOwner, deviceCookie, deviceCookieName, readDevice } from './device-cookie';
import type { SignInOrigin } from './sign-in-limit';

/**
 * The origin of a sign-in to an account.
 *
 * @param headers the client's: `x-forwarded-for` holds its address, `cookie` tells whether its device is known
 */
export async function findOrigin(runtime: Runtime, email: string, headers: Headers): Promise<SignInOrigin> {
  const name = deviceCookieName(email, isSecure(runtime));
  const cookie = parseCookies(headers.get('cookie') ?? '').get(name);
  const owner = cookie === undefined ? null : await findOwner(runtime, email);
  const deviceId = cookie !== undefined && owner ? readDevice(cookie, owner, runtime.now()) : null;
  return { deviceId, address: countedAddress(headers.get('x-forwarded-for')) };
}

/** The `Set-Cookie` that makes the device known after a sign-in. Undefined if the account has no password. */
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

/** The stored hash; null if no account has the address, or it has no password yet. */
export async function findPasswordHash(db: Database, email: string): Promise<string | null> {
  const [account] = await db
    .select({ passwordHash: staffAccounts.password })
    .from(staffAccounts)
    .innerJoin(staffUsers, eq(staffUsers.id, staffAccounts.userId))
    .where(and(eq(staffUsers.email, email.toLowerCase()), eq(staffAccounts.providerId, 'credential')));
  return account?.passwordHash ?? null;
}
