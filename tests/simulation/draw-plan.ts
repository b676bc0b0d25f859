import fc from 'fast-check';
import { type ApiFate, BASIL, type Crash, type Fate, type Plan, type Step, type Swarm } from './plan';
import { kindOf, strikes, swarms } from './swarm';

const OLDER = ['2020-08-27', '2023-10-16'];
const EMAILS = 4;
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
  togetherDie: die,
  crashDie: die,
  crash: fc.record({ mode: crash.map(({ mode }) => mode), at: fc.nat({ max: 120 }) }),
});
type DrawnStep = typeof step extends fc.Arbitrary<infer T> ? T : never;

const toStep = (swarm: Swarm, { draw, togetherDie, crashDie, crash: own, ...plain }: DrawnStep): Step => ({
  ...plain,
  kind: kindOf(swarm, draw / 10_000),
  together: strikes(swarm, 'staffTogether', togetherDie),
  crash: strikes(swarm, 'crashedStep', crashDie) ? own : null,
});

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
const number = maybe(
  2,
  2,
  fc.oneof({ weight: 6, arbitrary: whom }, { weight: 1, arbitrary: fc.constant(-1) }),
);

/** Histories of a handful of customers and up to 30 steps. */
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
    ours: fc.array(fc.record({ email, services: fc.nat({ max: 3 }), sold: fc.nat({ max: 3 }) }), {
      maxLength: 3,
      size: 'max',
    }),
    stripeCustomers: fc.array(
      fc.record({
        email,
        number,
        staff: maybe(8, 1, whom),
        isLinkedByEmail: among([5, false], [1, true]),
      }),
      { minLength: 1, maxLength: 3, size: 'max' },
    ),
    steps: fc.noBias(fc.array(step, { minLength: 1, maxLength: 30, size: 'max' })),
    fates: fc.noBias(fc.array(fate, { maxLength: 60, size: 'max' })),
    api: fc.oneof(
      { weight: 1, arbitrary: fc.constant<DrawnApiFate[]>([]) },
      { weight: 1, arbitrary: fc.noBias(fc.array(apiFate, { maxLength: 30, size: 'max' })) },
    ),
  })
  .map(({ steps, fates, api, ...plan }) => ({
    ...plan,
    lossless: plan.lossless || !plan.hasKey,
    steps: steps.map((one) => toStep(plan.swarm, one)),
    fates: fates.map((one) => toFate(plan.swarm, one)),
    api: plan.hasKey ? api.map((one) => toApiFate(plan.swarm, one)) : [],
  }));
