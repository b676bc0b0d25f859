import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createHashQueue } from '@/lib/auth/sign-in/hash-queue';
import type { AppError } from '@/lib/errors';

/** A queue whose work ends when the test says so. */
function controlled(limits = { running: 2, waiting: 3, patienceMs: 5000 }) {
  const queue = createHashQueue(limits);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const refused: string[] = [];
  const enter = (name: string, isKnown = false) =>
    queue(
      isKnown,
      () =>
        new Promise<void>((resolve, reject) => {
          begun.push(name);
          ends.set(name, (error) => (error ? reject(error) : resolve()));
        }),
    ).catch((error: AppError) => {
      refused.push(`${name} ${error.code ?? error.message} ${error.retryAfter}`);
    });
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error);
    await turn();
  };
  return { enter, end, begun, refused };
}

describe('the queue of those who want a password looked at', () => {
  afterEach(() => vi.useRealTimers());

  test('so many run, so many wait, the others are refused', async () => {
    const { enter, end, begun, refused } = controlled();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) void enter(name);
    await turn();
    expect(begun).toEqual(['a', 'b']);
    expect(refused).toEqual(['f too_many_requests 5', 'g too_many_requests 5']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const name of ['a', 'c', 'd', 'e']) await end(name);
    void enter('h');
    await turn();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'h']);
  });

  test('known devices go first, and take the place of the last stranger', async () => {
    const { enter, end, begun, refused } = controlled({ running: 1, waiting: 2, patienceMs: 5000 });
    for (const name of ['a', 'b', 'c']) void enter(name);
    void enter('known 1', true);
    void enter('known 2', true);
    void enter('known 3', true);
    await turn();
    expect(refused.map((text) => text.slice(0, 7))).toEqual(['known 3', 'c too_m', 'b too_m']);
    await end('a');
    await end('known 1');
    expect(begun).toEqual(['a', 'known 1', 'known 2']);
  });

  test('work that fails passes the turn on', async () => {
    const { enter, end, begun, refused } = controlled({ running: 1, waiting: 1, patienceMs: 5000 });
    for (const name of ['a', 'b']) void enter(name);
    await end('a', new Error('broken'));
    expect([begun, refused]).toEqual([['a', 'b'], ['a broken undefined']]);
  });

  test('nobody waits for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { enter, end, begun, refused } = controlled({ running: 1, waiting: 2, patienceMs: 5000 });
    for (const name of ['a', 'b']) void enter(name);
    vi.advanceTimersByTime(4999);
    void enter('c');
    vi.advanceTimersByTime(1);
    await turn();
    expect(refused).toEqual(['b too_many_requests 5']);
    await end('a');
    expect(begun).toEqual(['a', 'c']);
  });
});
