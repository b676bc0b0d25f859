import { toCalendarDate } from '@/lib/dates';
import type {
  BalanceTransaction,
  Customer,
  Dispute,
  Payout,
  Refund,
  WorldEvent,
  WorldObject,
} from '@/lib/stripe-local/model';
import type { Tables } from '../tables';

/** The facts about a history: events at Stripe, and changes that people and programs made in our tables. */
export interface Truth extends Setup, Deeds {
  history: readonly WorldEvent[];
  timeZone: string;
  /** The calendar date in `timeZone` at the end of the history. */
  today: string;
  hasKey: boolean;
  linkByEmail: boolean;
  /** Whether no delivery was lost. */
  lossless: boolean;
  /** Whether Stripe's API may have failed, or sync may have decided with outdated answers. */
  mayFail: boolean;
  /** API versions of the events. An older version does not report everything that a newer one does. */
  versions: readonly string[];
  versionOf(event: WorldEvent): string;
  /** All refunds at Stripe, in their last state. */
  refunds: readonly Refund[];
  disputes: readonly Dispute[];
  payouts: readonly Payout[];
  /** The movements of the balance that were paid out. */
  movements: readonly BalanceTransaction[];
  /** The payment intent of each charge. */
  charges: ReadonlyMap<string, string>;
  /** The invoice of each payment intent. */
  intents: ReadonlyMap<string, string>;
  times: ReadonlyMap<string, EventTimes>;
  looks: readonly Look[];
  /** Stripe customers that Stripe's API does not return. */
  unknown: ReadonlySet<string>;
}

/** One of our customers, in its state before the history. */
export interface OwnCustomer {
  id: number;
  /** The customer number in Stripe's metadata. It may belong to a customer that was merged into this one. */
  number: string;
  email: string | null;
  services: OwnService[];
  /** A subscription that waits for its checkout. */
  sold: {
    id: number;
    quantity: number;
    /** Ids of the services that the subscription was sold with. */
    services: number[];
    /** Whether one of its items has no service, so that no Stripe subscription can match it. */
    isUnclear: boolean;
  } | null;
}

export interface OwnService {
  id: number;
  number: string;
  ends_on: string | null;
  /** The price in minor units for the given number of months. */
  price: { minor: number; currency: string; months: number };
}

/** The data in our tables and at Stripe before a history, and the links that staff set during it. */
export interface Setup {
  ours: OwnCustomer[];
  stripeCustomers: {
    customer: Customer;
    /** The customer that staff last linked the Stripe customer to. `formerly` contains the earlier customers. */
    staff: number | null;
    formerly: number[];
    /** The customer that an e-mail address linked the Stripe customer to before the history. */
    stored: number | null;
  }[];
}

/** Changes that people and programs made in our tables. Sync must not undo them. */
export interface Deeds {
  /** References of deleted payments with the source `stripe`. */
  deleted: Set<string>;
  /** References of other deleted payments. Sync may have skipped Stripe's own payment because of them. */
  freed: Set<string>;
  /** Payments as people last wrote them, by id. */
  written: Map<number, { amount: string; reference: string; source: string }>;
  /** The references of Stripe's payments that people have changed since, by the payment's id. */
  renamed: Map<number, string>;
  /** The status that people last gave to a payment, by its id. */
  statuses: Map<number, string>;
  /** The service that staff linked to an item, by the item's Stripe id. Null if staff removed the link. */
  linked: Map<string, number | null>;
  /** The dates that people gave to a service, by its id. */
  dated: Map<number, Record<'next_billing_date' | 'ends_on', string[]>>;
}

/** Times of an event, in ticks of a counter that only increases. */
export interface EventTimes {
  happened: number;
  /** The first delivery attempt. Null if there was no attempt. */
  tried: number | null;
  /** The first time the event was certainly handled. */
  done: number | null;
  /** How often the number of the event's Stripe customer had changed when the event was last handled. */
  changes: number | null;
}

