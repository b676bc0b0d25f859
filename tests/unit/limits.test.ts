import { stat } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { answerWithin, type Database } from '@/db/database';
import * as opener from '@/db/transaction';
import { Bulkhead } from '@/db/transaction';
import { createHashQueue } from '@/lib/auth/hash-queue';
import { countFailure, countUnknownFailure, type SignInCounter } from '@/lib/auth/sign-in-limit';
import type { AppError } from '@/lib/errors';
import { Batches } from '@/lib/store/store';

/** Creates work that continues until the test opens its gate. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, work: () => opened };
}

describe('concurrency limits', () => {
  const limits = { atOnce: 3, perKey: 2, waiting: 4, patience: 60_000 };

  test('work under a concurrency limit starts in order of arrival unless its key has reached its own limit', async () => {
    const bulkhead = new Bulkhead(limits);
    const gates = Array.from({ length: 6 }, gate);
    const begun: number[] = [];
    const ends = ['a', 'a', 'a', 'b', undefined, 'b'].map((key, i) =>
      bulkhead.run(key, async () => {
        begun.push(i);
        await gates[i]?.work();
      }),
    );
    const end = async (i: number) => {
      gates[i]?.open();
      await ends[i];
      await turn();
    };
    await turn();
    expect(begun).toEqual([0, 1, 3]);
    for (const i of [3, 4, 0]) await end(i);
    expect(begun).toEqual([0, 1, 3, 4, 5, 2]);
    for (const i of [1, 2, 5]) await end(i);
  });

  test('work that exceeds the waiting limits is refused with the error code of a lock timeout', async () => {
    const bulkhead = new Bulkhead({ ...limits, atOnce: 1, waiting: 1, patience: 20 });
    const held = gate();
    const first = bulkhead.run(undefined, held.work);
    const refused = ['late', 'too much'].map((name) => bulkhead.run(undefined, async () => name));
    for (const one of refused.reverse()) await expect(one).rejects.toMatchObject({ code: '55P03' });
    held.open();
    await first;
    expect(await bulkhead.run(undefined, async () => 'next')).toBe('next');
  });

  test('work whose signal has already aborted does not wait under a concurrency limit', async () => {
    const bulkhead = new Bulkhead({ ...limits, atOnce: 1 });
    const held = gate();
    const first = bulkhead.run(undefined, held.work);
    const left = bulkhead.run(undefined, async () => {}, AbortSignal.abort());
    expect(bulkhead.counts.waiting).toBe(0);
    await expect(left).rejects.toMatchObject({ code: '55P03' });
    held.open();
    await first;
  });

  test('work that fails under a concurrency limit frees its place for waiting work', async () => {
    const bulkhead = new Bulkhead({ ...limits, atOnce: 1 });
    const failing = bulkhead.run('a', () => Promise.reject(new Error('no')));
    const next = bulkhead.run('a', async () => 'next');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  test('the limit of concurrent writers is shared across bundles', async () => {
    const db = {} as Database;
    opener.limitWriters(db, 1);
    // @ts-expect-error TypeScript cannot resolve a path with a query. It loads the module again, as another bundle does.
    const route: typeof opener = await import('@/db/transaction?another-bundle');
    expect(route.writeInTurn).not.toBe(opener.writeInTurn);
    const held = gate();
    const first = route.writeInTurn(db, undefined, held.work);
    const work = vi.fn(async () => {});
    const second = route.writeInTurn(db, undefined, work);
    await turn();
    expect(work).not.toHaveBeenCalled();
    held.open();
    await Promise.all([first, second]);
    expect(work).toHaveBeenCalledOnce();
  });
});

test('an answer that arrives during a pause of the process is in time', async () => {
  await turn(); // After the next pause, Node runs timers before it reads answers.
  const answer = answerWithin(500, stat('.'));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  expect(await answer).toBeDefined();
  expect(await answerWithin(20, new Promise(() => {}))).toBeUndefined();
});

describe('the queue of password hashing', () => {
  afterEach(() => vi.useRealTimers());

  /** Creates a queue whose work runs until the test calls `end`. */
  function controlled(limits: { running: number; waiting: number; ofNetwork?: number }) {
    const queue = createHashQueue({ ofNetwork: 1, ...limits, patienceMs: 5000 });
    const begun: string[] = [];
    const ends = new Map<string, (error?: Error) => void>();
    const refused: string[] = [];
    const enter = (names: string[], networkOf: (name: string) => string | null = (name) => name) => {
      for (const name of names) {
        const work = () => {
          begun.push(name);
          return new Promise<void>((resolve, reject) => {
            ends.set(name, (error) => (error ? reject(error) : resolve()));
          });
        };
        queue(networkOf(name), work).catch(({ code, message, retryAfter }: AppError) => {
          refused.push(`${name} ${code ?? message} ${retryAfter}`);
        });
      }
      return turn();
    };
    const end = (name: string, error?: Error) => {
      ends.get(name)?.(error);
      return turn();
    };
    return { enter, end, begun, refused };
  }

  test('sign-ins are refused when the queue for password hashing is full', async () => {
    const { enter, end, begun, refused } = controlled({ running: 2, waiting: 3 });
    await enter(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(begun).toEqual(['a', 'b']);
    expect(refused).toEqual(['f too_many_requests 5', 'g too_many_requests 5']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const name of ['a', 'c', 'd', 'e']) await end(name);
    await enter(['h']);
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'h']);
  });

  test('sign-ins from known devices come first in the queue for password hashing', async () => {
    const { enter, end, begun, refused } = controlled({ running: 1, waiting: 2 });
    void enter(['a', 'b', 'c']);
    await enter(['known 1', 'known 2', 'known 3'], () => null);
    expect(refused.map((text) => text.slice(0, 7))).toEqual(['known 3', 'c too_m', 'b too_m']);
    for (const name of ['a', 'known 1']) await end(name);
    expect(begun).toEqual(['a', 'known 1', 'known 2']);
  });

  test('unknown devices of one network share a limited number of places in the hashing queue', async () => {
    const { enter, end, begun, refused } = controlled({ running: 1, waiting: 8, ofNetwork: 2 });
    void enter(['a', 'b', 'c'], () => 'one');
    void enter(['d']);
    await enter(['known'], () => null);
    expect(refused).toEqual(['c too_many_requests 5']);
    for (const name of ['a', 'known', 'b']) await end(name);
    await enter(['e'], () => 'one');
    await end('d');
    expect(begun).toEqual(['a', 'known', 'b', 'd', 'e']);
  });

  test('failed password hashing frees its place for the next sign-in', async () => {
    const { enter, end, begun, refused } = controlled({ running: 1, waiting: 1 });
    await enter(['a', 'b']);
    await end('a', new Error('broken'));
    expect([begun, refused]).toEqual([['a', 'b'], ['a broken undefined']]);
  });

  test('a sign-in that has waited five seconds for hashing is refused', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { enter, end, begun, refused } = controlled({ running: 1, waiting: 2 });
    await enter(['a', 'b']);
    vi.advanceTimersByTime(4999);
    void enter(['c']);
    vi.advanceTimersByTime(1);
    await turn();
    expect(refused).toEqual(['b too_many_requests 5']);
    await end('a');
    expect(begun).toEqual(['a', 'c']);
  });
});

