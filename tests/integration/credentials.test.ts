import { statSync } from 'node:fs';
import { join } from 'node:path';
import { base32 } from '@better-auth/utils/base32';
import { createOTP } from '@better-auth/utils/otp';
import { like } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  auditLog,
  staffRateLimits,
  staffSessions,
  staffSignInFailures,
  staffUsers,
  staffVerifications,
} from '@/db/schema';
import { commandActor, listAudit } from '@/lib/audit/audit-log';
import { findStaffSession } from '@/lib/auth/find-staff';
import { enterCode, signIn } from '@/lib/auth/sign-in';
import { staffSecret } from '@/lib/auth/staff-auth';
import { beginTwoFactor, confirmTwoFactor, setStaffPassword } from '@/lib/staff/credentials';
import { addStaffUser } from '@/lib/staff/manage-staff';
import { hashToken, touchAccessToken, verifyAccessToken } from '@/lib/tokens/access-token';
import {
  getAccessToken,
  issueAccessToken,
  listAccessTokens,
  revokeAccessToken,
  type TypedToken,
  tokenState,
} from '@/lib/tokens/manage-access-tokens';
import { useDatabase } from '../support/database';
import { useFiles } from '../support/run-command';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { GRACE, quickHash, SECRET, useHash } from '../support/sign-in';

const base = useDatabase();
useHash(quickHash);
const CLI = commandActor('test');
const env = { BETTER_AUTH_SECRET: SECRET };
const files = useFiles();

