/** Chance that repeats: the same seed draws the same values. */
export interface Chance {
  /** A whole number from min to max, both included. */
  int(min: number, max: number): number;
  happens(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** A key, drawn by its weight. */
  weighted<K extends string>(weights: Record<K, number>): K;
  shuffle<T>(list: readonly T[]): T[];
  /** `#` becomes a digit, `*` a letter or digit as in Stripe's ids, `^` an upper-case hex digit. */
  fill(pattern: string): string;
  /** An independent stream: what one builder draws does not shift another's values. */
  branch(name: string): Chance;
}

const ALPHABETS: Record<string, string> = {
  '#': '0123456789',
  '*': 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  '^': '0123456789ABCDEF',
};

export function createChance(seed: number): Chance {
  const next = mulberry32(seed);
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new Error('nothing to pick from');
    return list[int(0, list.length - 1)] as T;
  };
  return {
    int,
    pick,
    happens: (probability) => next() < probability,
    weighted: <K extends string>(weights: Record<K, number>) => {
      const entries = Object.entries(weights) as [K, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key;
      }
      return pick(entries)[0];
    },
    shuffle: (list) =>
      list
        .map((item) => ({ item, order: next() }))
        .sort((a, b) => a.order - b.order)
        .map(({ item }) => item),
    fill: (pattern) => pattern.replace(/[#*^]/g, (sign) => pick((ALPHABETS[sign] ?? '').split(''))),
    branch: (name) => createChance(hash(`${seed}/${name}`)),
  };
}

// Tommy Ettinger's mulberry32: 32 bits of state are plenty for sample data.
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value;
}
