import type { Chance } from '@/lib/stripe-local/chance';

/** Who of those at work together goes on next: by chance, and as one seed has it. */
export class Turns {
  private atWork = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly chance: Chance) {}

  /** Before all that others may come in between of. Whoever is alone goes on at once. */
  async wait(): Promise<void> {
    if (this.atWork < 2) return;
    await new Promise<void>((resolve) => {
      if (this.waiting.push(resolve) === 1) this.plan();
    });
  }

  async doing<T>(work: () => Promise<T>): Promise<T> {
    this.atWork += 1;
    try {
      return await work();
    } finally {
      this.atWork -= 1;
    }
  }

  private next(): void {
    const at = Math.floor(this.chance.draw() * this.waiting.length);
    const [resume] = this.waiting.splice(at, 1);
    resume?.();
    if (this.waiting.length > 0) this.plan();
  }

  /**
   * Once no promise has anything left to do, as with `setImmediate`, but without a turn of the event loop, which takes
   * longer. The microtask comes first because a tick that is scheduled in a tick runs before any promise.
   */
  private plan(): void {
    queueMicrotask(() => process.nextTick(() => this.next()));
  }
}
