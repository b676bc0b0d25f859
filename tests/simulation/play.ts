import { seededChance } from '@/lib/chance';
import { toCalendarDate } from '@/lib/dates';
import { fromMinorUnits } from '@/lib/money';
import { failPayout, payOut } from '@/lib/stripe-local/actions/payouts';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { createWorld, epochNow, type World } from '@/lib/stripe-local/world';
import { refundPayment } from '../support/stripe-actions';
import { renderEvent } from '../support/stripe-versions';
import { SealedMonths } from './oracle/books';
import { ANNOUNCING, type Deeds, type EventTimes, type Look, type Setup } from './oracle/story';
import { noDeeds, performOwnStep, pick, withoutRenames } from './own-steps';
import { type Fate, isFailingRun, type Plan, type Step } from './plan';
import { setUp } from './setup';
import type { Received, Stage } from './stage';
import { makeStrays, type Stray } from './strays';
import { apiFaults, changesOf } from './stripe-api';
import { INVOICE_STEPS, intentWithoutInvoice, tried } from './stripe-steps/invoices';
import type { Steps } from './stripe-steps/scene';
import { SUBSCRIPTION_STEPS } from './stripe-steps/subscriptions';

/**
 * The start of a history: a few days before a month ends, and half an hour before midnight in Berlin.
 */
const START = Date.parse('2026-03-28T22:30:00Z');
const HOUR = 3_600_000;
/**
 * The extra wait before a failing run, in milliseconds. It is longer than the margin by which a window starts before a
 * run. If the next run's window wrongly began at the failing run, it would miss what was lost before the wait.
 */
const LONG_AFTER = 96 * HOUR;
/** The delays after which a delivery is retried, in milliseconds. */
const RETRIES = [HOUR, 6 * HOUR, 24 * HOUR, 72 * HOUR];
/**
 * If more processes than this work on one customer at the same time, a decision may end with outdated answers, because
 * the number of its questions to Stripe is limited.
 */
const MOST_RIVALS = 2;
const [FEW_AT_ONCE, MANY_AT_ONCE] = [5, 12];
const PROMPT: Fate = { lost: false, delay: 0, copies: [], together: false, crashes: [] };

const STRIPE_STEPS: Steps = { ...SUBSCRIPTION_STEPS, ...INVOICE_STEPS };
const PAYING = ['refundHere', 'payOwn', 'deletePayment', 'changePayment', 'enterPayment'];
/** Kinds of steps of staff and programs that may happen while deliveries are handled. */
const STAFF = new Set(['confirmLink', 'linkItem', ...PAYING]);
const OUR_STEPS = new Set([...STAFF, 'dateService']);

export type Tally = Record<string, number>;

export function count(tally: Tally, kind: string, times = 1): void {
  if (times > 0) tally[kind] = (tally[kind] ?? 0) + times;
}

export class Played {
  readonly deeds: Deeds;
  /** Ids of the events with a delivery that was answered with status 200. */
  readonly delivered = new Set<string>();
  readonly times = new Map<string, EventTimes>();
  readonly looks: Look[] = [];
  /** Whether so many processes worked at the same time that answers of Stripe may have been out of date. */
  isCrowded = false;
  /** Stripe customers that Stripe's API does not return. */
  readonly unknown = new Set<string>();
  readonly strays: Stray[] = [];
  /** Signed bodies by event id. */
  readonly payloads = new Map<string, string>();
  /** Sentences that describe the history, in order. */
  readonly log: string[] = [];
  readonly faults: string[] = [];
  readonly months = new SealedMonths();
  readonly counts = { deliveries: 0, crashes: 0, runs: 0 };
  readonly steps: Tally = {};

  constructor(
    readonly plan: Plan,
    readonly world: World,
    readonly setup: Setup,
    private readonly clock: { ms: number },
  ) {
    this.deeds = noDeeds(setup);
  }

  readonly now = () => new Date(this.clock.ms);

  later(seconds: number): void {
    this.clock.ms += seconds * 1000;
  }
}

