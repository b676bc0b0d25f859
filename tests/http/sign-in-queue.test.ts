import { availableParallelism } from 'node:os';
import { beforeAll, expect, test, vi } from 'vitest';
import { GRACE, quickHash, type ScryptArgs, useHash, useSignIn } from '../support/sign-in';

const AT_ONCE = Math.max(1, availableParallelism() - 1);
const WAITING = 8;
const { attempt, told, knownDevice, addStaff } = useSignIn();

/** Hashes that were begun and wait for the test to let them end. */
const held: { password: string; end(): void }[] = [];
let isHeld = false;
useHash((...args: ScryptArgs) => {
  if (!isHeld) return quickHash(...args);
  held.push({ password: String(args[0]), end: () => quickHash(...args) });
});

let cookie: string;
beforeAll(async () => {
  await addStaff();
});

test('few passwords are hashed at once, known devices first, few wait, the others may come back', async () => {
  cookie = await knownDevice();
  isHeld = true;
  const answers: string[] = [];
  const all = Array.from({ length: 24 }, () => told().then((answer) => answers.push(answer)));
  const turnedAway = 24 - AT_ONCE - WAITING;
  await vi.waitFor(() => expect([held.length, answers.length]).toEqual([AT_ONCE, turnedAway]));
  expect(new Set(answers)).toEqual(new Set(['429 5']));

  const known = attempt({ ...GRACE, cookie });
  await vi.waitFor(() => expect(answers).toHaveLength(turnedAway + 1));
  held.shift()?.end();
  await vi.waitFor(() => expect(held.map(({ password }) => password)).toContain(GRACE.password));
  const ends = setInterval(() => held.shift()?.end(), 1);
  expect((await known).status).toBe(200);
  await Promise.all(all);
  clearInterval(ends);
  isHeld = false;
  expect(answers.filter((answer) => answer === '401')).toHaveLength(AT_ONCE + WAITING - 1);
  expect(await told({ ...GRACE })).toBe('200');
});

test('those who were turned away are told so, and not counted as failures', async () => {
  isHeld = true;
  const from = '198.51.100.7';
  const all = Array.from({ length: AT_ONCE + WAITING }, () => told());
  await vi.waitFor(() => expect(held).toHaveLength(AT_ONCE));
  // The queue is filled in the order of arrival only: wait until it is.
  let refused = await attempt({ from });
  for (let i = 0; i < 20 && refused.status !== 429; i += 1) refused = await attempt({ from });
  expect(await refused.json()).toMatchObject({
    status: 429,
    detail: 'Too many people are signing in at the moment. Try again in a few seconds.',
  });
  for (let i = 0; i < 5; i += 1) expect(await told({ from })).toBe('429 5');
  const ends = setInterval(() => held.shift()?.end(), 1);
  await Promise.all(all);
  clearInterval(ends);
  isHeld = false;
  for (let i = 0; i < 5; i += 1) expect(await told({ from })).toBe('401');
});
