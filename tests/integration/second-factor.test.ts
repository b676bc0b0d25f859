import { base32 } from '@better-auth/utils/base32';
import { createOTP } from '@better-auth/utils/otp';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  staffRateLimits,
  staffSessions,
  staffSignInFailures,
  staffUsers,
  staffVerifications,
} from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { enterCode } from '@/lib/auth/second-factor/enter-code';
import { beginTwoFactor, confirmTwoFactor } from '@/lib/auth/second-factor/set-up';
import { signIn } from '@/lib/auth/sign-in/sign-in';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { findStaffSession } from '@/lib/auth/staff/find-staff';
import { setStaffPassword } from '@/lib/auth/staff/set-staff-password';
import { useDatabase } from '../support/database';
import { testRuntime } from '../support/runtime';
import { SECRET } from '../support/sign-in';

describe('a second factor', () => {
  const base = useDatabase();
  const who = { email: 'grace@example.com', password: 'correct horse battery' };
  let world: ReturnType<typeof testRuntime>;
  let recovery: string[] = [];
  let code: () => Promise<string>;

  const headersOf = (cookies: string[]) =>
    new Headers({ cookie: cookies.map((one) => one.split(';')[0]).join('; ') });
  /** Signs in by password. @returns what the browser sends with the code */
  const first = async () => {
    const { cookies, needsCode } = await signIn(world, who, new Headers());
    expect(needsCode).toBe(true);
    return headersOf(cookies);
  };
  const outcomes = async (tries: Promise<string[]>[]) =>
    (await Promise.allSettled(tries)).map(({ status }) => status).sort();

  beforeEach(async () => {
    const { db } = base;
    for (const table of [staffUsers, staffRateLimits, staffSignInFailures, staffVerifications])
      await db.delete(table);
    world = testRuntime(db, { env: { BETTER_AUTH_SECRET: SECRET }, now: new Date() });
    await addStaffUser(world, who, commandActor('test'));
    const headers = headersOf((await signIn(world, who, new Headers())).cookies);
    const session = await findStaffSession(world, headers);
    if (!session) throw new Error('nobody is signed in');
    const made = await beginTwoFactor(world, session, who.password, headers);
    recovery = made.recoveryCodes;
    const key = new URL(made.uri).searchParams.get('secret') ?? '';
    code = async () =>
      createOTP(new TextDecoder().decode(base32.decode(key)), { digits: 6, period: 30 }).totp();
    await confirmTwoFactor(world, session, await code());
    await db.delete(staffSessions);
  });

  test('a code opens one session, though it is right for longer', async () => {
    const typed = await code();
    await enterCode(world, typed, await first());
    await expect(enterCode(world, typed, await first())).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await base.db.$count(staffSessions)).toBe(1);
  });

  test('a code and a recovery code that many send at once open one session each', async () => {
    const [typed, [kept = '']] = [await code(), recovery];
    for (const one of [typed, kept]) {
      const waiting = [await first(), await first(), await first()];
      const came = await outcomes(waiting.map((headers) => enterCode(world, one, headers)));
      expect(came).toEqual(['fulfilled', 'rejected', 'rejected']);
      await base.db.delete(staffSignInFailures);
    }
    expect(await base.db.$count(staffSessions)).toBe(2);
  });

  test('two recovery codes at once do not bring each other back', async () => {
    const [one = '', two = ''] = recovery;
    const waiting = [await first(), await first()] as const;
    await outcomes([enterCode(world, one, waiting[0]), enterCode(world, two, waiting[1])]);
    await base.db.delete(staffSignInFailures);
    for (const used of [one, two]) await outcomes([enterCode(world, used, await first())]);
    expect(await base.db.$count(staffSessions)).toBe(2);
  });

  test('a sign-in that waits for its code ends with a new password', async () => {
    const waiting = await first();
    await setStaffPassword(world, { email: who.email }, {}, commandActor('test'));
    await expect(enterCode(world, await code(), waiting)).rejects.toMatchObject({ code: 'conflict' });
  });
});