describe('access tokens', () => {
  const STAFF = { type: 'staff' as const, id: 'grace', name: 'grace@example.com' };
  const TYPED: TypedToken = {
    ...{ name: ' Website ', scopes: ['payments:write', 'mcp:read'] },
    ...{ expires: '90', last_day: '', staff_email: '', hides_personal_data: false },
  };
  let runtime: TestRuntime | undefined; // All tests use one runtime, so that its random bytes do not repeat.
  const issue = (typed: Partial<TypedToken> = {}, timeZone = 'UTC') => {
    runtime ??= testRuntime(base.db);
    const world = { ...runtime, env: { ...runtime.env, timeZone } };
    return issueAccessToken(world, STAFF, { ...TYPED, ...typed });
  };
  const now = new Date('2026-03-15T12:00:00Z');
  const verify = (token: string, at = now) => verifyAccessToken(base.db, token, at);

  test('an access token works until it is revoked, and its creation and revocation are logged without secrets', async () => {
    const { id, name, token } = await issue();
    expect([name, token]).toEqual(['Website', expect.stringMatching(/^w5t_[\w-]{43}$/)]);
    const scopes = ['mcp:read', 'payments:write'];
    expect(await verify(token)).toEqual({
      ...{ id, name: 'Website', scopes, staff_email: null, last_used_at: null },
      hides_personal_data: false,
    });
    const row = await getAccessToken(base.db, id);
    expect(row).toMatchObject({ created_by: STAFF.name, scopes });
    const hiding = await issue({ hides_personal_data: true });
    expect(await verify(hiding.token)).toMatchObject({ hides_personal_data: true });
    expect(await listAudit(base.db, 'access_token', hiding.id)).toMatchObject([
      { after: { hides_personal_data: true } },
    ]);
    expect(tokenState(row, now)).toBe('valid');
    await revokeAccessToken(base.db, id, { actor: STAFF, now });
    expect(await verify(token)).toBeNull();
    const again = revokeAccessToken(base.db, id, { actor: STAFF, now });
    await expect(again).rejects.toMatchObject({ code: 'not_found' });
    expect(tokenState(await getAccessToken(base.db, id), now)).toBe('revoked');
    expect(await listAudit(base.db, 'access_token', id)).toMatchObject([
      { action: 'access_token.revoke', actor_name: STAFF.name, before: { revoked_at: null }, after: { id } },
      { action: 'access_token.create', actor_type: 'staff', before: null, after: { name: 'Website' } },
    ]);
    const log = JSON.stringify(await base.db.select().from(auditLog));
    for (const secret of [token, hashToken(token), 'token_hash']) expect(log).not.toContain(secret);
  });

  test('an unknown or malformed access token is rejected', async () => {
    const unknown = ['', 'w5t_short', `w5t_${'A'.repeat(43)}`];
    expect(await Promise.all(unknown.map((token) => verify(token)))).toEqual([null, null, null]);
  });

  test('the last use of an access token is written at most once a minute', async () => {
    const { token } = await issue();
    const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
    const use = async (seconds: number) => {
      const known = await verify(token, at(seconds));
      if (known) await touchAccessToken(base.db, known, at(seconds));
      return (await verify(token, at(seconds)))?.last_used_at;
    };
    expect(await use(0)).toEqual(at(0));
    expect(await use(59)).toEqual(at(0));
    expect(await use(61)).toEqual(at(61));
  });

  test.each([
    [{ expires: '30' }, '2026-04-14T12:00:00.000Z'],
    [{ expires: '90' }, '2026-06-13T12:00:00.000Z'],
    [{ expires: '365' }, '2027-03-15T12:00:00.000Z'],
    [{ expires: 'never' }, undefined],
    [{ expires: 'date', last_day: '2026-03-15' }, '2026-03-15T23:00:00.000Z'],
    [{ expires: 'date', last_day: '2026-03-29' }, '2026-03-29T22:00:00.000Z'],
  ])(
    'in the time zone Europe/Berlin, an access token with %j has the expiry time %s',
    async (typed, expected) => {
      const { id, token } = await issue(typed, 'Europe/Berlin');
      expect((await getAccessToken(base.db, id)).expires_at?.toISOString()).toBe(expected);
      const end = new Date(expected ?? '2999-01-01');
      expect(await verify(token, new Date(end.getTime() - 1))).toMatchObject({ id });
      if (expected) expect(await verify(token, end)).toBeNull();
    },
  );

  test.each([
    [{ name: ' ' }, ['name']],
    [{ name: 'x'.repeat(101) }, ['name']],
    [{ scopes: [] }, ['scopes']],
    [{ scopes: ['admin'] }, ['scopes']],
    [{ scopes: ['without_personal_data'] }, ['scopes']],
    [{ expires: '31' }, ['expires']],
    [{ expires: 'date', last_day: '2026-03-14' }, ['last_day']],
    [{ expires: 'date', last_day: '2036-03-30' }, ['last_day']],
    [{ expires: 'date', last_day: '', name: '' }, ['name', 'last_day']],
    [{ staff_email: 'ada' }, ['staff_email']],
    [{ staff_email: 'nobody@example.com' }, ['staff_email']],
  ])('creating an access token with %j is refused', async (typed, fields) => {
    const before = await base.db.$count(auditLog);
    const refused = { code: 'validation_failed', fields: fields.map((field) => ({ field })) };
    await expect(issue(typed)).rejects.toMatchObject(refused);
    expect(await base.db.$count(auditLog)).toBe(before);
  });

  test('access tokens are listed newest first, without their hashes', async () => {
    await issue({ name: 'Last' });
    const page = await listAccessTokens(base.db, { page: 1, per_page: 2 });
    expect(page).toMatchObject({ per_page: 2, data: [{ name: 'Last' }, {}] });
    expect(page.total).toBeGreaterThan(2);
    const next = await listAccessTokens(base.db, { page: 2, per_page: 2 });
    expect(next.data[0]?.id).toBeLessThan(page.data[1]?.id ?? 0);
    expect(Object.keys(page.data[0] ?? {})).not.toContain('token_hash');
  });
});

const emptyStaff = async () => {
  for (const table of [staffUsers, staffRateLimits, staffSignInFailures, staffVerifications])
    await base.db.delete(table);
};

