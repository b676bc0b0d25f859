import crypto from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { like } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  staffRateLimits,
  staffSessions,
  staffSignInFailures,
  staffUsers,
  staffVerifications,
} from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { addStaffUser } from '@/lib/auth/add-staff-user';
import { getStaffAuth, handleStaffAuth } from '@/lib/auth/staff-auth';
import { staffSecret } from '@/lib/auth/staff-secret';
import { MAX_FAILED_SIGN_INS } from '@/lib/auth/staff-sign-in-limit';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';

const SECRET = 'a-secret-of-tests-with-enough-characters';
const EMAIL = 'grace@example.com';
const PASSWORD = 'correct horse battery';

describe('staff sign-in', () => {
  const base = useDatabase();
  let runtime: TestRuntime;
  let addresses = 0;

  beforeAll(async () => {
    runtime = testRuntime(base.db, { env: { BETTER_AUTH_SECRET: SECRET } });
    await addStaffUser(runtime, { email: EMAIL, password: PASSWORD }, commandActor('test'));
  });
  beforeEach(() => base.db.delete(staffRateLimits));

  function post(path: string, body: unknown, headers: Record<string, string> = {}, on = runtime) {
    addresses += 1;
    return handleStaffAuth(
      on,
      new Request(`${on.env.publicUrl}/api/auth${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': `192.0.2.${addresses % 250}`,
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    );
  }
  const signIn = (email: string, password: string, headers = {}) =>
    post('/sign-in/email', { email, password }, headers);

  test('the right password opens a database session, the cookie names it', async () => {
    const answer = await signIn(EMAIL.toUpperCase(), PASSWORD);
    expect(answer.status).toBe(200);
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^w5t\.session_token=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/);
    const session = await getStaffAuth(runtime).api.getSession({ headers: new Headers({ cookie }) });
    expect(session?.user).toMatchObject({ email: EMAIL, role: 'staff' });
    await base.db.delete(staffSessions);
    expect(await getStaffAuth(runtime).api.getSession({ headers: new Headers({ cookie }) })).toBeNull();
  });

  test('the cookie is Secure where the service is reached over https', async () => {
    const secure = testRuntime(base.db, {
      env: { BETTER_AUTH_SECRET: SECRET, PUBLIC_URL: 'https://admin.example.com' },
    });
    const answer = await post('/sign-in/email', { email: EMAIL, password: PASSWORD }, {}, secure);
    expect(answer.headers.get('set-cookie')).toMatch(/^__Secure-w5t\.session_token=.*; Secure/);
  });

  test('a wrong password and an unknown address get the same answer', async () => {
    const answers = await Promise.all([
      signIn(EMAIL, 'wrong password'),
      signIn('nobody@example.com', PASSWORD),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([401, 401]);
    const [known, unknown] = await Promise.all(answers.map((answer) => answer.text()));
    expect(known).toBe(unknown);
  });

  test('an unknown address costs as much: a password is hashed for it too', async () => {
    const scrypt = vi.spyOn(crypto, 'scrypt');
    syncBuiltinESMExports();
    const hashesFor = async (email: string) => {
      scrypt.mockClear();
      expect((await signIn(email, 'wrong password')).status).toBe(401);
      return scrypt.mock.calls.map(([, , length, options]) => ({ length, options }));
    };
    try {
      const known = await hashesFor(EMAIL);
      expect(known).toHaveLength(1);
      expect(await hashesFor('nobody@example.com')).toEqual(known);
    } finally {
      scrypt.mockRestore();
      syncBuiltinESMExports();
    }
  });

  test('the limit of an account asks no header', async () => {
    const forged = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip', 'cf-connecting-ip'];
    for (let i = 1; i <= MAX_FAILED_SIGN_INS + 1; i += 1) {
      const headers = Object.fromEntries(forged.map((name) => [name, `203.0.113.${i}`]));
      const { status } = await signIn(EMAIL, 'wrong password', headers);
      expect(status).toBe(i > MAX_FAILED_SIGN_INS ? 429 : 401);
    }
  });

  test('a chain of addresses, which anybody can lengthen, is one address for all', async () => {
    const statuses = [];
    for (let i = 1; i <= 21; i += 1) {
      const from = { 'x-forwarded-for': `203.0.113.${i}, 198.51.100.${i}` };
      statuses.push((await signIn(`person-${i}@example.com`, 'x', from)).status);
    }
    expect(statuses.slice(0, 20)).not.toContain(429);
    expect(statuses[20]).toBe(429);
  });

  test.each([EMAIL, 'unknown@example.com'])('%s waits after ten failed sign-ins', async (email) => {
    const failed = await Promise.all(
      Array.from({ length: MAX_FAILED_SIGN_INS }, () => signIn(email, 'wrong password')),
    );
    expect(new Set(failed.map((answer) => answer.status))).toEqual(new Set([401]));
    const blocked = await signIn(email.toUpperCase(), PASSWORD);
    expect(blocked.status).toBe(429);
    expect(await blocked.json()).toEqual({
      code: 'TOO_MANY_SIGN_INS',
      message: 'Too many failed sign-ins. Try again in 15 minutes.',
    });
    runtime.setNow(new Date(runtime.now().getTime() + 15 * 60_000));
    expect((await signIn(email, PASSWORD)).status).toBe(email === EMAIL ? 200 : 401);
  });

  test('parallel guesses share the ten tries', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, () => signIn(EMAIL, 'wrong password')));
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(MAX_FAILED_SIGN_INS);
  });

  test('a sign-in that succeeds takes the failed ones away', async () => {
    await Promise.all(Array.from({ length: 9 }, () => signIn(EMAIL, 'wrong password')));
    expect((await signIn(EMAIL, PASSWORD)).status).toBe(200);
    expect((await signIn(EMAIL, 'wrong password')).status).toBe(401);
  });

  test('one address of the network may try twenty times a minute, whatever the accounts', async () => {
    const from = { 'x-forwarded-for': '198.51.100.7' };
    const statuses = [];
    for (let i = 0; i < 21; i += 1) {
      statuses.push((await signIn(`person-${i}@example.com`, 'x', from)).status);
    }
    expect(statuses.slice(0, 20)).not.toContain(429);
    expect(statuses[20]).toBe(429);
  });

  test.each([
    ['/sign-up/email', { email: 'mallory@example.com', password: PASSWORD, name: 'M', role: 'admin' }],
    ['/update-user', { role: 'admin' }],
    ['/change-email', { newEmail: 'mallory@example.com' }],
    ['/delete-user', {}],
    ['/request-password-reset', { email: EMAIL }],
  ])('%s is not there', async (path, body) => {
    expect((await post(path, body)).status).toBe(404);
  });

  test('nobody can sign up or give themselves a role through the library either', async () => {
    const { api } = getStaffAuth(runtime);
    const body = { email: 'mallory@example.com', password: PASSWORD, name: 'M', role: 'admin' };
    await expect(api.signUpEmail({ body })).rejects.toMatchObject({ statusCode: 400 });
    const cookie = (await signIn(EMAIL, PASSWORD)).headers.get('set-cookie') ?? '';
    await expect(
      api.updateUser({ body: { role: 'admin' } as object, headers: new Headers({ cookie }) }),
    ).rejects.toMatchObject({ statusCode: 400 });
    const staff = await base.db.select().from(staffUsers);
    expect(staff).toMatchObject([{ email: EMAIL, role: 'staff' }]);
  });
});

describe('what is over', () => {
  const base = useDatabase();
  const now = new Date('2026-03-15T12:00:00Z');
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  const runtime = () => testRuntime(base.db, { env: { BETTER_AUTH_SECRET: SECRET }, now });
  const trySignIn = () =>
    handleStaffAuth(
      runtime(),
      new Request(`${runtime().env.publicUrl}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'nobody@example.com', password: PASSWORD }),
      }),
    );

  test('is cleared by a sign-in, a hundred of each kind at once, and nothing else is', async () => {
    const { db } = base;
    const { id: userId } = await addStaffUser(runtime(), { email: EMAIL }, commandActor('test'));
    const ends = [...Array.from({ length: 150 }, (_, i) => ago(i)), ago(-1), ago(-60)];
    await db
      .insert(staffSessions)
      .values(ends.map((expiresAt, i) => ({ id: `s${i}`, token: `t${i}`, userId, expiresAt })));
    await db
      .insert(staffVerifications)
      .values(ends.map((expiresAt, i) => ({ id: `v${i}`, identifier: 'x', value: 'y', expiresAt })));
    const failure = { failures: 1, wait_until: now };
    await db
      .insert(staffSignInFailures)
      .values(ends.map((expires_at, i) => ({ ...failure, account: `a${i}`, origin: 'x', expires_at })));
    await db.insert(staffRateLimits).values(
      ends.map((end, i) => ({
        id: `r${i}`,
        key: `k${i}`,
        count: 1,
        lastRequest: end.getTime() - 3_600_001,
      })),
    );
    const left = async () => [
      await db.$count(staffSessions),
      await db.$count(staffVerifications),
      await db.$count(staffSignInFailures, like(staffSignInFailures.account, 'a%')),
      await db.$count(staffRateLimits, like(staffRateLimits.id, 'r%')),
    ];
    await trySignIn();
    expect(await left()).toEqual([52, 52, 52, 52]);
    await trySignIn();
    expect(await left()).toEqual([2, 2, 2, 2]);
    await trySignIn();
    expect(await left()).toEqual([2, 2, 2, 2]);
  });
});

describe('the secret of the cookies', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'w5t-secret-'));
  const file = join(dataDir, 'better-auth-secret');
  const chance = (size: number) => Buffer.alloc(size, 7);
  afterAll(() => rmSync(dataDir, { recursive: true }));

  test('is the configured one', () => {
    expect(staffSecret({ betterAuthSecret: SECRET, dataDir }, chance)).toBe(SECRET);
  });

  test('is else made once, for its owner alone', () => {
    const secret = staffSecret({ betterAuthSecret: null, dataDir }, chance);
    expect(secret).toHaveLength(43);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim()).toBe(secret);
    expect(staffSecret({ betterAuthSecret: null, dataDir }, (size) => Buffer.alloc(size, 9))).toBe(secret);
  });

  test('a broken file is named', () => {
    writeFileSync(file, 'short');
    expect(() => staffSecret({ betterAuthSecret: null, dataDir }, chance)).toThrow(file);
  });
});
