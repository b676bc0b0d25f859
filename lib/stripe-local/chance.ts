/** Seeded chance: the same state draws the same numbers, so that a failing history can be replayed. */
export interface Chance {
  /** At least 0, below 1. */
  draw(): number;
  /** Give it to `seededChance` to go on from here. */
  readonly state: number;
}

/** Mulberry32: 2^32 numbers before it repeats. */
export function seededChance(seed: number): Chance {
  let state = seed >>> 0;
  return {
    draw() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
    get state() {
      return state;
    },
  };
}

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** An id as Stripe writes them: `sub_` and 24 letters and digits. */
export function drawId(chance: Chance, prefix: string): string {
  let id = prefix;
  for (let i = 0; i < 24; i++) id += LETTERS[Math.floor(chance.draw() * LETTERS.length)];
  return id;
}
