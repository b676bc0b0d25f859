/**
 * Frequency of each kind of step and fault in one history. 0 means never, and 1 means the default frequency. Traits of
 * the history, such as `fewObjects`, are on above 1.
 */
export type Swarm = Readonly<Record<string, number>>;

/** Everything that determines one history, besides its seed. */
export interface Plan {
  swarm: Swarm;
  /** Whether sync has an API key. Without one, sync cannot fetch missed changes, so such a plan is also `lossless`. */
  hasKey: boolean;
  /** Whether no delivery is lost. */
  lossless: boolean;
  /** Whether the deliveries of an hour arrive together at its end, at one process except those that are to crash. */
  bursts: boolean;
  /** The extra delay of each delivery whose object is in the slow half of all objects, in milliseconds. */
  slow: number;
  /** Whether an e-mail address links a Stripe customer automatically. Otherwise it only proposes the link to staff. */
  linkByEmail: boolean;
  timeZone: string;
  /** Seconds by which Stripe's clock is ahead of the server's. */
  skew: number;
  versions: string[];
  ours: OurCustomer[];
  stripeCustomers: StripeCustomer[];
  steps: Step[];
  /** The delivery of each event that Stripe sends, in order. Events without an entry get no fault and no own delay. */
  fates: Fate[];
  /** The result of each request to Stripe's API, in order. Requests without an entry are answered normally. */
  api: ApiFate[];
}

export interface OurCustomer {
  /** The index of an e-mail address. Only a few addresses exist, so that customers share some of them. */
  email: number | null;
  services: number;
  /**
   * The number of services in the sold subscription that waits for its checkout, at most all services of the customer.
   * 0 means no sold subscription, and 3 means one service and an item without a service.
   */
  sold: number;
}

export interface StripeCustomer {
  email: number | null;
  /** The index of the customer whose number is in the metadata. -1, like any unused index, means an unknown number. */
  number: number | null;
  /** The index of the customer that staff linked the Stripe customer to before the history. */
  staff: number | null;
  /**
   * Whether the Stripe customer was linked by e-mail before the history. This needs `number` and `staff` to be null,
   * and an address that only one customer has.
   */
  isLinkedByEmail: boolean;
}

export type StepKind = keyof typeof STEP_WEIGHTS;

/** An action at Stripe or in our service. A step that does not apply is skipped. */
export interface Step {
  kind: StepKind;
  /** Milliseconds since the previous step. */
  wait: number;
  /** Random numbers that choose the objects and the variant. */
  a: number;
  b: number;
  c: number;
  /** Whether a step of staff or programs may happen at the same time as the delivery or step before it. */
  together: boolean;
  /** The crash of our process during a `run`, if any. Other kinds of steps ignore it. */
  crash: Crash | null;
}

export interface Fate {
  lost: boolean;
  /** Milliseconds until the delivery arrives. */
  delay: number;
  /** Milliseconds until each duplicate arrives. */
  copies: number[];
  /** Whether the delivery is handled at the same time as the previous one. */
  together: boolean;
  /** The crash of each attempt of the first delivery, in order. Duplicates do not crash. */
  crashes: Crash[];
}

export interface Crash {
  /**
   * `killed` means that the process stops without an answer, `refused` that one statement fails, and `conflict` that
   * the database asks for a retry.
   */
  mode: 'killed' | 'refused' | 'conflict';
  /** The number of statements and commits before the crash. */
  at: number;
}

export interface ApiFate {
  kind: 'none' | 'error' | 'limit' | 'garbage' | 'late';
  /** Maximum number of batches of queued steps and deliveries that run before a late answer arrives. */
  meanwhile: number;
}

export const BASIL = ['2025-03-31.basil', '2026-10-28.endive'];

/** The weight of each kind of step. The swarm of a history multiplies it by a factor. */
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

/** Returns whether Stripe fails during the run that this step starts. */
export const isFailingRun = ({ kind, a }: Step) => kind === 'run' && a < 3;
