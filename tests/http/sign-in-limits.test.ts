import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { commandActor } from '@/lib/audit/audit-log';
import { createHashQueue } from '@/lib/auth/hash-queue';
import { accountKey, countSignIn } from '@/lib/auth/sign-in-limit';
import { setStaffPassword } from '@/lib/staff/credentials';
import { type Attempt, GRACE, quickHash, type ScryptArgs, useHash, useSignIn } from '../support/sign-in';

const ADA = { email: 'ada@example.com', password: 'a difference engine' };
const STRANGER = '198.51.100.66';
const { server, attempt, attemptStatus, knownDevice, addStaff } = useSignIn();

/** Password hashes in progress, which the test holds back until it calls `end`. */
const held: { password: string; end(): void }[] = [];
let isHeld = false;
useHash((...args: ScryptArgs) => {
  if (!isHeld) return quickHash(...args);
  held.push({ password: String(args[0]), end: () => quickHash(...args) });
});
beforeAll(async () => {
  await addStaff();
  await addStaff(ADA);
});

const passTime = (seconds: number) => server.later(seconds);
/** Records failed sign-ins, each from a different unknown device. */
async function failElsewhere(times: number, email = GRACE.email): Promise<void> {
  const { db, now } = server.runtime;
  for (let i = 0; i < times; i += 1) {
    await countSignIn(db, email, { deviceId: null, address: `elsewhere-${i}` }, now());
  }
}
/** Tries to sign in several times, by default with a wrong password. @returns the status of each attempt */
async function attempts(times: number, attemptOf: (i: number) => Attempt): Promise<string[]> {
  const answers: string[] = [];
  for (let i = 0; i < times; i += 1) answers.push(await attemptStatus(attemptOf(i)));
  return answers;
}
const fail = (times: number, from: string, cookie?: string) => attempts(times, () => ({ from, cookie }));
const wrong = (times: number) => Array<string>(times).fill('401');

describe('failed sign-ins', () => {
  test.each([GRACE.email, 'unknown@example.com'])(
    'after five failed sign-ins for %s, an IP address has to wait longer after each further failure',
    async (email) => {
      const from = STRANGER;
      expect(await attempts(5, () => ({ email, from }))).toEqual(wrong(5));
      expect(await attemptStatus({ email: email.toUpperCase(), from })).toBe('429 30');
      passTime(29);
      expect(await attemptStatus({ email, from })).toBe('429 1');
      passTime(1);
      expect(await attempts(2, () => ({ email, from }))).toEqual(['401', '429 60']);
      const refused = await attempt({ email, from });
      expect(await refused.json()).toMatchObject({
        type: 'urn:w5t:error:too_many_requests',
        detail: 'Too many attempts to sign in. Try again in 60 seconds.',
      });
      expect(await attemptStatus({ email })).toBe('401');
    },
  );

  test('a successful sign-in resets the failure count of its IP address', async () => {
    await fail(4, STRANGER);
    expect(await attemptStatus({ ...GRACE, from: STRANGER })).toBe('200');
    expect(await fail(5, STRANGER)).toEqual(wrong(5));
  });

  // tests/unit/addresses.test.ts tests which addresses are counted together.
  test.each([
    ['one IPv6 /64 network', [1, 2, 3, 4, 5, 'ffff:1'].map((host) => `2001:db8:0:7::${host}`)],
    [
      'invalid client IP addresses',
      ['192.0.2.1, 192.0.2.2', '192.0.2.3, 192.0.2.4', 'x', '192.0.2.5:1', '', '192.0.2.6,192.0.2.7'],
    ],
  ])('failed sign-ins from %s share one counter', async (_, addresses) => {
    expect(await attempts(6, (i) => ({ from: addresses[i] ?? '' }))).toEqual([...wrong(5), '429 30']);
    expect(await attemptStatus({ from: '2001:db8:0:8::1' })).toBe('401');
  });

  test('an IPv6 /56 network is locked after ten failed sign-ins for an account, and a /48 network after twenty', async () => {
    const from = (network: number, i: number) => `2001:db8:9:${(network * 256 + i).toString(16)}::1`;
    expect(await attempts(11, (i) => ({ from: from(1, i) }))).toEqual([...wrong(10), '429 3600']);
    expect(await attempts(10, (i) => ({ from: from(2 + (i % 4), i) }))).toEqual(wrong(10));
    const others = await attempts(130, (i) => ({ from: from(9 + i, 1) }));
    expect(new Set(others)).toEqual(new Set(['429 3600']));
    expect(await attemptStatus({ from: '2001:db8:a::1' })).toBe('401');
    expect(await attemptStatus({ ...GRACE, from: '2001:db8:a::1' })).toBe('200');
    passTime(3600);
    expect(await attemptStatus({ ...GRACE, from: from(9, 1) })).toBe('200');
  });

  test('parallel failed sign-ins count towards the same limit', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, () => attemptStatus({ from: STRANGER })));
    const tried = answers.filter((answer) => answer === '401').length;
    // The hashing queue accepts only a few sign-ins from one network. Sign-ins that it refuses do not count as
    // failures.
    expect(await fail(6 - tried, STRANGER)).toEqual([...wrong(5 - tried), '429 30']);
  });

  test.each([GRACE.email, 'unknown@example.com'])(
    'a hundred wrong passwords for %s within an hour lock out all unknown devices',
    async (email) => {
      await failElsewhere(99, email);
      expect(await attemptStatus({ email })).toBe('401');
      expect(await attemptStatus({ email, password: GRACE.password })).toBe('429 3600');
      passTime(3600);
      expect(await attemptStatus({ email })).toBe('401');
      expect(await attemptStatus({ ...GRACE })).toBe('200');
    },
  );

  test('a successful sign-in does not count towards the limit of a hundred failures', async () => {
    await failElsewhere(99);
    expect(await attemptStatus({ ...GRACE })).toBe('200');
    expect(await attempts(2, () => ({}))).toEqual(['401', expect.stringMatching(/^429/)]);
  });

  test('one IP address may attempt twenty sign-ins a minute across all accounts', async () => {
    const answers = await attempts(21, (i) => ({ email: `p${i}@example.com`, from: STRANGER }));
    expect(answers.slice(0, 20)).not.toContainEqual(expect.stringMatching(/^429/));
    expect(answers[20]).toMatch(/^429 \d+$/);
  });
});

