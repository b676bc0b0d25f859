import fc from 'fast-check';
import {
  type ApiFate,
  BASIL,
  type Crash,
  type Fate,
  type Plan,
  STEP_WEIGHTS,
  type Step,
  type StepKind,
  type Swarm,
} from './plan';

const OLDER = ['2020-08-27', '2023-10-16'];
const EMAILS = 4;
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
/** The longest drawn wait between two steps of a history whose `shortWaits` is turned up, in milliseconds. */
const MOMENT = 2 * SECOND;
/** The number of objects of each kind that the steps choose from if `fewObjects` is turned up. */
const FEW = 2;
/** The maximum number of steps if `fewSteps` is turned up. */
const FEW_STEPS = 6;

const small = fc.nat({ max: 7 });
const die = fc.nat({ max: 99 });
const among = <T>(...choices: [number, T][]) =>
  fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
const maybe = <T>(nothing: number, something: number, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: nothing, arbitrary: fc.constant(null) }, { weight: something, arbitrary });
const upTo = (weight: number, max: number) => ({ weight, arbitrary: fc.nat({ max }) });
type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

/** The default chance of each fault and of a `sequel`, in percent. The swarm of a history multiplies it by a factor. */
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
type FaultKind = keyof typeof FAULT_CHANCES;

const STEP_KINDS = Object.keys(STEP_WEIGHTS) as StepKind[];
/** Kinds of steps that no history leaves out, because other steps need them. */
const ALWAYS: ReadonlySet<string> = new Set(['subscribe', 'invoice']);
const factor = fc.constantFrom(0, 1, 1, 5);
const steady = fc.constantFrom(1, 1, 2, 3);
const sometimes = fc.constantFrom(1, 5);

/** Leaves some kinds of steps out of a history and makes others more frequent, so that rare combinations occur. */
const swarms: fc.Arbitrary<Swarm> = fc.noShrink(
  fc.record({
    ...Object.fromEntries(
      [...STEP_KINDS, ...Object.keys(FAULT_CHANCES)].map((kind) => [
        kind,
        ALWAYS.has(kind) ? steady : factor,
      ]),
    ),
    /** How often subscriptions have many items. */
    manyItems: fc.constantFrom(0, 0, 1, 1, 1, 5),
    /** How often the metadata of objects contains a customer number. */
    claims: fc.constantFrom(0, 1, 5, 5, 5),
    /** Whether all steps concern one Stripe customer and a few of its objects. */
    fewObjects: fc.constantFrom(1, 1, 1, 5, 5),
    /** Whether most steps follow within seconds, so that late events arrive among newer ones. */
    shortWaits: sometimes,
    /** Whether the history has few steps, which leaves more time for long histories. */
    fewSteps: sometimes,
  }),
);
const isTurnedUp = (swarm: Swarm, trait: 'fewObjects' | 'shortWaits' | 'fewSteps') => (swarm[trait] ?? 1) > 1;

const crash: fc.Arbitrary<Crash> = fc.record({
  mode: fc.constantFrom('killed', 'refused', 'conflict'),
  at: fc.nat({ max: 40 }),
});
const wait = among(
  [5, 0],
  [3, 100],
  [3, SECOND],
  [2, 30 * SECOND],
  [2, HOUR],
  [1, DAY],
  [1, 5 * DAY],
  [1, 31 * DAY],
);
const step = fc.record({
  draw: fc.nat({ max: 9999 }),
  wait,
  a: small,
  b: small,
  c: small,
  sequelDie: die,
  togetherDie: die,
  crashDie: die,
  crash: fc.record({ mode: crash.map(({ mode }) => mode), at: fc.nat({ max: 120 }) }),
});
const soon = fc.nat({ max: 300 });
const delay = fc.oneof(upTo(5, 300), upTo(6, 5 * SECOND), upTo(4, 2 * HOUR), upTo(2, 4 * DAY));
const fate = fc.record({
  dice: fc.record({ lost: die, late: die, copied: die, together: die, crashed: die }),
  soon,
  delay,
  copies: fc.array(delay, { minLength: 1, maxLength: 2 }),
  crashes: fc.array(crash, { minLength: 1, maxLength: 3 }),
});
const apiFate = fc.record({
  refusedDie: die,
  heldDie: die,
  kind: fc.constantFrom('error' as const, 'limit' as const, 'garbage' as const),
  meanwhile: fc.nat({ max: 4 }),
});

