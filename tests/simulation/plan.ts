/** How much each kind of step and fault happens in one history: 0 not at all, 1 as usual. */
export type Swarm = Readonly<Record<string, number>>;

/** Everything that makes one history: replayed from the same plan, the same things happen. */
export interface Plan {
  swarm: Swarm;
  /** Without one nothing can be asked of Stripe, and nothing is lost on the way. */
  hasKey: boolean;
  lossless: boolean;
  /** Stripe's deliveries arrive by the hour, many at once, at one process. */
  bursts: boolean;
  /** Milliseconds by which all deliveries of some objects come later than those of the others. */
  slow: number;
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
  /** How many of its services a subscription was sold for that waits for its checkout; 0: none; 3: one, and something else. */
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

export type StepKind = keyof typeof STEP_WEIGHTS;

/** Something done at Stripe or here. The numbers choose among what there is; what does not fit is left out. */
export interface Step {
  kind: StepKind;
  /** Milliseconds since the step before. */
  wait: number;
  a: number;
  b: number;
  c: number;
  /** Of staff: while the deliveries before it are still being taken in. */
  together: boolean;
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

/** How often each kind of step is drawn, where nothing is switched off or turned up. */
export const STEP_WEIGHTS = {
  subscribe: 16,
  changeItems: 5,
  setMetadata: 3,
  setStatus: 5,
  renew: 6,
  cancel: 3,
  endWithPeriod: 2,
  endAt: 2,
  pause: 1,
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
  charge: 9,
  refund: 6,
  settleRefund: 4,
  dispute: 4,
  moveDispute: 4,
  credit: 4,
  voidCredit: 2,
  changeNumber: 10,
  deleteCustomer: 1,
  moveItem: 14,
  strangeStatus: 2,
  strangeInvoice: 3,
  knownInvoice: 2,
  lateNews: 2,
  stray: 2,
  run: 10,
  deletePayment: 9,
  changePayment: 2,
  enterPayment: 2,
  refundHere: 4,
  payOwn: 3,
  linkItem: 9,
  confirmLink: 3,
  dateService: 1,
  replay: 7,
} as const;

/** Whether Stripe fails the run that this step starts. */
export const isFailingRun = ({ kind, a }: Step) => kind === 'run' && a < 3;
