import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import * as unknownPath from '@/app/api/[...path]/route';
import * as signInRoute from '@/app/api/auth/sign-in/email/route';
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
  /** `X-Forwarded-For`; else an address of its own. */
  from?: string;
  cookie?: string | undefined;
}

export type ScryptArgs = [...given: unknown[], done: (error: Error | null, key: Buffer) => void];

/** The sign-in's door on a fresh database, where hashing a password costs nothing unless a test says so. */
export function useSignIn() {
  const server = useApi({ [DOOR]: signInRoute, '/api/.*': unknownPath }, { BETTER_AUTH_SECRET: SECRET });
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
    /** The same, and how it was answered: its status, and after 429 the seconds to wait. */
    async told(tried: Attempt = {}): Promise<string> {
      const { status, headers } = await attempt(tried);
      return status === 429 ? `429 ${headers.get('retry-after')}` : String(status);
    },
    /** Signs an account in. @returns the cookie of the device */
    async knownDevice(who = GRACE, from?: string): Promise<string> {
      const answer = await attempt({ ...who, ...(from !== undefined && { from }) });
      const device = answer.headers.getSetCookie().find((text) => text.includes('.device.'));
      if (!device) throw new Error(`signing in answered ${answer.status} and no device`);
      return device.split(';')[0] ?? '';
    },
    addStaff: (who = GRACE) => addStaffUser(server.runtime, who, commandActor('test')),
  };
}

/** Replaces what hashes passwords, before anything of the file is hashed. */
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

/** As quick as can be, and still another key for another password or salt. */
export function quickHash(...args: ScryptArgs): void {
  const done = args[args.length - 1] as (error: Error | null, key: Buffer) => void;
  const key = crypto.createHash('sha512').update(`${args[0]}\n${args[1]}`).digest();
  queueMicrotask(() => done(null, key));
}