/** Runs a history until all of its steps happened and each delivery was handled, lost, or out of attempts. */
export async function play(stage: Stage, plan: Plan, seed: number): Promise<Played> {
  const clock = { ms: START };
  const now = () => new Date(clock.ms);
  const world = createWorld({
    now: () => new Date(clock.ms + plan.skew * 1000),
    chance: seededChance(seed),
    timeZone: plan.timeZone,
  });
  const { hasKey, timeZone, linkByEmail } = plan;
  await stage.begin({ world, seed, hasKey, timeZone, linkByEmail, now });
  const setup = await setUp(stage.hands(), world, plan);
  world.history.splice(0); // Sync does not handle events about new customers.
  const played = new Played(plan, world, setup, clock);
  const { times, unknown } = played;
  const api = apiFaults(stage, plan.api, unknown, (most) => queue.proceed(most));
  const scene = { world, plan, setup, unknown, checkedOut: new Set<number>(), strays: { count: 0 } };
  const bodies = new Map<string, ReturnType<typeof toBody>>();
  const atWork = new Set<{ isAlone: boolean; customer: string | null }>();
  let known = 0;
  let ignored = 0;
  let ticks = 0;
  let staffsTurn: Promise<unknown> = Promise.resolve();

  const queue = new Queue(plan.bursts ? MANY_AT_ONCE : FEW_AT_ONCE, (at, together) => {
    clock.ms = Math.max(clock.ms, at);
    if (together > 1) note(`at once: ${together}`);
  });
  const note = (sentence: string) => {
    played.log.push(`${now().toISOString().slice(5, 23)} ${sentence}`);
  };

  const schedule = (event: WorldEvent) => {
    times.set(event.id, { happened: ++ticks, tried: null, done: null, changes: null });
    // A few events of unhandled types are enough to check that sync ignores them.
    if (!ANNOUNCING.has(event.type) && ignored++ % 6 !== 0) return;
    const fate = plan.fates[known++] ?? PROMPT;
    const lost = !plan.lossless && (fate.lost || isAlwaysLost(event.about.id));
    note(`  ${event.type} ${event.about.id} (${event.id})${lost ? ' is lost' : ''}`);
    if (lost) return;
    const slow = isSlow(event.about.id) ? plan.slow : 0;
    for (const [i, delay] of [fate.delay, ...fate.copies].entries()) {
      const at = clock.ms + delay + slow;
      const arrival = plan.bursts ? Math.ceil(at / HOUR) * HOUR : at;
      const deliverEvent = () => attempt(event, fate, i === 0 ? 0 : fate.crashes.length);
      queue.push(arrival, deliverEvent, plan.bursts || fate.together);
    }
  };

  /**
   * Once a month has ended, checks that the entries of earlier months are unchanged, and records the entries of the
   * ended month. If a commit is in progress, its entries may still have a day of that month, so a later call does both.
   */
  const sealMonth = async (): Promise<void> => {
    const today = toCalendarDate(now(), timeZone);
    if (!played.months.isOver(today) || (stage.commitsTakeTime && queue.isNested)) return;
    const differences = played.months.seal(today, await stage.tables());
    played.faults.push(...differences.map(({ what }) => `${what} have changed`));
  };

  const attempt = async (event: WorldEvent, fate: Fate, tries: number): Promise<void> => {
    await sealMonth();
    const sent = bodies.get(event.id) ?? toBody(renderEvent(event, versionOf(plan, event)));
    bodies.set(event.id, sent);
    played.payloads.set(event.id, sent.body);
    played.counts.deliveries += 1;
    const time = times.get(event.id);
    if (!time) throw new Error(`${event.id} never happened`);
    time.tried ??= ++ticks;
    const changes = customerChanges(world, event);
    const looks: Look[] = [];
    const crash = fate.crashes[tries];
    const isOwnProcess = crash !== undefined || (!plan.bursts && played.counts.deliveries % 2 === 0);
    const customer = 'customer' in event.about ? event.about.customer : null;
    const received = await noteOverlap(
      () => stage.receive({ ...sent, crash, isOwnProcess }, looks),
      customer,
    );
    const { status, answer, crashed } = received;
    const isAnswered = status === 200 && !(crashed && crash?.mode === 'killed');
    noteCrash(received, looks);
    note(
      `> ${event.type} ${event.about.id} (${event.id}): ${isAnswered ? answer : `${status}, ${crash?.mode} at ${crash?.at}`}`,
    );
    if (status !== 200 && !crashed) {
      played.faults.push(`${event.id} ${event.type} was answered ${status} ${answer}`);
    }
    if (status === 200) played.delivered.add(event.id);
    if (status === 200 && !/duplicate/.test(answer)) {
      time.done ??= ++ticks;
      time.changes = changes;
    }
    if (isAnswered) return;
    const wait = RETRIES[tries];
    if (wait === undefined) played.faults.push(`${event.id} ran out of attempts`);
    else queue.push(clock.ms + wait, () => attempt(event, fate, tries + 1));
  };

  /** Runs work and records whether other work ran in the meantime. If so, sync may have discarded an answer. */
  const noteOverlap = async <T extends Pick<Received, 'contested'>>(
    work: () => Promise<T>,
    customer: string | null = null,
  ): Promise<T> => {
    const own = { isAlone: atWork.size === 0, customer };
    for (const other of atWork) other.isAlone = false;
    atWork.add(own);
    const rivals = [...atWork].filter((other) => other.customer === customer || other.customer === null);
    played.isCrowded ||= rivals.length > MOST_RIVALS;
    try {
      const went = await work();
      return { ...went, contested: went.contested || !own.isAlone };
    } finally {
      atWork.delete(own);
    }
  };

  const noteCrash = ({ crashed, contested }: Pick<Received, 'crashed' | 'contested'>, looks: Look[]) => {
    for (const look of looks) look.isDoubtful = crashed || contested;
    played.looks.push(...looks);
    played.counts.crashes += Number(crashed);
  };

  const act = async (step: Step): Promise<void> => {
    await sealMonth();
    if (step.kind === 'run') return runReconciliation(step);
    if (step.kind === 'stray') return sendStrays(step);
    if (step.kind === 'replay') return replay(step);
    const from = world.history.length;
    const atStripe = STRIPE_STEPS[step.kind]?.(scene, step) ?? null;
    const sentence = atStripe ?? (OUR_STEPS.has(step.kind) ? await doInTurn(step) : null);
    if (sentence) note(sentence);
    count(played.steps, step.kind, Number(sentence !== null));
    for (const event of world.history.slice(from)) schedule(event);
  };

  const sendStrays = async (step: Step): Promise<void> => {
    count(played.steps, step.kind);
    for (const stray of makeStrays(scene, step)) {
      played.strays.push(stray);
      bodies.set(stray.event.id, toBody(stray.rendered));
      schedule(stray.event);
    }
  };

  /** Applies an event again as staff, although later events and people may have changed its object since. */
  const replay = async (step: Step): Promise<void> => {
    const id = eventToReplay(played, step);
    const sent = id && bodies.get(id);
    if (!sent) return;
    count(played.steps, 'replay');
    const looks: Look[] = [];
    const delivery = { ...sent, crash: undefined, isOwnProcess: false, isReplay: true };
    const received = await noteOverlap(() => stage.receive(delivery, looks));
    noteCrash(received, looks);
    note(`> ${id} again: ${received.answer}`);
    if (received.status !== 200) played.faults.push(`replaying ${id} ended with ${received.answer}`);
  };

  /** Performs a step by staff or by a program. Steps run one at a time, even while deliveries are handled. */
  const doInTurn = (step: Step): Promise<string | null> => {
    const here = {
      hands: stage.hands(),
      tables: async () => withoutRenames(await stage.tables(), played.deeds),
      setup,
      deeds: played.deeds,
      isAwaited: (invoice: string) => isAwaited(played, invoice),
      refundAtStripe(invoice: string) {
        if (world.invoices.get(invoice)) tried(() => refundPayment(world, { invoice }));
      },
      intentsOf: (invoice: string) => intentsOf(world, invoice),
      collectAtStripe: (a: number) => intentWithoutInvoice(scene, a)?.id ?? null,
    };
    const done = staffsTurn.then(() => performOwnStep(here, step));
    staffsTurn = done.catch(() => undefined);
    return done;
  };

  const runReconciliation = async (step: Step): Promise<void> => {
    played.counts.runs += 1;
    payOutAll(world, step.b === 5);
    count(played.steps, 'run');
    const failing = plan.hasKey && isFailingRun(step);
    const looks: Look[] = [];
    if (failing) api.failing(step);
    const ran = await noteOverlap(() => stage.reconcile(step.crash ?? undefined, looks));
    const { result } = ran;
    if (result) note(`run: ${result.status}, ${result.changes} changes${failing ? ', Stripe failing' : ''}`);
    else note(`run: ${step.crash?.mode} at ${step.crash?.at}`);
    // If a request fails, the run discards the answers to the other requests of the same decision.
    const isPartial = result !== null && result.status !== 'completed';
    noteCrash({ ...ran, contested: ran.contested || isPartial }, looks);
    if (failing) api.asPlanned();
  };

  api.asPlanned();
  let at = clock.ms;
  for (const step of plan.steps) {
    at += step.wait + (isFailingRun(step) ? LONG_AFTER : 0);
    queue.push(at, () => act(step), step.together && STAFF.has(step.kind));
  }
  await queue.empty();
  api.none();
  return played;
}

