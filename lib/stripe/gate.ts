import { setTimeout as sleep } from 'node:timers/promises';

/** Lets callers through one after the other, so many a second and no more. */
export function createGate(perSecond: number): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const before = last;
    last = before.then(() => sleep(1000 / perSecond));
    await before;
  };
}
