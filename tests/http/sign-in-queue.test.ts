import { availableParallelism } from 'node:os';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createHashQueue } from '@/lib/auth/sign-in/hash-queue';
import { GRACE, quickHash, type ScryptArgs, useHash, useSignIn } from '../support/sign-in';

const QUEUE = Symbol.for('w5t.hash-queue');
const LIMITS = { running: 2, waiting: 8, patienceMs: 600_000 };
const { attempt, told, knownDevice, addStaff } = useSignIn();

/** Hashes that were begun and wait for the test to let them end. */
const held: { password: string; end(): void }[] = [];
let isHeld = false;
useHash((...args: ScryptArgs) => {
  if (!isHeld) return quickHash(...args);
  held.push({ password: String(args[0]), end: () => quickHash(...args) });
});
const release = () => {
  isHeld = false;
  for (const { end } of held.splice(0)) end();
};
const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000 });

beforeAll(() => addStaff());
beforeEach(() => {
  // That of the process depends on its cores, and would lose patience with a slow test.
  Object.assign(globalThis, { [QUEUE]: createHashQueue(LIMITS) });
});
afterEach(() => {
  release();
  Object.assign(globalThis, { [QUEUE]: undefined });
});

/** Many sign-ins at once, after those that find no place were turned away. */
async function crowd() {
  isHeld = true;
  const answers: string[] = [];
  const all = Array.from({ length: 24 }, () => told().then((answer) => answers.push(answer)));
  await until(() => expect([held.length, answers.length]).toEqual([2, 14]));
  expect(new Set(answers)).toEqual(new Set(['429 5']));
  return { answers, all };
}

test('few passwords are hashed at once, known devices first, few wait, the others may come back', async () => {
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
  expect(await told({ ...GRACE })).toBe('200');
});

test('those who are turned away are told so, and not counted as failures', async () => {
  const from = '198.51.100.7';
  const { all } = await crowd();
  expect(await (await attempt({ from })).json()).toMatchObject({
    status: 429,
    detail: 'Too many people are signing in at the moment. Try again in a few seconds.',
  });
  for (let i = 0; i < 5; i += 1) expect(await told({ from })).toBe('429 5');
  release();
  await Promise.all(all);
  for (let i = 0; i < 5; i += 1) expect(await told({ from })).toBe('401');
});

test('a new password passes through the same queue', async () => {
  const { all } = await crowd();
  const added = addStaff({ email: 'ada@example.com', password: 'a difference engine' });
  held.shift()?.end();
  await until(() => expect(held.map(({ password }) => password)).toContain('a difference engine'));
  release();
  expect(await added).toMatchObject({ email: 'ada@example.com' });
  await Promise.all(all);
});

test('the process leaves one core free, where there are two', async () => {
  Object.assign(globalThis, { [QUEUE]: undefined });
  isHeld = true;
  const all = Array.from({ length: 24 }, () => told());
  await until(() => expect(held).toHaveLength(Math.max(1, availableParallelism() - 1)));
  release();
  expect(new Set((await Promise.all(all)).map((answer) => answer.slice(0, 3)))).toEqual(
    new Set(['401', '429']),
  );
});
