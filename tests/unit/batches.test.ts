import { describe, expect, test } from 'vitest';
import { Batches } from '@/lib/store/store';

/** Opens batches that the test ends one by one. */
function open() {
  const begun: { given: number[]; end(done: number[]): void; fail(error: Error): void }[] = [];
  const batches = new Batches<number, number>(
    (given) => new Promise((end, fail) => begun.push({ given, end, fail })),
    2,
  );
  return { batches, given: () => begun.map((batch) => batch.given), begun };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('batches', () => {
  test('requests to the store wait while two batches are running', async () => {
    const { batches, begun, given } = open();
    const run = async (one: number) => {
      const answer = batches.run(one);
      await settled();
      return { answer };
    };
    const first = await run(1);
    const second = await run(2);
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
    expect(await Promise.all([first.answer, second.answer, ...others])).toHaveLength(22);
  });

  test('a failed batch fails only its own requests to the store', async () => {
    const { batches, begun } = open();
    const failing = Promise.allSettled([batches.run(1), batches.run(2)]);
    await settled();
    begun[0]?.fail(new Error('gone'));
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = batches.run(3);
    await settled();
    begun[1]?.end([3]);
    expect(await next).toBe(3);
  });
});