/** Number of days within which a bank refuses a payout. Runs list payouts for a little longer. */
const REFUSED_DAYS = 30;

/**
 * Makes Stripe pay out our balance in each currency.
 *
 * @param fails whether the bank then refuses the latest payout, if it is recent
 */
export function payOutAll(world: World, fails: boolean): void {
  // Payouts have their own random numbers for their ids, so that the ids of all other objects stay the same.
  const stripe = { ...world, chance: seededChance(world.payouts.size) };
  const moved = [...world.paymentIntents.values(), ...world.refunds.values(), ...world.disputes.values()];
  for (const currency of new Set(moved.map((one) => one.currency))) tried(() => payOut(stripe, { currency }));
  const [latest] = [...world.payouts.values()].toSorted((a, b) => b.created - a.created);
  const isRecent = latest && latest.created > epochNow(world) - REFUSED_DAYS * 86_400;
  if (fails && isRecent) failPayout(world, latest.id);
}

/** Returns whether all events of an object are lost if the plan loses events. Only Stripe's lists then report it. */
const isAlwaysLost = (id: string) => lotOf(id) % 5 === 0;
/** Returns whether all events of an object are delayed by `plan.slow`. */
const isSlow = (id: string) => lotOf(id) % 2 === 0;

const lotOf = (id: string) => id.charCodeAt(id.length - 1) + id.charCodeAt(id.length - 2);

