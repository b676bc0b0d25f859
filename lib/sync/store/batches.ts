interface Waiting<Given, Done> {
  given: Given;
  resolve(done: Done): void;
  reject(error: unknown): void;
}

const AT_ONCE = 2;
/** Limits how long one call waits for others. Larger batches cost less, but leave other cores without work. */
const MOST = 8;

export class Batches<Given, Done> {
  private waiting: Waiting<Given, Done>[] = [];
  private underWay = 0;

  /** @param perform what is given, and answers in the same order; if it fails, all of it has failed */
  constructor(private readonly perform: (given: Given[]) => Promise<Done[]>) {}

  run(given: Given): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ given, resolve, reject });
      if (this.underWay < AT_ONCE) this.start();
    });
  }

  private start(): void {
    this.underWay += 1;
    // A caller that one batch answered asks for the next one at once.
    process.nextTick(async () => {
      while (this.waiting.length > 0) await this.next(this.waiting.splice(0, MOST));
      this.underWay -= 1;
    });
  }

  private async next(batch: Waiting<Given, Done>[]): Promise<void> {
    try {
      const done = await this.perform(batch.map(({ given }) => given));
      for (const [i, { resolve }] of batch.entries()) resolve(done[i] as Done);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
