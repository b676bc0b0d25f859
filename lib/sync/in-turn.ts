import { perProcess } from '@/db/per-process';

const tails = perProcess('turns', () => new WeakMap<object, Map<string, Promise<unknown>>>());

/** Does work of one key one after the other, in the order of the calls. @param scope of the keys */
export async function inTurn<T>(scope: object, key: string, work: () => Promise<T>): Promise<T> {
  const keys = tails.get(scope) ?? new Map<string, Promise<unknown>>();
  tails.set(scope, keys);
  const before = keys.get(key);
  const done = before ? before.then(work, work) : work();
  keys.set(key, done);
  try {
    return await done;
  } finally {
    if (keys.get(key) === done) keys.delete(key);
  }
}
