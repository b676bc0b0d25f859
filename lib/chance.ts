/** A seeded random number generator. The same seed yields the same numbers, so that a simulation can be replayed. */
export interface Chance {
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  draw(): number;
  /** Current state. `seededChance(state)` continues from here. */
  readonly state: number;
}

/** Creates a Mulberry32 generator, which repeats after 2^32 numbers. */
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
