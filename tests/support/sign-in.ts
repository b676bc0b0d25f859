import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import * as unknownPath from '@/app/api/[...path]/route';
import * as signInRoute from '@/app/api/auth/sign-in/[...path]/route';
import { staffRateLimits, staffSignInFailures } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { addStaffUser } from '@/lib/staff/manage-staff';
import { useApi } from './api';

export const SECRET = 'a-secret-of-tests-with-enough-characters';
export const GRACE = { email: 'grace@example.com', password: 'correct horse battery' };
const DOOR = '/api/auth/sign-in/email';

export interface Attempt {
  email?: string;
  password?: string;
  /** The value of `X-Forwarded-For`. By default, each attempt has a new IP address. */
  from?: string;
  cookie?: string | undefined;
}

export type ScryptArgs = [...given: unknown[], done: (error: Error | null, key: Buffer) => void];

/** Serves the sign-in endpoint on a fresh database. `useHash` can replace the slow password hash. */
export function useSignIn() {
  const server = useApi(
    { '/api/auth/sign-in/.*': signInRoute, '/api/.*': unknownPath },
    { BETTER_AUTH_SECRET: SECRET },
  );
  let addresses = 0;

  beforeEach(async () => {
    const { db } = server.runtime;
    await db.delete(staffRateLimits);
    await db.delete(staffSignInFailures);
  });

  const attempt = ({ email = GRACE.email, password = 'wrong', from, cookie }: Attempt = {}) => {
    addresses += 1;
    return fetch(server.url + DOOR, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': from ?? `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`,
        ...(cookie !== undefined && { cookie }),
      },
      body: JSON.stringify({ email, password }),
    });
  };
  return {
    server,
    door: () => server.url + DOOR,
    attempt,
    /** Tries to sign in. @returns the status as text, followed by the seconds to wait if it is 429 */
    async attemptStatus(tried: Attempt = {}): Promise<string> {
      const { status, headers } = await attempt(tried);
      return status === 429 ? `429 ${headers.get('retry-after')}` : String(status);
    },
    /** Signs in to an account. @returns the device cookie */
    async knownDevice(who = GRACE, from?: string): Promise<string> {
      const answer = await attempt({ ...who, ...(from !== undefined && { from }) });
      const device = answer.headers.getSetCookie().find((text) => text.includes('.device.'));
      if (!device) throw new Error(`signing in answered ${answer.status} and no device`);
      return device.split(';')[0] ?? '';
    },
    addStaff: (who = GRACE) => addStaffUser(server.runtime, who, commandActor('test')),
  };
}

/** Replaces the password hash function before the tests of a file run. */
export function useHash(hash: (...args: ScryptArgs) => void): void {
  beforeAll(() => {
    vi.spyOn(crypto, 'scrypt').mockImplementation(hash as typeof crypto.scrypt);
    syncBuiltinESMExports();
  });
  afterAll(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}

/** Hashes as fast as possible. Different passwords or salts still give different keys. */
export function quickHash(...args: ScryptArgs): void {
  const done = args[args.length - 1] as (error: Error | null, key: Buffer) => void;
  const key = crypto.createHash('sha512').update(`${args[0]}\n${args[1]}`).digest();
  queueMicrotask(() => done(null, key));
}