const whom = fc.nat({ max: 3 });
const email = maybe(1, 3, fc.nat({ max: EMAILS - 1 }));
const own = fc.record({ email, services: fc.nat({ max: 3 }), sold: fc.nat({ max: 3 }) });
const number = maybe(
  2,
  2,
  fc.oneof({ weight: 6, arbitrary: whom }, { weight: 1, arbitrary: fc.constant(-1) }),
);

/** Draws the plans of histories with a few customers and up to 44 steps. */
export const plans: fc.Arbitrary<Plan> = fc
  .record({
    swarm: fc.noBias(swarms),
    hasKey: fc.boolean(),
    lossless: fc.boolean(),
    linkByEmail: fc.boolean(),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Los_Angeles'),
    skew: among([3, 0], [1, 60], [1, -60]),
    versions: fc.oneof(
      fc.constantFrom(...BASIL, ...OLDER).map((version) => [version]),
      fc.array(fc.constantFrom(...BASIL), { minLength: 1, maxLength: 2 }),
      fc.array(fc.constantFrom(...BASIL, ...OLDER), { minLength: 1, maxLength: 3 }),
    ),
    ours: fc.oneof(
      { weight: 1, arbitrary: fc.array(own, { maxLength: 1 }) },
      { weight: 3, arbitrary: fc.array(own, { minLength: 2, maxLength: 3, size: 'max' }) },
    ),
    stripeCustomers: fc.array(
      fc.record({
        email,
        number,
        staff: maybe(8, 1, whom),
        isLinkedByEmail: among([5, false], [1, true]),
      }),
      { minLength: 1, maxLength: 3, size: 'max' },
    ),
    steps: fc.noBias(fc.array(step, { minLength: 1, maxLength: 44, size: 'max' })),
    fates: fc.noBias(fc.array(fate, { maxLength: 60, size: 'max' })),
    api: fc.oneof(
      { weight: 1, arbitrary: fc.constant<Drawn<typeof apiFate>[]>([]) },
      { weight: 1, arbitrary: fc.noBias(fc.array(apiFate, { maxLength: 30, size: 'max' })) },
    ),
    bursts: among([3, false], [1, true]),
    slow: among([2, 0], [2, 3 * SECOND], [2, HOUR], [1, DAY]),
  })
  .map(({ steps, fates, api, ...plan }) => ({
    ...plan,
    lossless: plan.lossless || !plan.hasKey,
    stripeCustomers: isTurnedUp(plan.swarm, 'fewObjects')
      ? plan.stripeCustomers.slice(0, 1)
      : plan.stripeCustomers,
    steps: toSteps(plan.swarm, isTurnedUp(plan.swarm, 'fewSteps') ? steps.slice(0, FEW_STEPS) : steps),
    fates: fates.map((one) => toFate(plan.swarm, one)),
    api: plan.hasKey ? api.map((one) => toApiFate(plan.swarm, one)) : [],
  }));

function toSteps(swarm: Swarm, drawn: Drawn<typeof step>[]): Step[] {
  const steps: Step[] = [];
  for (const one of drawn) steps.push(toStep(swarm, one, steps.at(-1)));
  return steps;
}

function toStep(swarm: Swarm, drawn: Drawn<typeof step>, before: Step | undefined): Step {
  const { draw, sequelDie, togetherDie, crashDie, crash: own, ...plain } = drawn;
  const at = draw / 10_000;
  const sequel = strikes(swarm, 'sequel', sequelDie) ? sequelOf(swarm, before?.kind, at) : null;
  const kind = sequel ?? kindOf(swarm, at);
  const few = isTurnedUp(swarm, 'fewObjects') ? plain.a % FEW : plain.a;
  return {
    ...plain,
    wait: waitOf(swarm, kind, plain),
    ...(kind !== 'run' && { a: sequel && before ? before.a : few }),
    kind,
    together: strikes(swarm, 'staffTogether', togetherDie),
    crash: strikes(swarm, 'crashedStep', crashDie) ? own : null,
  };
}

/** Returns whether a fault happens. @param die a random number from 0 to 99; low numbers mean that no fault happens */
function strikes(swarm: Swarm, kind: FaultKind, die: number): boolean {
  const chance = Math.min(90, FAULT_CHANCES[kind] * (swarm[kind] ?? 1));
  return die >= 100 - chance;
}

