/** How often each kind of step and fault happens in one history: 0 is never, 1 is as usual. */
export type Swarm = Readonly<Record<string, number>>;

/** Everything that determines one history. The same plan always replays the same history. */
export interface Plan {
  swarm: Swarm;
  /** Without a key, Stripe cannot be asked, and no delivery is lost. */
  hasKey: boolean;
  /** No delivery is lost. */
  lossless: boolean;
  /** Stripe delivers once per hour, many events at the same time, to one process. */
  bursts: boolean;
  /** Milliseconds by which all deliveries about some of the objects are late. */
  slow: number;
  /** An e-mail address links customers automatically. Otherwise staff confirm each link. */
  linkByEmail: boolean;
  timeZone: string;
  /** Seconds by which Stripe's clock is ahead of the server's. */
  skew: number;
  versions: string[];
  ours: OurCustomer[];
  stripeCustomers: StripeCustomer[];
  steps: Step[];
  /** One per event in the order in which they happen. Events beyond the last arrive at once. */
  fates: Fate[];
  /** One per request to Stripe's API, likewise. */
  api: ApiFate[];
}

export interface OurCustomer {
  /** One of a few addresses, so that customers share some. */
  email: number | null;
  services: number;
  /** The number of services in the sold subscription that waits for its checkout. 0: no such subscription. 3: one service and an unclear item. */
  sold: number;
}

export interface StripeCustomer {
  email: number | null;
  /** The customer whose number is in its metadata. -1: an unknown number. */
  number: number | null;
  /** The customer that staff linked it to beforehand. */
  staff: number | null;
  /** It was linked beforehand by an e-mail address that only one customer has. */
  isLinkedByEmail: boolean;
}

export type StepKind = keyof typeof STEP_WEIGHTS;

/** Something done at Stripe or here. A step that does not fit is skipped. */
export interface Step {
  kind: StepKind;
  /** Milliseconds since the step before. */
  wait: number;
  /** The numbers choose the objects and the variant. */
  a: number;
  b: number;
  c: number;
  /** A step of staff happens while the deliveries before it are still being handled. */
  together: boolean;
  /** Kills the process that does the step, if it is one of our processes. */
  crash: Crash | null;
}

export interface Fate {
  lost: boolean;
  /** Milliseconds until it arrives. */
  delay: number;
  /** Milliseconds until each copy of it arrives. */
  copies: number[];
  /** It is handled at the same time as the delivery before. */
  together: boolean;
  /** One per attempt. */
  crashes: Crash[];
}

export interface Crash {
  /**
   * killed: the process does nothing more and does not answer; refused: one statement fails;
   * conflict: the database asks for a retry.
   */
  mode: 'killed' | 'refused' | 'conflict';
  /** The number of the statement (or commit) at which it happens. */
  at: number;
}

export interface ApiFate {
  kind: 'none' | 'error' | 'limit' | 'garbage' | 'late';
  /** How much else happens before a late answer arrives. */
  meanwhile: number;
}

export const BASIL = ['2025-03-31.basil', '2026-10-28.endive'];

/** How often each kind of step is drawn with the factor 1. */
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
  revise: 2,
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
  enterPayment: 4,
  refundHere: 4,
  payOwn: 3,
  linkItem: 9,
  confirmLink: 3,
  dateService: 1,
  replay: 7,
} as const;

/** Whether Stripe fails during the run that this step starts. */
export const isFailingRun = ({ kind, a }: Step) => kind === 'run' && a < 3;
