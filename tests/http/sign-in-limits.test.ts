import { beforeAll, describe, expect, test } from 'vitest';
import { commandActor } from '@/lib/audit/record-audit';
import { accountKey } from '@/lib/auth/sign-in/device-cookie';
import { setStaffPassword } from '@/lib/auth/staff/set-staff-password';
import { GRACE, quickHash, useHash, useSignIn } from '../support/sign-in';

const ADA = { email: 'ada@example.com', password: 'a difference engine' };
const STRANGER = '198.51.100.66';
const { server, attempt, told, knownDevice, addStaff } = useSignIn();

useHash(quickHash);
beforeAll(async () => {
  await addStaff();
  await addStaff(ADA);
});

const passTime = (seconds: number) =>
  server.runtime.setNow(new Date(server.runtime.now().getTime() + seconds * 1000));
const fail = async (times: number, from: string, cookie?: string) => {
  const answers: string[] = [];
  for (let i = 0; i < times; i += 1) answers.push(await told({ from, cookie }));
  return answers;
};

describe('wrong passwords', () => {
  test.each([GRACE.email, 'nobody@example.com'])(
    '%s: an address waits longer and longer, and nobody else does',
    async (email) => {
      const from = STRANGER;
      for (let i = 0; i < 5; i += 1) expect(await told({ email, from })).toBe('401');
      expect(await told({ email: email.toUpperCase(), from })).toBe('429 30');
      passTime(29);
      expect(await told({ email, from })).toBe('429 1');
      passTime(1);
      expect(await told({ email, from })).toBe('401');
      expect(await told({ email, from })).toBe('429 60');
      const refused = await attempt({ email, from });
      expect(await refused.json()).toMatchObject({
        type: 'urn:w5t:error:too_many_requests',
        detail: 'Too many attempts to sign in. Try again in 60 seconds.',
      });
      expect(await told({ email })).toBe('401');
    },
  );

  test('ten from one address shut nobody else out, whatever device they have', async () => {
    expect((await fail(10, STRANGER)).filter((answer) => answer.startsWith('429'))).toHaveLength(5);
    expect(await told({ ...GRACE })).toBe('200');
  });

  test('the right one ends the failures of its address', async () => {
    await fail(4, STRANGER);
    expect(await told({ ...GRACE, from: STRANGER })).toBe('200');
    expect(await fail(5, STRANGER)).toEqual(['401', '401', '401', '401', '401']);
  });

  test('an IPv6 network of 64 bits is one address', async () => {
    for (let i = 1; i <= 5; i += 1) expect(await told({ from: `2001:db8:0:7::${i}` })).toBe('401');
    expect(await told({ from: '2001:db8:0:7:ffff::1' })).toBe('429 30');
    expect(await told({ from: '2001:db8:0:8::1' })).toBe('401');
  });

  test('chains and what is no address are one address', async () => {
    const forged = ['192.0.2.1, 192.0.2.2', '192.0.2.3, 192.0.2.4', 'x', '192.0.2.5:1', ''];
    for (const from of forged) expect(await told({ from })).toBe('401');
    expect(await told({ from: '192.0.2.6,192.0.2.7' })).toBe('429 30');
  });

  test('parallel guesses share the tries', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, () => told({ from: STRANGER })));
    expect(answers.filter((answer) => answer === '401')).toHaveLength(5);
  });

  test('a hundred an hour over all unknown devices, known addresses or not', {
    timeout: 60_000,
  }, async () => {
    for (const email of [GRACE.email, 'nobody@example.com']) {
      for (let i = 0; i < 100; i += 1) expect(await told({ email })).toBe('401');
      expect(await told({ email, password: GRACE.password })).toMatch(/^429 3600$/);
    }
    passTime(3600);
    expect(await told()).toBe('401');
    expect(await told({ ...GRACE })).toBe('200');
  });

  test('the right password is no failure of the hundred', async () => {
    for (let i = 0; i < 99; i += 1) await told();
    expect(await told({ ...GRACE })).toBe('200');
    expect(await told()).toBe('401');
    expect(await told()).toMatch(/^429/);
  });

  test('one address may try twenty times a minute, whatever the accounts', async () => {
    const answers: string[] = [];
    for (let i = 0; i < 21; i += 1) answers.push(await told({ email: `p${i}@example.com`, from: STRANGER }));
    expect(answers.slice(0, 20)).not.toContainEqual(expect.stringMatching(/^429/));
    expect(answers[20]).toMatch(/^429 \d+$/);
  });
});

