/** Seeded chance: the same state draws the same numbers, so that a history can be replayed. */
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
