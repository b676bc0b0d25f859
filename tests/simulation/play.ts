import { refundPayment } from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { apiFaults } from './api-faults';
import { changesOf, type Look } from './looks';
import { ANNOUNCING } from './oracle/story';
import { doHere, noDeeds } from './own-steps';
import { type Fate, isFailingRun, type Plan, type Step } from './plan';
import type { Played } from './played';
import { Queue } from './queue';
import { eventToReplay } from './replays';
import { setUp } from './setup';
import type { Received, Stage } from './stage';
import { makeStrays } from './strays';
import { doAtStripe } from './stripe-steps';
import { ofNoInvoice, tried } from './stripe-steps/money-back';
import { count } from './tally';

type Went = Pick<Received, 'crashed' | 'contested'>;

const START = Date.parse('2026-03-15T22:30:00Z');
const HOUR = 3_600_000;
/** Before a run that fails: what was lost until then is older than the days that every run looks back further. */
const LONG_AFTER = 96 * HOUR;
/** After each attempt that was not answered 200. */
const RETRIES = [HOUR, 6 * HOUR, 24 * HOUR, 72 * HOUR];
/** Stripe is asked four times for one decision at most, and one may need two answers: each of more makes both old. */
const MOST_AT_WORK = 2;
const [FEW_AT_ONCE, MANY_AT_ONCE] = [5, 12];
const PROMPT: Fate = { lost: false, delay: 0, copies: [], together: false, crashes: [] };

