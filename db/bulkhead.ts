/** Of a wait that took too long, or of too many at once: as the database says that a lock cannot be had. */
class BusyError extends Error {
  readonly code = '55P03';
}

interface Limits {
  atOnce: number;
  /** Of one key, at once: what waits for one lock leaves room for all others. */
  perKey: number;
  waiting: number;
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
   * @throws BusyError where too many wait already, or this one has waited for too long
   */
  async run<T>(key: string | undefined, work: () => Promise<T>): Promise<T> {
    if (this.hasRoom(key)) this.count(key, 1);
    else await this.turn(key);
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

  private turn(key: string | undefined): Promise<void> {
    if (this.waiting.length >= this.limits.waiting) throw new BusyError('too many wait');
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
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
      const timer = setTimeout(() => {
        leave();
        reject(new BusyError('waited too long'));
      }, this.limits.patience);
      this.waiting.push(entry);
    });
  }
}