describe('sign-in with a second factor', () => {
  let world: TestRuntime;
  let recovery: string[] = [];
  let code: () => Promise<string>;

  const headersOf = (cookies: string[]) =>
    new Headers({ cookie: cookies.map((one) => one.split(';')[0]).join('; ') });
  /** Signs in by password, and returns the cookies to send with the code. */
  const first = async () => {
    const { cookies, needsCode } = await signIn(world, GRACE, new Headers());
    expect(needsCode).toBe(true);
    return headersOf(cookies);
  };
  const outcomes = async (tries: Promise<string[]>[]) =>
    (await Promise.allSettled(tries)).map(({ status }) => status).sort();

  beforeEach(async () => {
    await emptyStaff();
    world = testRuntime(base.db, { env, now: new Date() });
    await addStaffUser(world, GRACE, CLI);
    const headers = headersOf((await signIn(world, GRACE, new Headers())).cookies);
    const session = await findStaffSession(world, headers);
    if (!session) throw new Error('the sign-in opened no session');
    const made = await beginTwoFactor(world, session, GRACE.password, headers);
    recovery = made.recoveryCodes;
    const key = new URL(made.uri).searchParams.get('secret') ?? '';
    code = async () =>
      createOTP(new TextDecoder().decode(base32.decode(key)), { digits: 6, period: 30 }).totp();
    await confirmTwoFactor(world, session, await code());
    await base.db.delete(staffSessions);
  });

  test('a code and a recovery code each open only one session when they are sent several times', async () => {
    const [typed, [kept = '']] = [await code(), recovery];
    for (const one of [typed, kept]) {
      const waiting = [await first(), await first(), await first()];
      const came = await outcomes(waiting.map((headers) => enterCode(world, one, headers)));
      expect(came).toEqual(['fulfilled', 'rejected', 'rejected']);
      await expect(enterCode(world, one, await first())).rejects.toMatchObject({ code: 'unauthenticated' });
      await base.db.delete(staffSignInFailures);
    }
    expect(await base.db.$count(staffSessions)).toBe(2);
  });

  test('two recovery codes used at the same time open one session each', async () => {
    const [one = '', two = ''] = recovery;
    const waiting = [await first(), await first()] as const;
    await outcomes([enterCode(world, one, waiting[0]), enterCode(world, two, waiting[1])]);
    await base.db.delete(staffSignInFailures);
    for (const used of [one, two]) await outcomes([enterCode(world, used, await first())]);
    expect(await base.db.$count(staffSessions)).toBe(2);
  });

  test('a sign-in waiting for its second factor ends when the password is changed', async () => {
    const waiting = await first();
    await setStaffPassword(world, { email: GRACE.email }, {}, CLI);
    await expect(enterCode(world, await code(), waiting)).rejects.toMatchObject({ code: 'conflict' });
  });
});

test('a failed sign-in deletes at most a hundred expired rows of each sign-in table', async () => {
  const { db } = base;
  await emptyStaff();
  const now = new Date('2026-03-15T12:00:00Z');
  const runtime = testRuntime(db, { env, now });
  const { id: userId } = await addStaffUser(runtime, GRACE, CLI);
  const ends = [...Array(150).keys(), -1, -60].map((seconds) => new Date(now.getTime() - seconds * 1000));
  const failure = { failures: 1, wait_until: now, origin: 'x' };
  const requests = (end: Date) => ({ count: 1, lastRequest: end.getTime() - 3_600_001 });
  for (const [i, end] of ends.entries()) {
    await db.insert(staffSessions).values({ id: `s${i}`, token: `t${i}`, userId, expiresAt: end });
    await db.insert(staffVerifications).values({ id: `v${i}`, identifier: 'x', value: 'y', expiresAt: end });
    await db.insert(staffSignInFailures).values({ ...failure, account: `a${i}`, expires_at: end });
    await db.insert(staffRateLimits).values({ id: `r${i}`, key: `k${i}`, ...requests(end) });
  }
  for (const left of [52, 2, 2]) {
    const wrong = { email: 'nobody@example.com', password: 'x' };
    await expect(signIn(runtime, wrong, new Headers())).rejects.toMatchObject({ code: 'unauthenticated' });
    expect([
      await db.$count(staffSessions),
      await db.$count(staffVerifications),
      await db.$count(staffSignInFailures, like(staffSignInFailures.account, 'a%')),
      await db.$count(staffRateLimits, like(staffRateLimits.id, 'r%')),
    ]).toEqual([left, left, left, left]);
  }
});

test('unless a cookie secret is set, one is kept in a file that only its owner can read, and a short one is refused', () => {
  const dataDir = files.folder;
  const name = 'better-auth-secret';
  const from = (fill: number) => (size: number) => Buffer.alloc(size, fill);
  const made = (fill: number) => staffSecret({ betterAuthSecret: null, dataDir }, from(fill));
  expect(staffSecret({ betterAuthSecret: SECRET, dataDir }, from(7))).toBe(SECRET);
  const secret = made(7);
  expect(secret).toHaveLength(43);
  expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
  expect(files.read(name).trim()).toBe(secret);
  expect(made(9)).toBe(secret);
  files.write(name, 'short');
  expect(() => made(7)).toThrow(name);
});
