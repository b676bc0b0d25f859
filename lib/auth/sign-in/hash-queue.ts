import { availableParallelism } from 'node:os';
import { perProcess } from '@/db/per-process';
import { AppError } from '../../errors';

export interface HashQueueLimits {
  /** How many run at once. */
  running: number;
  /** How many may wait for that. */
  waiting: number;
  /** How long each of them may, in milliseconds. */
  patienceMs: number;
}

interface Waiter {
  enter(): void;
  turnAway(): void;
}

/** Seconds after which somebody who was turned away may try again. */
const RETRY_AFTER = 5;

/** Lets in whoever is next, runs the work and passes the turn on. */
export type HashQueue = <T>(isKnown: boolean, work: () => Promise<T>) => Promise<T>;

/**
 * A bulkhead for passwords, each of which costs a core for a tenth of a second. Known devices go first,
 * and where no more may wait, the last stranger makes room for one.
 *
 * @throws AppError too_many_requests (the queue's functions), for whoever finds no place or waits too long
 */
export function createHashQueue({ running, waiting, patienceMs }: HashQueueLimits): HashQueue {
  let active = 0;
  const known: Waiter[] = [];
  const strangers: Waiter[] = [];

  return async (isKnown, work) => {
    if (active < running) active += 1;
    else await turn(isKnown);
    try {
      return await work();
    } finally {
      const next = known.shift() ?? strangers.shift();
      if (next) next.enter();
      else active -= 1;
    }
  };

  async function turn(isKnown: boolean): Promise<void> {
    if (known.length + strangers.length >= waiting) {
      const last = isKnown ? strangers.pop() : undefined;
      if (!last) throw tooMany();
      last.turnAway();
    }
    const lane = isKnown ? known : strangers;
    await new Promise<void>((resolve, reject) => {
      const patience = setTimeout(() => {
        lane.splice(lane.indexOf(waiter), 1);
        reject(tooMany());
      }, patienceMs);
      const waiter: Waiter = {
        enter() {
          clearTimeout(patience);
          resolve();
        },
        turnAway() {
          clearTimeout(patience);
          reject(tooMany());
        },
      };
      lane.push(waiter);
    });
  }
}

function tooMany(): AppError {
  const text = 'Too many people are signing in at the moment. Try again in a few seconds.';
  return new AppError('too_many_requests', text, [], RETRY_AFTER);
}

/** The queue of this process: one core stays free of passwords, where there are two. */
export const queueForHash: HashQueue = (isKnown, work) => {
  const running = Math.max(1, availableParallelism() - 1);
  const queue = perProcess('hash-queue', () => createHashQueue({ running, waiting: 8, patienceMs: 5000 }));
  return queue(isKnown, work);
};