/** Plays a history to its end: everything has happened, and every delivery was taken in or lost. */
export async function play(stage: Stage, plan: Plan, seed: number): Promise<Played> {
  let clock = START;
  const now = () => new Date(clock);
  const world = createWorld({
    now: () => new Date(clock + plan.skew * 1000),
    chance: seededChance(seed),
  });
  const { hasKey, timeZone, linkByEmail } = plan;
  await stage.begin({ world, seed, hasKey, timeZone, linkByEmail, now });
  const setup = await setUp(stage.hands(), world, plan);
  world.history.splice(0); // customers tell nothing of their own
  const base = stage.requestCount();
  const unknown = new Set<string>();
  const played: Played = {
    plan,
    world,
    setup,
    unknown,
    strays: [],
    deeds: noDeeds(setup),
    delivered: new Set(),
    times: new Map(),
    looks: [],
    isCrowded: false,
    payloads: new Map(),
    log: [],
    faults: [],
    counts: { deliveries: 0, crashes: 0, runs: 0 },
    steps: {},
    mishaps: {},
    apiFaults: apiFaults(stage, plan.api, unknown, (some) => queue.proceed(some)),
    now,
    later: (seconds) => {
      clock += seconds * 1000;
    },
  };
  const { mishaps, times } = played;
  const scene = { world, plan, setup, unknown, checkedOut: new Set<number>(), strays: { count: 0 } };
  const bodies = new Map<string, ReturnType<typeof toBody>>();
  const atWork = new Set<{ isAlone: boolean; customer: string | null }>();
  let known = 0;
  let sentAnyway = 0;
  let ticks = 0;
  let staffsTurn: Promise<unknown> = Promise.resolve();

  const queue = new Queue(plan.bursts ? MANY_AT_ONCE : FEW_AT_ONCE, (at, together) => {
    clock = Math.max(clock, at);
    if (together > 1) note(`at once: ${together}`);
    count(mishaps, 'at once', Number(together > 1));
  });
  const note = (sentence: string) => {
    played.log.push(`${new Date(clock).toISOString().slice(5, 23)} ${sentence}`);
  };
  const schedule = (event: WorldEvent) => {
    times.set(event.id, { happened: ++ticks, tried: null, done: null, changes: null });
    if (!ANNOUNCING.has(event.type) && sentAnyway++ % 6 !== 0) return; // enough to see that they are ignored
    const fate = plan.fates[known++] ?? PROMPT;
    const lost = !plan.lossless && (fate.lost || isNeverHeardOf(event.about.id));
    note(`  ${event.type} ${event.about.id} (${event.id})${lost ? ' is lost' : ''}`);
    count(mishaps, 'lost', Number(lost));
    if (lost) return;
    const slow = isSlow(event.about.id) ? plan.slow : 0;
    count(mishaps, 'slow', Number(slow > 0));
    count(mishaps, 'copied', fate.copies.length);
    count(mishaps, 'late', Number(fate.delay > 300));
    for (const [i, delay] of [fate.delay, ...fate.copies].entries()) {
      const attemptIt = () => attempt(event, fate, i === 0 ? 0 : fate.crashes.length);
      queue.push(arrivalOf(plan, clock + delay + slow), attemptIt, plan.bursts || fate.together);
    }
  };

  const attempt = async (event: WorldEvent, fate: Fate, tries: number): Promise<void> => {
    const told = bodies.get(event.id) ?? toBody(event, versionOf(plan, event));
    bodies.set(event.id, told);
    played.payloads.set(event.id, told.body);
    played.counts.deliveries += 1;
    const time = times.get(event.id);
    if (!time) throw new Error(`${event.id} never happened`);
    time.tried ??= ++ticks;
    const changes = customerChanges(world, event);
    const looks: Look[] = [];
    const crash = fate.crashes[tries];
    const isOwnProcess = crash !== undefined || (!plan.bursts && played.counts.deliveries % 2 === 0);
    const customer = 'customer' in event.about ? event.about.customer : null;
    const received = await amidst(() => stage.receive({ ...told, crash, isOwnProcess }, looks), customer);
    const { status, answer, crashed } = received;
    const isAnswered = status === 200 && !(crashed && crash?.mode === 'killed');
    noteCrash(received, crash?.mode, looks);
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
    else queue.push(clock + wait, () => attempt(event, fate, tries + 1));
  };

  /** While others are at work, too, what Stripe answers may be of no account: they were quicker. */
  const amidst = async <T extends Went>(
    work: () => Promise<T>,
    customer: string | null = null,
  ): Promise<T> => {
    const own = { isAlone: atWork.size === 0, customer };
    for (const other of atWork) other.isAlone = false;
    atWork.add(own);
    const rivals = [...atWork].filter((other) => other.customer === customer || other.customer === null);
    played.isCrowded ||= rivals.length > MOST_AT_WORK;
    try {
      const went = await work();
      return { ...went, contested: went.contested || !own.isAlone };
    } finally {
      atWork.delete(own);
    }
  };

  const noteCrash = ({ crashed, contested }: Went, mode: string | undefined, looks: Look[]) => {
    for (const look of looks) look.isDoubtful = crashed || contested;
    played.looks.push(...looks);
    if (!crashed) return;
    played.counts.crashes += 1;
    count(mishaps, String(mode));
  };

  const act = async (step: Step): Promise<void> => {
    if (step.kind === 'run') return runReconciliation(step);
    if (step.kind === 'stray') return letStray(step);
    if (step.kind === 'replay') return replay(step);
    const from = world.history.length;
    const sentence = doAtStripe(scene, step) ?? (OURS.has(step.kind) ? await doInTurn(step) : null);
    if (sentence) note(sentence);
    count(played.steps, step.kind, Number(sentence !== null));
    for (const event of world.history.slice(from)) schedule(event);
  };

  const letStray = async (step: Step): Promise<void> => {
    count(played.steps, step.kind);
    for (const stray of makeStrays(scene, step)) {
      const { event, rendered } = stray;
      played.strays.push(stray);
      bodies.set(event.id, { rendered, body: JSON.stringify(rendered) });
      schedule(event);
    }
  };

  /** Staff apply an event once more, whatever they and later events have changed since. */
  const replay = async (step: Step): Promise<void> => {
    const id = eventToReplay(played, step);
    const told = id && bodies.get(id);
    if (!told) return;
    count(played.steps, 'replay');
    const looks: Look[] = [];
    const delivery = { ...told, crash: undefined, isOwnProcess: false, isReplay: true };
    const received = await amidst(() => stage.receive(delivery, looks));
    noteCrash(received, undefined, looks);
    note(`> ${id} again: ${received.answer}`);
    if (received.status !== 200) played.faults.push(`replaying ${id} ended with ${received.answer}`);
  };

  const isAwaited = (id: string) =>
    [...world.history, ...played.strays.map(({ event }) => event)].some(
      (event) =>
        event.type === 'invoice.payment_succeeded' &&
        event.about.id === id &&
        times.get(event.id)?.tried === null,
    );

  const refundAtStripe = (invoice: string) => {
    if (world.invoices.get(invoice)) tried(() => refundPayment(world, { invoice }));
  };

  const collectAtStripe = (a: number) => ofNoInvoice(scene, a)?.id ?? null;

  /** Staff do one thing at a time, whatever is delivered meanwhile. */
  const doInTurn = (step: Step): Promise<string | null> => {
    const { deeds } = played;
    const done = staffsTurn.then(() =>
      doHere({ hands: stage.hands(), setup, deeds, isAwaited, refundAtStripe, collectAtStripe }, step),
    );
    staffsTurn = done.catch(() => undefined);
    return done;
  };

  const runReconciliation = async (step: Step): Promise<void> => {
    played.counts.runs += 1;
    count(played.steps, 'run');
    const failing = plan.hasKey && isFailingRun(step);
    const looks: Look[] = [];
    if (failing) played.apiFaults.failing(step);
    const ran = await amidst(() => stage.reconcile(step.crash ?? undefined, looks));
    const { result } = ran;
    if (result) note(`run: ${result.status}, ${result.changes} changes${failing ? ', Stripe failing' : ''}`);
    else note(`run: ${step.crash?.mode} at ${step.crash?.at}`);
    noteCrash(ran, step.crash?.mode, looks);
    count(mishaps, 'Stripe failing', Number(failing));
    if (failing) played.apiFaults.asPlanned();
  };

  played.apiFaults.asPlanned();
  let at = clock;
  for (const step of plan.steps) {
    at += step.wait + (isFailingRun(step) ? LONG_AFTER : 0);
    queue.push(at, () => act(step), step.together && STAFF.has(step.kind));
  }
  await queue.empty();
  played.apiFaults.none();
  for (const { kind } of plan.api.slice(0, stage.requestCount() - base)) {
    count(mishaps, `answer ${kind}`, Number(kind !== 'none'));
  }
  const long = [...world.subscriptions.values()].filter(({ items }) => items.length > 10);
  count(mishaps, 'more than ten items', long.length);
  return played;
}