/** An answer of Stripe's API that contains a customer. */
export interface Look {
  customer: string;
  /**
   * `asked` means that the customer was retrieved. `brought` means that it was expanded in another object, so it may
   * have been discarded.
   */
  kind: 'asked' | 'brought';
  /** How often the customer's own number had changed before this answer. Null if the customer was deleted. */
  changes: number | null;
  number: string | undefined;
  /** Whether a crash or conflict may have undone the effects of the answer. */
  isDoubtful: boolean;
}

/** A comparison of our tables with the truth. */
export interface Case {
  truth: Truth;
  tables: Tables;
  /** Whether the tables must hold everything that Stripe has, not only the data in its events. */
  full: boolean;
  /** The differences found so far. */
  differences: Difference[];
}

export interface Difference {
  what: string;
  expected: unknown;
  actual: unknown;
}

export function recordDifference(given: Case, what: string, expected: unknown, actual: unknown): void {
  given.differences.push({ what, expected, actual });
}

/** Records a difference unless the row exists and has all expected values. */
export function compare(given: Case, what: string, expected: object, row: object | undefined): void {
  if (!row) recordDifference(given, what, expected, null);
  else if (!fits(expected, row)) given.differences.push(differing(what, expected, row));
}

/** Returns whether a row has all expected values. */
export function fits(expected: object, actual: object): boolean {
  return Object.keys(expected).every((field) => isSame(expected, actual, field));
}

/** Builds a readable difference with only the fields that differ. */
export function differing(what: string, expected: object, actual: object): Difference {
  const fields = Object.keys(expected).filter((field) => !isSame(expected, actual, field));
  const part = (of: object) => Object.fromEntries(fields.map((field) => [field, Reflect.get(of, field)]));
  return { what, expected: part(expected), actual: part(actual) };
}

const isSame = (expected: object, actual: object, field: string) =>
  JSON.stringify(Reflect.get(expected, field)) === JSON.stringify(Reflect.get(actual, field));

/** Minor units per major unit of the currencies in the histories. */
const MINOR: Record<string, number> = { eur: 100, usd: 100, gbp: 100, isk: 100, jpy: 1, kwd: 1000 };

/** Formats an amount like a numeric(15,3) column. */
export function amount(minor: number, currency: string): string {
  return (minor / (MINOR[currency] ?? Number.NaN)).toFixed(3);
}

export function date(seconds: number | null, timeZone: string): string | null {
  return seconds === null ? null : toCalendarDate(new Date(seconds * 1000), timeZone);
}

/** The event types that the service promises to handle. */
export const ANNOUNCING = new Set([
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.finalized',
  'invoice.paid',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
]);

/** An object's state at one moment, and the event that reported it. */
export interface Moment<T> {
  at: number;
  about: T;
  event: WorldEvent;
  isAnnounced: boolean;
}

/** Returns the states of each object of a kind, in the order in which they occurred. */
export function storiesOf<T extends WorldObject>(
  history: readonly WorldEvent[],
  kind: T['object'],
): Map<string, Moment<T>[]> {
  const stories = new Map<string, Moment<T>[]>();
  for (const [at, event] of history.entries()) {
    if (event.about.object !== kind) continue;
    const moment = { at, about: event.about as T, event, isAnnounced: ANNOUNCING.has(event.type) };
    const story = stories.get(event.about.id);
    // An event after the deletion changes nothing.
    if (story?.at(-1)?.event.type === 'customer.subscription.deleted') continue;
    if (story) story.push(moment);
    else stories.set(event.about.id, [moment]);
  }
  return stories;
}

/**
 * Returns the states that a row may show. In a full comparison, this is only the last state. Otherwise it is the last
 * state that an `ANNOUNCING` event reported, and with an API key also each later state. If the last second has several
 * events and Stripe may not have answered, each state that their payloads allow is possible as well. If no such event
 * happened, any state is possible.
 *
 * @param candidates the last states that the payloads of one second allow
 */