describe('a known device', () => {
  test('is not shut out by strangers, not even by those of its own address', async () => {
    const cookie = await knownDevice(GRACE, STRANGER);
    for (let i = 0; i < 100; i += 1) await told();
    await fail(6, STRANGER);
    for (let i = 0; i < 20; i += 1) await told({ email: `p${i}@example.com`, from: STRANGER });
    expect(await told({ ...GRACE, from: STRANGER })).toMatch(/^429/);
    expect(await told({ ...GRACE, from: STRANGER, cookie })).toBe('200');
  });

  test('is counted by itself', async () => {
    const cookie = await knownDevice();
    expect((await fail(6, STRANGER, cookie)).at(-1)).toBe('429 30');
    expect(await told({ from: STRANGER })).toBe('401');
    expect(await told({ ...GRACE, cookie })).toBe('429 30');
    passTime(30);
    expect(await told({ ...GRACE, cookie })).toBe('200');
    expect(await told({ cookie })).toBe('401');
  });

  // Each of them takes the fifth try of an address: a known device would not be refused at the sixth.
  const isStranger = async (cookie: string) => {
    const answers = await fail(5, STRANGER);
    return [...answers, await told({ from: STRANGER, cookie })].at(-1) === '429 30';
  };

  test('keeps its name when it signs in again', async () => {
    const cookie = await knownDevice();
    const again = (await attempt({ ...GRACE, cookie })).headers.getSetCookie().join();
    expect(again).toContain(cookie.slice(0, cookie.indexOf('.', cookie.indexOf('=') + 1)));
    expect(await isStranger(cookie)).toBe(false);
  });

  test('is one of its own account only', async () => {
    const cookie = await knownDevice(ADA);
    const renamed = cookie.replace(accountKey(ADA.email).slice(0, 16), accountKey(GRACE.email).slice(0, 16));
    expect(renamed).not.toBe(cookie);
    expect(await isStranger(`${cookie}; ${renamed}`)).toBe(true);
  });

  test('is a stranger when its cookie is changed or over', async () => {
    const cookie = await knownDevice();
    const [id, end, signature] = cookie.split('=')[1]?.split('.') ?? [];
    const name = cookie.split('=')[0];
    expect(await isStranger(`${name}=other.${end}.${signature}`)).toBe(true);
    passTime(30);
    expect(await told({ from: STRANGER, cookie: `${name}=${id}.${Number(end) + 1}.${signature}` })).toBe(
      '401',
    );
    expect(await told({ from: STRANGER, cookie: `${name}=${id}.${end}` })).toBe('429 60');
    passTime(180 * 86_400);
    expect(await isStranger(cookie)).toBe(true);
  });

  test('is a stranger after a new password', async () => {
    const cookie = await knownDevice();
    await setStaffPassword(
      server.runtime,
      { email: GRACE.email },
      { password: GRACE.password },
      commandActor('test'),
    );
    expect(await isStranger(cookie)).toBe(true);
  });

  test('has a cookie out of reach of scripts, other sites and plain http', async () => {
    const { env } = server.runtime;
    const publicUrl = env.publicUrl;
    const cookies = async () => (await attempt({ ...GRACE })).headers.getSetCookie();
    const value = '[\\w-]+\\.\\d+\\.[\\w-]{43}; Max-Age=15552000; Path=/api/auth; HttpOnly; SameSite=Strict';
    expect((await cookies())[1]).toMatch(new RegExp(`^w5t\\.device\\.[0-9a-f]{16}=${value}$`));
    env.publicUrl = 'https://admin.example.com';
    expect((await cookies())[1]).toMatch(
      new RegExp(`^__Secure-w5t\\.device\\.[0-9a-f]{16}=${value}; Secure$`),
    );
    env.publicUrl = publicUrl;
  });
});