describe('known devices', () => {
  test('a known device can sign in while unknown devices are locked out', async () => {
    const cookie = await knownDevice(GRACE, STRANGER);
    await failElsewhere(100);
    await fail(6, STRANGER);
    await attempts(20, (i) => ({ email: `p${i}@example.com`, from: STRANGER }));
    expect(await attemptStatus({ ...GRACE, from: STRANGER })).toMatch(/^429/);
    expect(await attemptStatus({ ...GRACE, from: STRANGER, cookie })).toBe('200');
  });

  test('a known device has its own counter of failed sign-ins', async () => {
    const cookie = await knownDevice();
    expect((await fail(6, STRANGER, cookie)).at(-1)).toBe('429 30');
    expect(await attemptStatus({ from: STRANGER })).toBe('401');
    expect(await attemptStatus({ ...GRACE, cookie })).toBe('429 30');
    passTime(30);
    expect(await attemptStatus({ ...GRACE, cookie })).toBe('200');
    expect(await attemptStatus({ cookie })).toBe('401');
  });

  // After five failures from an IP address, its sixth sign-in is refused unless the device is known.
  const isStranger = async (cookie: string) => {
    await fail(5, STRANGER);
    return (await attemptStatus({ from: STRANGER, cookie })) === '429 30';
  };

  test('a known device keeps its device id when it signs in again', async () => {
    const cookie = await knownDevice();
    const again = (await attempt({ ...GRACE, cookie })).headers.getSetCookie().join();
    expect(again).toContain(cookie.slice(0, cookie.indexOf('.', cookie.indexOf('=') + 1)));
    expect(await isStranger(cookie)).toBe(false);
  });

  test('a device known to one account is unknown to another account', async () => {
    const cookie = await knownDevice(ADA);
    const renamed = cookie.replace(accountKey(ADA.email).slice(0, 16), accountKey(GRACE.email).slice(0, 16));
    expect(renamed).not.toBe(cookie);
    expect(await isStranger(`${cookie}; ${renamed}`)).toBe(true);
  });

  test('a device with a forged or expired cookie is unknown', async () => {
    const cookie = await knownDevice();
    const [name, value = ''] = cookie.split('=');
    const [id, end, signature] = value.split('.');
    expect(await isStranger(`${name}=other.${end}.${signature}`)).toBe(true);
    passTime(30);
    const later = `${name}=${id}.${Number(end) + 1}.${signature}`;
    expect(await attemptStatus({ from: STRANGER, cookie: later })).toBe('401');
    expect(await attemptStatus({ from: STRANGER, cookie: `${name}=${id}.${end}` })).toBe('429 60');
    passTime(180 * 86_400);
    expect(await isStranger(cookie)).toBe(true);
  });

  test('a device becomes unknown when the password changes', async () => {
    const cookie = await knownDevice();
    const { email, password } = GRACE;
    await setStaffPassword(server.runtime, { email }, { password }, commandActor('test'));
    expect(await isStranger(cookie)).toBe(true);
  });

  test('the device cookie is HttpOnly, SameSite=Strict and, on https, Secure', async () => {
    const { env } = server.runtime;
    const { publicUrl } = env;
    const value = '[\\w-]+\\.\\d+\\.[\\w-]{43}; Max-Age=15552000; Path=/api/auth; HttpOnly; SameSite=Strict';
    const cookie = async () => (await attempt({ ...GRACE })).headers.getSetCookie()[1];
    expect(await cookie()).toMatch(new RegExp(`^w5t\\.device\\.[0-9a-f]{16}=${value}$`));
    env.publicUrl = 'https://admin.example.com';
    expect(await cookie()).toMatch(new RegExp(`^__Secure-w5t\\.device\\.[0-9a-f]{16}=${value}; Secure$`));
    env.publicUrl = publicUrl;
  });
});

