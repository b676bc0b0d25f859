import { hash } from 'node:crypto';

/**
 * The lines of the keys that a file has had so far, each known by 64 bits of its hash: twelve bytes a key, where a file
 * of a gigabyte has millions of them.
 */
export class SeenKeys {
  private high = new Uint32Array(1024);
  private low = new Uint32Array(1024);
  private lines = new Uint32Array(1024);
  private count = 0;

  /** @returns the line that has the key already; undefined: it is new, and noted */
  note(key: string, line: number): number | undefined {
    const [high, low] = hashOf(key);
    const at = this.placeOf(high, low);
    if (this.lines[at] !== 0) return this.lines[at];
    this.put(at, high, low, line);
    this.count += 1;
    if (this.count * 2 > this.lines.length) this.grow();
    return undefined;
  }

  has(key: string): boolean {
    return this.lines[this.placeOf(...hashOf(key))] !== 0;
  }

  /** Where it stands, or is to stand; lines are counted from 1, so that 0 is a free place. */
  private placeOf(high: number, low: number): number {
    const mask = this.lines.length - 1;
    let at = low & mask;
    while (this.lines[at] !== 0 && (this.high[at] !== high || this.low[at] !== low)) at = (at + 1) & mask;
    return at;
  }

  private put(at: number, high: number, low: number, line: number): void {
    this.high[at] = high;
    this.low[at] = low;
    this.lines[at] = line;
  }

  private grow(): void {
    const { high, low, lines } = this;
    const size = lines.length * 2;
    this.high = new Uint32Array(size);
    this.low = new Uint32Array(size);
    this.lines = new Uint32Array(size);
    for (const [i, line] of lines.entries()) {
      const [one = 0, other = 0] = [high[i], low[i]];
      if (line !== 0) this.put(this.placeOf(one, other), one, other, line);
    }
  }
}

function hashOf(key: string): [number, number] {
  const digest = hash('sha1', key, 'buffer');
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}