/** Picks a kind of step by weight. @param draw at least 0 and below 1 */
function kindOf(swarm: Swarm, draw: number): StepKind {
  const weights = STEP_KINDS.map((kind) => STEP_WEIGHTS[kind] * (swarm[kind] ?? 1));
  let left = draw * weights.reduce((sum, weight) => sum + weight, 0);
  const at = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return STEP_KINDS[at] ?? 'subscribe';
}

/** Picks a kind that often follows the previous step. @returns null if this history has no such kind */
function sequelOf(swarm: Swarm, kind: StepKind | undefined, draw: number): StepKind | null {
  const sequels = (kind && SEQUELS[kind]) ?? [];
  const drawn = sequels.filter((one) => STEP_WEIGHTS[one] * (swarm[one] ?? 1) > 0);
  return drawn[Math.floor(draw * drawn.length)] ?? null;
}

/** Kinds of steps that often come next, usually for the same object. */
const SEQUELS: Partial<Record<StepKind, StepKind[]>> = {
  subscribe: ['moveItem', 'moveItem', 'linkItem', 'checkout', 'subscribe', 'invoice'],
  changeItems: ['moveItem', 'changeItems', 'replay'],
  setMetadata: ['linkItem', 'moveItem', 'invoice'],
  setStatus: ['setStatus', 'cancel', 'checkout'],
  strangeStatus: ['setStatus', 'cancel'],
  renew: ['finalize', 'changeItems', 'moveItem'],
  cancel: ['lateNews', 'checkout', 'replay', 'run'],
  checkout: ['invoice', 'setStatus', 'cancel', 'confirmLink'],
  moveItem: ['moveItem', 'moveItem', 'changeItems', 'renew', 'linkItem'],
  linkItem: ['moveItem', 'setMetadata', 'replay', 'confirmLink'],
  confirmLink: ['linkItem', 'changeNumber', 'replay'],
  changeNumber: ['subscribe', 'checkout', 'renew', 'setStatus', 'changeNumber'],
  invoice: ['finalize', 'finalize', 'changeNumber'],
  revise: ['finalize', 'finalize', 'finalize'],
  finalize: ['pay', 'payPart', 'fail', 'uncollectible', 'voidInvoice', 'revise'],
  voidInvoice: ['run', 'replay'],
  charge: ['deletePayment', 'changePayment', 'replay', 'refund', 'dispute'],
  fail: ['pay', 'fail', 'strangeInvoice'],
  uncollectible: ['pay', 'payPart'],
  payPart: ['pay', 'payPart', 'deletePayment', 'changePayment'],
  pay: ['deletePayment', 'deletePayment', 'changePayment', 'refund'],
  refund: ['run', 'settleRefund', 'refundHere', 'run'],
  settleRefund: ['run', 'settleRefund', 'refundHere'],
  refundHere: ['refund', 'settleRefund', 'run'],
  dispute: ['moveDispute', 'refund', 'run'],
  moveDispute: ['moveDispute', 'run'],
  credit: ['voidCredit', 'run', 'pay'],
  payOwn: ['refund', 'refundHere'],
  enterPayment: ['pay', 'deletePayment'],
  deletePayment: ['replay', 'replay', 'run', 'enterPayment'],
  run: ['run', 'replay', 'settleRefund'],
  changePayment: ['replay', 'deletePayment', 'pay'],
};

function waitOf(swarm: Swarm, kind: StepKind, { wait, b }: Pick<Step, 'wait' | 'b'>): number {
  if (kind === 'settleRefund' && b < 4) return 5 * DAY; // A refund often fails days later.
  return isTurnedUp(swarm, 'shortWaits') ? Math.min(wait, MOMENT) : wait;
}

function toFate(swarm: Swarm, { dice, soon, ...drawn }: Drawn<typeof fate>): Fate {
  return {
    lost: strikes(swarm, 'lost', dice.lost),
    delay: strikes(swarm, 'late', dice.late) ? drawn.delay : soon,
    copies: strikes(swarm, 'copied', dice.copied) ? drawn.copies : [],
    together: strikes(swarm, 'together', dice.together),
    crashes: strikes(swarm, 'crashed', dice.crashed) ? drawn.crashes : [],
  };
}

function toApiFate(swarm: Swarm, { refusedDie, heldDie, kind, meanwhile }: Drawn<typeof apiFate>): ApiFate {
  if (strikes(swarm, 'refused', refusedDie)) return { kind, meanwhile };
  return { kind: strikes(swarm, 'heldBack', heldDie) ? 'late' : 'none', meanwhile };
}
