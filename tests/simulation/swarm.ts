import fc from 'fast-check';
import { STEP_WEIGHTS, type StepKind, type Swarm } from './plan';

/** Chances in a hundred, where nothing is switched off or turned up. */
const FAULT_CHANCES = {
  lost: 33,
  late: 50,
  copied: 25,
  together: 50,
  crashed: 20,
  crashedStep: 25,
  refused: 25,
  heldBack: 25,
  staffTogether: 50,
  sequel: 33,
} as const;
export type FaultKind = keyof typeof FAULT_CHANCES;

const STEP_KINDS = Object.keys(STEP_WEIGHTS) as StepKind[];
const FAULT_KINDS = Object.keys(FAULT_CHANCES) as FaultKind[];
/** Without these there is nothing to play with. */
const ALWAYS: ReadonlySet<string> = new Set(['subscribe', 'invoice']);

const factor = fc.constantFrom(0, 1, 1, 5);
const steady = fc.constantFrom(1, 1, 2, 3);
const sometimes = fc.constantFrom(1, 5);
/** What else tells one history from another: subscriptions of many items, customer numbers, little room and time. */
const TRAITS = {
  manyItems: fc.constantFrom(0, 0, 1, 1, 1, 5),
  claims: fc.constantFrom(0, 1, 5, 5, 5),
  narrow: fc.constantFrom(1, 1, 1, 5, 5),
  hasty: sometimes,
  brief: sometimes,
};

/** Each history leaves some kinds out and has more of others, so that what is rare meets what is rare. */
export const swarms: fc.Arbitrary<Swarm> = fc.noShrink(
  fc.record({
    ...Object.fromEntries(
      [...STEP_KINDS, ...FAULT_KINDS].map((kind) => [kind, ALWAYS.has(kind) ? steady : factor]),
    ),
    ...TRAITS,
  }),
);

/** All that happens is of one Stripe customer, and of a few things of it. */
export const isNarrow = ({ narrow = 1 }: Swarm) => narrow > 1;

/** All happens within some seconds, so that what is late comes among all the others. */
export const isHasty = ({ hasty = 1 }: Swarm) => hasty > 1;

/** Little happens, which leaves time for others in which much does. */
export const isBrief = ({ brief = 1 }: Swarm) => brief > 1;

/** @param draw from 0 up to below 1 */
export function kindOf(swarm: Swarm, draw: number): StepKind {
  const weights = STEP_KINDS.map((kind) => STEP_WEIGHTS[kind] * (swarm[kind] ?? 1));
  let left = draw * weights.reduce((sum, weight) => sum + weight, 0);
  const at = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return STEP_KINDS[at] ?? 'subscribe';
}

/** @param die from 0 to 99, the least for nothing */
export function strikes(swarm: Swarm, kind: FaultKind, die: number): boolean {
  const chance = Math.min(90, FAULT_CHANCES[kind] * (swarm[kind] ?? 1));
  return die >= 100 - chance;
}
