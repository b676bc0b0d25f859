import { availableParallelism } from 'node:os';
import { perProcess } from '@/db/per-process';
import { AppError } from '../errors';

interface HashQueueLimits {
  /** Maximum number of hashes that may run at the same time. */
  running: number;
  /** Maximum number of hashes that wait. */
  waiting: number;
  /**
   * Maximum number of running and waiting hashes for unknown devices of one network, so that other networks also get a
   * place.
   */
  ofNetwork: number;
  /** Maximum wait in milliseconds. */
  patienceMs: number;
}

/** Ends the wait of a queued hash. Starts the hash, or rejects it if an error is passed. */
type Waiter = (refusal?: AppError) => void;

/** Seconds after which a refused client may try again. */
const RETRY_AFTER = 5;

/** Runs work when a place is free. @param network the network of an unknown device; null for a known device */
type HashQueue = <T>(network: string | null, work: () => Promise<T>) => Promise<T>;

/**
 * Limits how many passwords are hashed at the same time, because one hash occupies a core for a tenth of a second.
 * Known devices go first. If the queue is full, a known device takes the place of the last waiting unknown device.
 *
 * @returns the queue, which throws AppError too_many_requests if one of the limits is exceeded
 */
export function createHashQueue({ running, waiting, ofNetwork, patienceMs }: HashQueueLimits): HashQueue {
  let active = 0;
  const networks = new Map<string, number>();
  const known: Waiter[] = [];
  const strangers: Waiter[] = [];

  return async (network, work) => {
    if (network !== null) changeCount(network, 1);
    try {
      return await runInTurn(network === null, work);
    } finally {
      if (network !== null) changeCount(network, -1);
    }
  };

  function changeCount(network: string, change: 1 | -1): void {
    const present = networks.get(network) ?? 0;
    if (change === 1 && present >= ofNetwork) throw tooMany();
    if (present + change > 0) networks.set(network, present + change);
    else networks.delete(network);
  }

  async function runInTurn<T>(isKnown: boolean, work: () => Promise<T>): Promise<T> {
    if (active < running) active += 1;
    else await waitForTurn(isKnown);
    try {
      return await work();
    } finally {
      const next = known.shift() ?? strangers.shift();
      if (next) next();
      else active -= 1;
    }
  }

  async function waitForTurn(isKnown: boolean): Promise<void> {
    if (known.length + strangers.length >= waiting) {
      const last = isKnown ? strangers.pop() : undefined;
      if (!last) throw tooMany();
      last(tooMany());
    }
    const lane = isKnown ? known : strangers;
    await new Promise<void>((resolve, reject) => {
      const patience = setTimeout(() => {
        lane.splice(lane.indexOf(waiter), 1);
        reject(tooMany());
      }, patienceMs);
      const waiter: Waiter = (refusal) => {
        clearTimeout(patience);
        if (refusal) reject(refusal);
        else resolve();
      };
      lane.push(waiter);
    });
  }
}

function tooMany(): AppError {
  const text = 'Too many people are signing in at the moment. Try again in a few seconds.';
  return new AppError('too_many_requests', text, [], RETRY_AFTER);
}

/** The queue of this process. It leaves one core free, if the machine has more than one. */
export const queueForHash: HashQueue = (network, work) => {
  const running = Math.max(1, availableParallelism() - 1);
  const limits = { running, waiting: 8, ofNetwork: 3, patienceMs: 5000 };
  return perProcess('hash-queue', () => createHashQueue(limits))(network, work);
};
