/** Work that found no place, with the error code of a lock that cannot be had. */
export class BusyError extends Error {
  readonly code = '55P03';
}

interface Limits {
  atOnce: number;
  /** Of one key, at once: what waits for one lock leaves room for all others. */
  perKey: number;
  waiting: number;
  /** How much work of one key may wait. If absent, only `waiting` limits it. */
  waitingPerKey?: number;
  /** Milliseconds. */
  patience: number;
}

interface Waiting {
  key: string | undefined;
  start(): void;
}

/** Lets so much work run at once, and so much wait for it, in the order in which it came. */
export class Bulkhead {
  private running = 0;
  private readonly keys = new Map<string, number>();
  private waiting: Waiting[] = [];

  constructor(private readonly limits: Limits) {}

  /**
   * @param key of what waits for the same lock
   * @param signal ends the wait when it aborts; work that has begun goes on
   * @throws BusyError where too many wait already, or this one has waited for too long or was aborted
   */
  async run<T>(key: string | undefined, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.hasRoom(key)) this.count(key, 1);
    else await this.turn(key, signal);
    try {
      return await work();
    } finally {
      this.count(key, -1);
      this.waiting.find((next) => this.hasRoom(next.key))?.start();
    }
  }

  private hasRoom(key: string | undefined): boolean {
    const { atOnce, perKey } = this.limits;
    return this.running < atOnce && (key === undefined || (this.keys.get(key) ?? 0) < perKey);
  }

  private count(key: string | undefined, change: 1 | -1): void {
    this.running += change;
    if (key === undefined) return;
    const ofKey = (this.keys.get(key) ?? 0) + change;
    if (ofKey === 0) this.keys.delete(key);
    else this.keys.set(key, ofKey);
  }

  private isFull(key: string | undefined): boolean {
    const { waiting, waitingPerKey = waiting } = this.limits;
    if (this.waiting.length >= waiting) return true;
    return key !== undefined && this.waiting.filter((one) => one.key === key).length >= waitingPerKey;
  }

  private turn(key: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (this.isFull(key)) throw new BusyError('too many wait');
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.waiting = this.waiting.filter((one) => one !== entry);
      };
      const entry: Waiting = {
        key,
        start: () => {
          leave();
          this.count(key, 1);
          resolve();
        },
      };
      const giveUp = () => {
        leave();
        reject(new BusyError('left, or waited too long'));
      };
      const timer = setTimeout(giveUp, this.limits.patience);
      signal?.addEventListener('abort', giveUp);
      this.waiting.push(entry);
    });
  }
}
