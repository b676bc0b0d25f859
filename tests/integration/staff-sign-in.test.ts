import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { like } from 'drizzle-orm';
import { afterAll, describe, expect, test } from 'vitest';
import { staffRateLimits, staffSessions, staffSignInFailures, staffVerifications } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { staffSecret } from '@/lib/auth/session/staff-secret';
import { signIn } from '@/lib/auth/sign-in/sign-in';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { useDatabase } from '../support/database';
import { testRuntime } from '../support/runtime';

const SECRET = 'a-secret-of-tests-with-enough-characters';

describe('what is over', () => {
  const base = useDatabase();
  const now = new Date('2026-03-15T12:00:00Z');
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  const runtime = () => testRuntime(base.db, { env: { BETTER_AUTH_SECRET: SECRET }, now });
  const trySignIn = () =>
    expect(
      signIn(runtime(), { email: 'nobody@example.com', password: 'x' }, new Headers()),
    ).rejects.toMatchObject({ code: 'unauthenticated' });

  test('is cleared by a sign-in, a hundred of each kind at once, and nothing else is', async () => {
    const { db } = base;
    const { id: userId } = await addStaffUser(
      runtime(),
      { email: 'grace@example.com' },
      commandActor('test'),
    );
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