export function allowedMoments<T>(
  { truth, full }: Case,
  story: Moment<T>[],
  candidates: (second: Moment<T>[]) => Moment<T>[],
): Moment<T>[] {
  if (full) return story.slice(-1);
  const announced = story.filter((moment) => moment.isAnnounced);
  const last = announced.at(-1);
  if (!last) return story;
  const second = announced.filter(({ event }) => event.created === last.event.created);
  const open = !truth.hasKey || truth.mayFail ? candidates(second) : [last];
  const later = truth.hasKey ? story.filter(({ at }) => at >= last.at) : [last];
  return [...later, ...open];
}

const KNOWN = {
  subscription: new Set([
    ...['active', 'canceled', 'incomplete', 'incomplete_expired'],
    ...['past_due', 'paused', 'trialing', 'unpaid'],
  ]),
  invoice: new Set(['draft', 'open', 'paid', 'uncollectible', 'void']),
};

interface WithStatus {
  object: 'subscription' | 'invoice';
  status: string;
}

export const hasKnownStatus = ({ object, status }: WithStatus) => KNOWN[object].has(status);

/**
 * Returns the statuses that a row may have at a moment. If Stripe reports an unknown status, the row keeps
 * its stored status, so the result has every status that may have been stored.
 *
 * @param unset the status of a row before any known status was reported
 */
export function keptStatuses<T extends WithStatus>(
  truth: Truth,
  story: Moment<T>[],
  { at, about }: Moment<T>,
  unset: T['status'],
): T['status'][] {
  if (hasKnownStatus(about)) return [about.status];
  const before = story.filter((moment) => moment.at <= at && (moment.isAnnounced || truth.hasKey));
  const kept: T['status'][] = [];
  for (const [i, moment] of [...before.entries()].reverse()) {
    if (!hasKnownStatus(moment.about)) continue;
    const strange = before.slice(i + 1).filter((one) => !hasKnownStatus(one.about));
    if (mayComeBefore(truth, moment, strange)) kept.push(moment.about.status);
    const until = before.slice(0, i + 1);
    if (!mustComeBefore(truth, until, strange)) continue;
    // Unless Stripe is asked, the last state of a second is uncertain.
    const tied = truth.hasKey && !truth.mayFail ? [] : announcedOfSecond(until).map((one) => one.about);
    return [...new Set([...kept, ...tied.filter(hasKnownStatus).map(({ status }) => status)])];
  }
  return [...new Set([...kept, unset])];
}

const NEVER = Number.POSITIVE_INFINITY;

/**
 * Returns whether a state may have been stored before a later one was handled. Within one second that is
 * always possible, because each event makes sync decide on all events of its second again.
 */
function mayComeBefore(truth: Truth, { event }: Moment<unknown>, others: Moment<unknown>[]): boolean {
  if (others.some((one) => one.event.created === event.created)) return true;
  const tried = truth.times.get(event.id)?.tried ?? NEVER;
  const done = others.map((one) => truth.times.get(one.event.id)?.done ?? NEVER);
  return truth.hasKey || tried < Math.min(NEVER, ...done);
}

/**
 * Returns whether the last state was certainly stored before the others. Sync first receives a state with the delivery
 * of its event, or earlier from the API if it has a key. The last state of a second is certain once all events of the
 * second are handled.
 */
function mustComeBefore(truth: Truth, until: Moment<unknown>[], others: Moment<unknown>[]): boolean {
  const last = until.at(-1);
  if (!last?.isAnnounced) return false; // Ignored events report nothing.
  const done = announcedOfSecond(until).map(({ event }) => truth.times.get(event.id)?.done ?? NEVER);
  const seen = others.map((one) => {
    const times = truth.times.get(one.event.id);
    return (truth.hasKey ? times?.happened : times?.tried) ?? NEVER;
  });
  return Math.max(...done) < Math.min(NEVER, ...seen);
}

function announcedOfSecond<T>(until: Moment<T>[]): Moment<T>[] {
  const second = until.at(-1)?.event.created;
  return until.filter((one) => one.isAnnounced && one.event.created === second);
}