describe('the queue for password hashing', () => {
  const QUEUE = Symbol.for('w5t.hash-queue');
  const LIMITS = { running: 2, waiting: 8, ofNetwork: 3, patienceMs: 600_000 };
  const release = () => {
    isHeld = false;
    for (const { end } of held.splice(0)) end();
  };
  const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000 });

  beforeEach(() => {
    // The default queue depends on the number of cores, and its time-outs are too short for a slow test.
    Object.assign(globalThis, { [QUEUE]: createHashQueue(LIMITS) });
  });
  afterEach(() => {
    release();
    Object.assign(globalThis, { [QUEUE]: undefined });
  });

  /** Starts many sign-ins concurrently, and waits until those that do not fit into the queue are refused. */
  async function crowd() {
    isHeld = true;
    const answers: string[] = [];
    const all = Array.from({ length: 24 }, () => attemptStatus().then((answer) => answers.push(answer)));
    await until(() => expect([held.length, answers.length]).toEqual([2, 14]));
    expect(new Set(answers)).toEqual(new Set(['429 5']));
    return { answers, all };
  }

  test('sign-ins from known devices take precedence in the queue for password hashing', async () => {
    const cookie = await knownDevice();
    const { answers, all } = await crowd();
    const known = attempt({ ...GRACE, cookie });
    await until(() => expect(answers).toHaveLength(15));
    held.shift()?.end();
    await until(() => expect(held.map(({ password }) => password)).toEqual(['wrong', GRACE.password]));
    release();
    expect((await known).status).toBe(200);
    await Promise.all(all);
    expect(answers.filter((answer) => answer === '401')).toHaveLength(9);
    expect(await attemptStatus({ ...GRACE })).toBe('200');
  });

  test('a sign-in refused by a full hashing queue does not count as a failure', async () => {
    const from = '198.51.100.7';
    const { all } = await crowd();
    expect(await (await attempt({ from })).json()).toMatchObject({
      status: 429,
      detail: 'Too many people are signing in at the moment. Try again in a few seconds.',
    });
    expect(await fail(5, from)).toEqual(Array(5).fill('429 5'));
    release();
    await Promise.all(all);
    expect(await fail(5, from)).toEqual(wrong(5));
  });

  test.each([
    ['one address', () => STRANGER],
    ['one IPv6 network of 48 bits', (i: number) => `2001:db8:7:${i * 256}::1`],
  ])('sign-ins from %s leave places in the hashing queue for other networks', async (_, from) => {
    isHeld = true;
    const crowded = Array.from({ length: 12 }, (_, i) =>
      attemptStatus({ email: `p${i}@example.com`, password: 'crowd', from: from(i) }),
    );
    const refused: string[] = [];
    for (const one of crowded) void one.then((answer) => refused.push(answer));
    await until(() => expect(refused).toEqual(Array(9).fill('429 5')));
    const others = Array.from({ length: 7 }, () => attemptStatus({ ...GRACE }));
    await sleep(200);
    release();
    expect(await Promise.all(others)).toEqual(Array(7).fill('200'));
    await Promise.all(crowded);
  });

  test('a rate-limited sign-in does not enter the hashing queue', async () => {
    await fail(5, STRANGER);
    isHeld = true;
    const running = [attemptStatus({ ...ADA }), attemptStatus({ ...ADA })];
    await until(() => expect(held).toHaveLength(2));
    expect(await fail(8, STRANGER)).toEqual(Array(8).fill('429 30'));
    release();
    expect(await Promise.all(running)).toEqual(['200', '200']);
  });

  test('setting a new password waits in the queue for password hashing', async () => {
    const { all } = await crowd();
    const added = addStaff({ email: 'mary@example.com', password: 'a difference engine' });
    held.shift()?.end();
    await until(() => expect(held.map(({ password }) => password)).toContain('a difference engine'));
    release();
    expect(await added).toMatchObject({ email: 'mary@example.com' });
    await Promise.all(all);
  });

  test('password hashing leaves one of several processor cores free', async () => {
    Object.assign(globalThis, { [QUEUE]: undefined });
    isHeld = true;
    // More hashes run on a machine with more cores, so more attempts are needed to fill the queue.
    const all = Array.from({ length: availableParallelism() + 24 }, () => attemptStatus());
    await until(() => expect(held).toHaveLength(Math.max(1, availableParallelism() - 1)));
    release();
    const statuses = (await Promise.all(all)).map((answer) => answer.slice(0, 3));
    expect(new Set(statuses)).toEqual(new Set(['401', '429']));
  });
});
