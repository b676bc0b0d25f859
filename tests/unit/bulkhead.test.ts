import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { Bulkhead } from '@/db/bulkhead';
import type { Database } from '@/db/database';

describe('a bulkhead', () => {
  /** Work that ends when it is told to. */
  function gate() {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { open, work: () => opened };
  }
  const limits = { atOnce: 3, perKey: 2, waiting: 4, patience: 1000 };

  test('lets so much run at once, of one key less, in the order in which it came', async () => {
    const bulkhead = new Bulkhead(limits);
    const gates = Array.from({ length: 6 }, gate);
    const begun: number[] = [];
    const ends = ['a', 'a', 'a', 'b', undefined, 'b'].map((key, i) =>
      bulkhead.run(key, () => {
        begun.push(i);
        return gates[i]?.work() ?? Promise.resolve();
      }),
    );
    const end = async (i: number) => {
      gates[i]?.open();
      await ends[i];
      await sleep(0);
      return begun;
    };
    await sleep(0);
    expect(begun).toEqual([0, 1, 3]);
    expect(await end(3)).toEqual([0, 1, 3, 4]);
    expect(await end(4)).toEqual([0, 1, 3, 4, 5]);
    expect(await end(0)).toEqual([0, 1, 3, 4, 5, 2]);
    for (const i of [1, 2, 5]) await end(i);
  });

  test('refuses what is too much, and what has waited too long, as the database would', async () => {
    const bulkhead = new Bulkhead({ ...limits, atOnce: 1, waiting: 1, patience: 20 });
    const held = gate();
    const first = bulkhead.run(undefined, held.work);
    const late = bulkhead.run(undefined, async () => 'late');
    await expect(bulkhead.run(undefined, async () => 'too much')).rejects.toMatchObject({ code: '55P03' });
    await expect(late).rejects.toMatchObject({ code: '55P03' });
    held.open();
    await first;
    expect(await bulkhead.run(undefined, async () => 'next')).toBe('next');
  });

  test('work that fails makes room like any other', async () => {
    const bulkhead = new Bulkhead({ ...limits, atOnce: 1 });
    const failing = bulkhead.run('a', () => Promise.reject(new Error('no')));
    const next = bulkhead.run('a', async () => 'next');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  test('bounds who writes from another bundle than the one that opened the database', async () => {
    const db = {} as Database;
    const opener = await import('@/db/transaction');
    opener.limitWriters(db, 1);
    vi.resetModules();
    const route = await import('@/db/transaction');
    expect(route).not.toBe(opener);
    const held = gate();
    const first = route.writeInTurn(db, undefined, held.work);
    let begun = false;
    const second = route.writeInTurn(db, undefined, async () => {
      begun = true;
    });
    await sleep(0);
    expect(begun).toBe(false);
    held.open();
    await Promise.all([first, second]);
    expect(begun).toBe(true);
  });
});
