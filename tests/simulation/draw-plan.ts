import fc from 'fast-check';
import { type ApiFate, BASIL, type Crash, type Fate, type Plan, type Step, type Swarm } from './plan';
import { sequelOf } from './sequels';
import { isBrief, isHasty, isNarrow, kindOf, strikes, swarms } from './swarm';

const OLDER = ['2020-08-27', '2023-10-16'];
const EMAILS = 4;
/** Of how many things of a kind something happens in a narrow history. */
const FEW = 2;
/** Between two steps of a hasty history, at most. */
const MOMENT = 2000;
const FEW_STEPS = 6;
const small = fc.nat({ max: 7 });
const die = fc.nat({ max: 99 });

const among = <T>(...choices: [number, T][]) =>
  fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
const maybe = <T>(nothing: number, something: number, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: nothing, arbitrary: fc.constant(null) }, { weight: something, arbitrary });
const longer = (weight: number, max: number) => ({ weight, arbitrary: fc.nat({ max }) });
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

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
type DrawnStep = typeof step extends fc.Arbitrary<infer T> ? T : never;

function toStep(swarm: Swarm, drawn: DrawnStep, before: Step | undefined): Step {
  const { draw, sequelDie, togetherDie, crashDie, crash: own, ...plain } = drawn;
  const at = draw / 10_000;
  const sequel = strikes(swarm, 'sequel', sequelDie) ? sequelOf(swarm, before?.kind, at) : null;
  const kind = sequel ?? kindOf(swarm, at);
  const few = isNarrow(swarm) ? plain.a % FEW : plain.a;
  return {
    ...plain,
    wait: waitOf(swarm, kind, plain),
    ...(kind !== 'run' && { a: sequel && before ? before.a : few }),
    kind,
    together: strikes(swarm, 'staffTogether', togetherDie),
    crash: strikes(swarm, 'crashedStep', crashDie) ? own : null,
  };
}

/** What becomes of a refund often shows days later. */
function waitOf(swarm: Swarm, kind: Step['kind'], { wait, b }: Pick<Step, 'wait' | 'b'>): number {
  if (kind === 'settleRefund' && b < 4) return 5 * DAY;
  return isHasty(swarm) ? Math.min(wait, MOMENT) : wait;
}

function toSteps(swarm: Swarm, drawn: DrawnStep[]): Step[] {
  const steps: Step[] = [];
  for (const one of drawn) steps.push(toStep(swarm, one, steps.at(-1)));
  return steps;
}

const soon = fc.nat({ max: 300 });
const delay = fc.oneof(longer(5, 300), longer(6, 5 * SECOND), longer(4, 2 * HOUR), longer(2, 4 * DAY));
const fate = fc.record({
  dice: fc.record({ lost: die, late: die, copied: die, together: die, crashed: die }),
  soon,
  delay,
  copies: fc.array(delay, { minLength: 1, maxLength: 2 }),
  crashes: fc.array(crash, { minLength: 1, maxLength: 3 }),
});
type DrawnFate = typeof fate extends fc.Arbitrary<infer T> ? T : never;

const toFate = (swarm: Swarm, { dice, soon: prompt, ...drawn }: DrawnFate): Fate => ({
  lost: strikes(swarm, 'lost', dice.lost),
  delay: strikes(swarm, 'late', dice.late) ? drawn.delay : prompt,
  copies: strikes(swarm, 'copied', dice.copied) ? drawn.copies : [],
  together: strikes(swarm, 'together', dice.together),
  crashes: strikes(swarm, 'crashed', dice.crashed) ? drawn.crashes : [],
});

const apiFate = fc.record({
  refusedDie: die,
  heldDie: die,
  kind: fc.constantFrom('error' as const, 'limit' as const, 'garbage' as const),
  meanwhile: fc.nat({ max: 4 }),
});
type DrawnApiFate = typeof apiFate extends fc.Arbitrary<infer T> ? T : never;

function toApiFate(swarm: Swarm, { refusedDie, heldDie, kind, meanwhile }: DrawnApiFate): ApiFate {
  if (strikes(swarm, 'refused', refusedDie)) return { kind, meanwhile };
  return { kind: strikes(swarm, 'heldBack', heldDie) ? 'late' : 'none', meanwhile };
}

const whom = fc.nat({ max: 3 });
const email = maybe(1, 3, fc.nat({ max: EMAILS - 1 }));
const own = fc.record({ email, services: fc.nat({ max: 3 }), sold: fc.nat({ max: 3 }) });
const number = maybe(
  2,
  2,
  fc.oneof({ weight: 6, arbitrary: whom }, { weight: 1, arbitrary: fc.constant(-1) }),
);

/** Histories of a handful of customers and up to 44 steps. */
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
      { weight: 1, arbitrary: fc.constant<DrawnApiFate[]>([]) },
      { weight: 1, arbitrary: fc.noBias(fc.array(apiFate, { maxLength: 30, size: 'max' })) },
    ),
    bursts: among([3, false], [1, true]),
    slow: among([2, 0], [2, 3 * SECOND], [2, HOUR], [1, DAY]),
  })
  .map(({ steps, fates, api, ...plan }) => ({
    ...plan,
    lossless: plan.lossless || !plan.hasKey,
    stripeCustomers: isNarrow(plan.swarm) ? plan.stripeCustomers.slice(0, 1) : plan.stripeCustomers,
    steps: toSteps(plan.swarm, isBrief(plan.swarm) ? steps.slice(0, FEW_STEPS) : steps),
    fates: fates.map((one) => toFate(plan.swarm, one)),
    api: plan.hasKey ? api.map((one) => toApiFate(plan.swarm, one)) : [],
  }));
