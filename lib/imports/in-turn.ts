import { setImmediate as nextTurn } from 'node:timers/promises';

interface Steps<Batch, Done> {
  atOnce: number;
  /** Ends behind the batches that were started. */
  signal: AbortSignal;
  /** @param isLast no more batches come: of none, in the end */
  start(batch: Batch[], isLast: boolean): Promise<Done>;
  finish(done: Done): Promise<void>;
}

/**
 * Starts batches in their order, several at once, and finishes them in the same order.
 *
 * @returns whether it was stopped before the end
 */
export async function inTurn<Batch, Done>(
  batches: AsyncIterable<Batch[]>,
  { atOnce, signal, start, finish }: Steps<Batch, Done>,
): Promise<boolean> {
  const started: Promise<Done>[] = [];
  const add = (batch: Batch[], isLast: boolean) => {
    const one = start(batch, isLast);
    one.catch(() => {}); // thrown where it is finished
    started.push(one);
  };
  const finishFirst = async () => {
    const [first] = started;
    if (first) await finish(await first);
    started.shift();
  };
  try {
    for await (const batch of batches) {
      // The embedded database works in this process, which would hear a signal to stop only after the last batch.
      await nextTurn();
      if (signal.aborted) break;
      if (started.length === atOnce) await finishFirst();
      add(batch, false);
    }
    const isStopped = signal.aborted;
    if (!isStopped) add([], true);
    while (started.length > 0) await finishFirst();
    return isStopped;
  } finally {
    await Promise.allSettled(started);
  }
}