const toBody = (rendered: object) => ({ rendered, body: JSON.stringify(rendered) });

/** Returns the API version of the endpoint. The version can change every second, but not within one. */
export function versionOf({ versions }: Plan, event: WorldEvent): string {
  return versions[(event.created * 7) % versions.length] ?? '';
}

function customerChanges(world: World, { about }: WorldEvent): number | null {
  const customer = world.customers.get(('customer' in about && about.customer) || '');
  return !customer || customer.deleted ? null : changesOf(customer.metadata);
}

const allEvents = ({ world, strays }: Played) => [...world.history, ...strays.map(({ event }) => event)];

function intentsOf({ invoicePayments, invoices }: World, id: string) {
  const currency = invoices.get(id)?.currency ?? 'eur';
  return [...invoicePayments.values()].flatMap(({ invoice, payment, amountRequested }) =>
    invoice === id && payment.type === 'payment_intent'
      ? [{ id: payment.payment_intent, amount: Number(fromMinorUnits(amountRequested, currency)) }]
      : [],
  );
}

/** Returns whether an event reports the payment of an invoice but has not arrived yet. */
function isAwaited(played: Played, invoice: string): boolean {
  return allEvents(played).some(
    ({ id, type, about }) =>
      type === 'invoice.payment_succeeded' && about.id === invoice && played.times.get(id)?.tried === null,
  );
}

/** Chooses the event to replay. Prefers events of objects that people changed, because these are likely to conflict. */
function eventToReplay(played: Played, { a, b, c }: Step): string | undefined {
  const { deeds, world } = played;
  const all = [...played.delivered];
  const linked = [...world.subscriptions.values()].filter(({ items }) =>
    items.some(({ id }) => deeds.linked.has(id)),
  );
  const written = [...deeds.written.values()].map(({ reference }) => reference);
  const touched = new Set([...deeds.deleted, ...deeds.freed, ...written, ...linked.map(({ id }) => id)]);
  const abouts = new Map(allEvents(played).map(({ id, about }) => [id, about.id]));
  const likely = b % 4 !== 0 ? all.filter((id) => touched.has(abouts.get(id) ?? '')) : [];
  return pick(likely.length > 0 ? likely : all, a * 64 + b * 8 + c);
}

interface Item {
  at: number;
  /** Whether the item may run concurrently with the previous one. */
  together: boolean;
  run(): Promise<void>;
}

const MAX_DEPTH = 3;

/** All future items, ordered by time and then by insertion. */
class Queue {
  private readonly items: Item[] = [];
  private depth = 0;
  private batches = 0;

  /**
   * @param most maximum number of items in a batch
   * @param begin called before each batch with the batch's time and size
   */
  constructor(
    private readonly most: number,
    private readonly begin: (at: number, together: number) => void,
  ) {}

  /** Whether items run while another item is in progress. */
  get isNested(): boolean {
    return this.depth > 0;
  }

  push(at: number, run: () => Promise<void>, together = false): void {
    const behind = this.items.findIndex((other) => other.at > at);
    this.items.splice(behind === -1 ? this.items.length : behind, 0, { at, together, run });
  }

  async empty(): Promise<void> {
    while (this.items.length > 0) await this.next();
  }

  /** Runs up to `most` batches of items while another item is in progress. */
  async proceed(most: number): Promise<void> {
    if (this.depth >= MAX_DEPTH) return;
    this.depth += 1;
    for (let i = 0; i < most && this.items.length > 0; i += 1) await this.next();
    this.depth -= 1;
  }

  private async next(): Promise<void> {
    const first = this.items.shift();
    if (!first) return;
    const batch = [first];
    while (this.items[0]?.together && batch.length < this.most) batch.push(this.items.shift() as Item);
    this.begin(Math.max(...batch.map(({ at }) => at)), batch.length);
    // Simultaneous items have no order, so every second batch of several items runs in reverse.
    this.batches += Number(batch.length > 1);
    if (this.batches % 2 === 0) batch.reverse();
    await Promise.all(batch.map(({ run }) => run()));
  }
}