describe('delays after failed sign-ins', () => {
  const START = new Date('2026-03-15T12:00:00Z');
  const at = (seconds: number) => new Date(START.getTime() + seconds * 1000);

  test('the delay after failed sign-ins doubles up to an hour', () => {
    let counter: SignInCounter | undefined;
    const waits = Array.from({ length: 15 }, () => {
      counter = countFailure(counter, START);
      return (counter.wait_until.getTime() - START.getTime()) / 1000;
    });
    expect(waits).toEqual([0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]);
  });

  test('failed sign-ins from an IP address expire a day after the last one', () => {
    const held = { failures: 9, wait_until: START, expires_at: at(1) };
    expect(countFailure(held, START)).toMatchObject({ failures: 10, expires_at: at(86_400) });
    expect(countFailure(held, at(1))).toMatchObject({ failures: 1, wait_until: at(1) });
  });

  test('unknown devices have to wait after a hundred failed sign-ins within an hour', () => {
    let counter: SignInCounter | undefined;
    for (let i = 0; i < 99; i += 1) counter = countUnknownFailure(counter, at(i));
    expect(counter).toEqual({ failures: 99, wait_until: at(98), expires_at: at(3600) });
    expect(countUnknownFailure(counter, at(99)).wait_until).toEqual(at(3600));
    expect(countUnknownFailure(counter, at(3600))).toMatchObject({ failures: 1, wait_until: at(3600) });
  });
});

/** Opens batches that the test ends one by one. */
function openBatches() {
  const begun: { given: number[]; end(done: number[]): void; fail(error: Error): void }[] = [];
  const batches = new Batches<number, number>(
    (given) => new Promise((end, fail) => begun.push({ given, end, fail })),
    2,
  );
  return { batches, given: () => begun.map((batch) => batch.given), begun };
}

// If the timer fires late, the immediate that starts a batch is still pending, so wait for one more immediate.
const settled = () => new Promise((resolve) => setTimeout(() => setImmediate(resolve), 5));

test('requests to the store wait while two batches are running, and then run in batches of at most 16', async () => {
  const { batches, begun, given } = openBatches();
  const first = batches.run(1);
  await settled();
  const second = batches.run(2);
  await settled();
  const others = Array.from({ length: 20 }, (_, i) => batches.run(i + 3));
  await settled();
  expect(given()).toEqual([[1], [2]]);
  begun[0]?.end([1]);
  await settled();
  expect(given()[2]).toEqual(Array.from({ length: 16 }, (_, i) => i + 3));
  begun[1]?.end([2]);
  await settled();
  expect(given()[3]).toEqual([19, 20, 21, 22]);
  for (const batch of begun.slice(2)) batch.end(batch.given);
  expect(await Promise.all([first, second, ...others])).toHaveLength(22);
});

test('reads from the store wait until the running commits have ended, and then run in one batch', async () => {
  const { batches: commits, begun } = openBatches();
  const read = vi.fn(async (given: number[]) => given);
  const reads = new Batches<number, number>(read, 1, commits);
  expect(await reads.run(1)).toBe(1);
  const first = commits.run(1);
  await settled();
  const second = expect(commits.run(2)).rejects.toThrow('lost');
  const waiting = [reads.run(2), reads.run(3)];
  await settled();
  begun[0]?.end([1]);
  await settled();
  expect(read.mock.calls).toEqual([[[1]]]);
  begun[1]?.fail(new Error('lost'));
  expect(await Promise.all(waiting)).toEqual([2, 3]);
  expect(read.mock.calls).toEqual([[[1]], [[2, 3]]]);
  expect(await first).toBe(1);
  await second;
});

test('a failed batch fails only its own requests to the store', async () => {
  const { batches, begun } = openBatches();
  const failing = Promise.allSettled([batches.run(1), batches.run(2)]);
  await settled();
  begun[0]?.fail(new Error('gone'));
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = batches.run(3);
  await settled();
  begun[1]?.end([3]);
  expect(await next).toBe(3);
});
