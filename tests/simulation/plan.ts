import fc from 'fast-check';

/** Everything that makes one history: replayed from the same plan, the same things happen. */
export interface Plan {
  /** Without one nothing can be asked of Stripe, and nothing is lost on the way. */
  hasKey: boolean;
  lossless: boolean;
  /** An e-mail links by itself; else staff confirm. */
  linkByEmail: boolean;
  timeZone: string;
  /** Seconds by which Stripe's clock is ahead of ours. */
  skew: number;
  versions: string[];
  ours: OurCustomer[];
  stripeCustomers: StripeCustomer[];
  steps: Step[];
  /** One an event, in the order in which they happen; events beyond the last arrive at once. */
  fates: Fate[];
  /** One a request to Stripe's API, likewise. */
  api: ApiFate[];
}

export interface OurCustomer {
  /** Of a few addresses, so that some are shared. */
  email: number | null;
  services: number;
  /** How many of its services a subscription was sold for that waits for its checkout; 0: none. */
  sold: number;
}

export interface StripeCustomer {
  email: number | null;
  /** Whose customer number its own metadata holds; -1: nobody's. */
  number: number | null;
  /** Linked by staff beforehand. */
  staff: number | null;
  /** Linked beforehand by the e-mail that one of ours alone has. */
  isLinkedByEmail: boolean;
}

export type StepKind = keyof typeof WEIGHTS;

/** Something done at Stripe or here. The numbers choose among what there is; what does not fit is left out. */
export interface Step {
  kind: StepKind;
  /** Milliseconds since the step before. */
  wait: number;
  a: number;
  b: number;
  c: number;
  /** Kills the process that does it, where it is ours. */
  crash: Crash | null;
}

export interface Fate {
  lost: boolean;
  /** Milliseconds until it arrives. */
  delay: number;
  /** Milliseconds until a copy of it arrives. */
  copies: number[];
  /** Taken in at the same time as the delivery before. */
  together: boolean;
  /** One an attempt. */
  crashes: Crash[];
}

export interface Crash {
  /**
   * killed: nothing more is done, and nobody is answered; refused: one statement fails;
   * conflict: the database asks to begin again.
   */
  mode: 'killed' | 'refused' | 'conflict';
  /** The statement (or commit) at which it happens. */
  at: number;
}

export interface ApiFate {
  kind: 'none' | 'error' | 'limit' | 'garbage' | 'late';
  /** How much else happens before a late answer arrives. */
  meanwhile: number;
}

export const BASIL = ['2025-03-31.basil', '2026-10-28.endive'];
const OLDER = ['2020-08-27', '2023-10-16'];

const WEIGHTS = {
  subscribe: 8,
  changeItems: 5,
  setMetadata: 2,
  setStatus: 5,
  renew: 6,
  cancel: 3,
  endWithPeriod: 3,
  endAt: 3,
  pause: 2,
  checkout: 4,
  invoice: 6,
  finalize: 6,
  pay: 9,
  payPart: 3,
  fail: 5,
  begin: 2,
  voidInvoice: 3,
  uncollectible: 3,
  deleteDraft: 1,
  changeDueDate: 1,
  charge: 6,
  run: 8,
  deletePayment: 4,
  changePayment: 2,
  enterPayment: 2,
  linkItem: 1,
  confirmLink: 2,
  dateService: 1,
} as const;
const STEP_KINDS = Object.keys(WEIGHTS) as StepKind[];

/** Whether Stripe fails the run that this step starts. */
export const isFailingRun = ({ kind, a }: Step) => kind === 'run' && a < 3;

const EMAILS = 4;
const small = fc.nat({ max: 7 });

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

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(...STEP_KINDS.map((kind) => ({ weight: WEIGHTS[kind], arbitrary: fc.constant(kind) }))),
  wait: among(
    [5, 0],
    [3, 100],
    [3, SECOND],
    [2, 30 * SECOND],
    [2, HOUR],
    [1, DAY],
    [1, 5 * DAY],
    [1, 31 * DAY],
  ),
  a: small,
  b: small,
  c: small,
  crash: maybe(3, 1, fc.record({ mode: crash.map(({ mode }) => mode), at: fc.nat({ max: 120 }) })),
});

const delay = fc.oneof(longer(5, 300), longer(3, 5 * SECOND), longer(2, 2 * HOUR), longer(1, 4 * DAY));

const fate: fc.Arbitrary<Fate> = fc.record({
  lost: among([2, false], [1, true]),
  delay,
  copies: fc.oneof(
    { weight: 3, arbitrary: fc.constant<number[]>([]) },
    { weight: 1, arbitrary: fc.array(delay, { maxLength: 2 }) },
  ),
  together: fc.boolean(),
  crashes: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Crash[]>([]) },
    { weight: 1, arbitrary: fc.array(crash, { minLength: 1, maxLength: 3 }) },
  ),
});

const apiFate: fc.Arbitrary<ApiFate> = fc.record({
  kind: among(
    [6, 'none' as const],
    [1, 'error' as const],
    [1, 'limit' as const],
    [1, 'garbage' as const],
    [3, 'late' as const],
  ),
  meanwhile: fc.nat({ max: 4 }),
});

const whom = fc.nat({ max: 3 });

/** Histories of a handful of customers and up to 40 steps. */
export const plans: fc.Arbitrary<Plan> = fc
  .record({
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
    ours: fc.array(
      fc.record({
        email: maybe(1, 3, fc.nat({ max: EMAILS - 1 })),
        services: fc.nat({ max: 3 }),
        sold: fc.nat({ max: 2 }),
      }),
      { maxLength: 3, size: 'max' },
    ),
    stripeCustomers: fc.array(
      fc.record({
        email: maybe(1, 3, fc.nat({ max: EMAILS - 1 })),
        number: maybe(
          2,
          2,
          fc.oneof({ weight: 6, arbitrary: whom }, { weight: 1, arbitrary: fc.constant(-1) }),
        ),
        staff: maybe(8, 1, whom),
        isLinkedByEmail: among([5, false], [1, true]),
      }),
      { minLength: 1, maxLength: 3, size: 'max' },
    ),
    steps: fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }),
    fates: fc.array(fate, { maxLength: 40, size: 'max' }),
    api: fc.oneof(
      { weight: 1, arbitrary: fc.constant<ApiFate[]>([]) },
      { weight: 1, arbitrary: fc.array(apiFate, { maxLength: 30, size: 'max' }) },
    ),
  })
  .map((plan) => (plan.hasKey ? plan : { ...plan, lossless: true, api: [] }));
