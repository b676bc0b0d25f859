interface Item {
  at: number;
  /** It is done together with the one before it. */
  together: boolean;
  run(): Promise<void>;
}

const MAX_DEPTH = 3;

/** What is still to happen, by its time, then in the order in which it was put. */
export class Queue {
  readonly #items: Item[] = [];
  #depth = 0;
  #batches = 0;

  /**
   * @param most how many are done together at most
   * @param begin called before each batch: its time, and how many are done together
   */
  constructor(
    private readonly most: number,
    private readonly begin: (at: number, together: number) => void,
  ) {}

  push(at: number, run: () => Promise<void>, together = false): void {
    const behind = this.#items.findIndex((other) => other.at > at);
    this.#items.splice(behind === -1 ? this.#items.length : behind, 0, { at, together, run });
  }

  async empty(): Promise<void> {
    while (this.#items.length > 0) await this.#next();
  }

  /** Lets some things happen while another is under way. */
  async proceed(some: number): Promise<void> {
    if (this.#depth >= MAX_DEPTH) return;
    this.#depth += 1;
    for (let i = 0; i < some && this.#items.length > 0; i += 1) await this.#next();
    this.#depth -= 1;
  }

  async #next(): Promise<void> {
    const first = this.#items.shift();
    if (!first) return;
    const batch = [first];
    while (this.#items[0]?.together && batch.length < this.most) batch.push(this.#items.shift() as Item);
    this.begin(Math.max(...batch.map(({ at }) => at)), batch.length);
    // What is done at once has no order: every second time the last begins.
    this.#batches += Number(batch.length > 1);
    if (this.#batches % 2 === 0) batch.reverse();
    await Promise.all(batch.map(({ run }) => run()));
  }
}