const STAFF = new Set(['confirmLink', 'linkItem']);
const OURS = new Set([
  ...STAFF,
  'refundHere',
  'payOwn',
  'deletePayment',
  'changePayment',
  'enterPayment',
  'dateService',
]);

function customerChanges(world: World, { about }: WorldEvent): number | null {
  const id = 'customer' in about ? about.customer : null;
  const customer = world.customers.get(id ?? '');
  return !customer || customer.deleted ? null : changesOf(customer.metadata);
}

/** Of some objects all events are lost, as while the endpoint is away: nothing but a list tells of them. */
const isNeverHeardOf = (id: string) => lotOf(id) % 5 === 0;
/** Of others all come late, and in their order. */
const isSlow = (id: string) => lotOf(id) % 2 === 0;

const lotOf = (id: string) => id.charCodeAt(id.length - 1) + id.charCodeAt(id.length - 2);

function toBody(event: WorldEvent, version: string): { rendered: object; body: string } {
  const rendered = renderEvent(event, version);
  return { rendered, body: JSON.stringify(rendered) };
}

/** An endpoint has one version at a time: it changes between seconds, not within one. */
export function versionOf({ versions }: Plan, event: WorldEvent): string {
  return versions[(event.created * 7) % versions.length] ?? '';
}

const arrivalOf = ({ bursts }: Plan, at: number) => (bursts ? Math.ceil(at / HOUR) * HOUR : at);
