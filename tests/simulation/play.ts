import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { signatureOf } from '../support/stripe-events';
import { crashing } from './crashing';
import { ANNOUNCING } from './oracle/story';
import { type Deeds, doHere, noDeeds } from './own-steps';
import { type Fate, isFailingRun, type Plan, type Step } from './plan';
import { type Setup, setUp } from './setup';
import type { Stage } from './stage';
import { doAtStripe } from './stripe-steps';

/** A history as it went. */
export interface Played {
  plan: Plan;
  world: World;
  setup: Setup;
  deeds: Deeds;
  /** Event ids that came through. */
  delivered: Set<string>;
  /** Signed bodies by event id. */
  payloads: Map<string, string>;
  /** Readable, in order. */
  log: string[];
  /** What must not have happened on the way. */
  faults: string[];
  counts: { deliveries: number; crashes: number; runs: number };
  now(): Date;
  /** Lets some seconds pass. */
  later(seconds: number): void;
}

const START = Date.parse('2026-03-15T22:30:00Z');
const HOUR = 3_600_000;
/** Before a run that fails: what was lost until then is older than the days that every run looks back further. */
const LONG_AFTER = 96 * HOUR;
/** After each attempt that was not answered 200. */
const RETRIES = [HOUR, 6 * HOUR, 24 * HOUR, 72 * HOUR];
const PROMPT: Fate = { lost: false, delay: 0, copies: [], together: false, crashes: [] };
const MAX_DEPTH = 3;

interface Item {
  at: number;
  order: number;
  /** A delivery that is taken in together with the one before it. */
  together: boolean;
  run(): Promise<void>;
}

/** Plays a history to its end: everything has happened, and every delivery was taken in or lost. */
export async function play(stage: Stage, plan: Plan, seed: number): Promise<Played> {
  let clock = START;
  const now = () => new Date(clock);
  const world = createWorld({
    now: () => new Date(clock + plan.skew * 1000),
    chance: seededChance(seed),
  });
  const { hasKey, timeZone, linkByEmail } = plan;
  await stage.begin({ world, hasKey, timeZone, linkByEmail, now });
  const setup = await setUp(stage.db, world, plan);
  world.history.splice(0); // customers tell nothing of their own
  const played: Played = {
    plan,
    world,
    setup,
    deeds: noDeeds(setup),
    delivered: new Set(),
    payloads: new Map(),
    log: [],
    faults: [],
    counts: { deliveries: 0, crashes: 0, runs: 0 },
    now,
    later: (seconds) => {
      clock += seconds * 1000;
    },
  };
  const base = stage.stripe.requestCount();
  const queue: Item[] = [];
  let order = 0;
  let known = 0;
  let toldAnyway = 0;
  let depth = 0;
  const checkedOut = new Set<number>();

  const note = (sentence: string) => {
    played.log.push(`${new Date(clock).toISOString().slice(5, 23)} ${sentence}`);
  };
  const push = (at: number, run: () => Promise<void>, together = false) => {
    order += 1;
    const item = { at, order, together, run };
    const behind = queue.findIndex((other) => other.at > at);
    queue.splice(behind === -1 ? queue.length : behind, 0, item);
  };

  const schedule = (event: WorldEvent) => {
    if (!ANNOUNCING.has(event.type) && toldAnyway++ % 6 !== 0) return; // enough to see that they are ignored
    const fate = plan.fates[known++] ?? PROMPT;
    const lost = !plan.lossless && (fate.lost || isNeverHeardOf(event.about.id));
    note(`  ${event.type} ${event.about.id} (${event.id})${lost ? ' is lost' : ''}`);
    if (lost) return;
    for (const [i, delay] of [fate.delay, ...fate.copies].entries()) {
      push(clock + delay, () => attempt(event, fate, i === 0 ? 0 : fate.crashes.length), fate.together);
    }
  };

  const attempt = async (event: WorldEvent, fate: Fate, tries: number): Promise<void> => {
    const body = played.payloads.get(event.id) ?? JSON.stringify(renderEvent(event, versionOf(plan, event)));
    played.payloads.set(event.id, body);
    played.counts.deliveries += 1;
    const crash = fate.crashes[tries];
    const guarded = crashing(stage.db, crash);
    const request = new Request('http://localhost/api/stripe/webhook', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'stripe-signature': signatureOf(body, world.now()),
      },
      body,
    });
    const isOwnProcess = crash !== undefined || played.counts.deliveries % 2 === 0;
    const response = await stage.receive(isOwnProcess ? guarded.db : stage.db, request);
    const answer = await response.text();
    const isAnswered = response.status === 200 && !(guarded.happened() && crash?.mode === 'killed');
    if (guarded.happened()) played.counts.crashes += 1;
    note(
      `> ${event.type} ${event.about.id} (${event.id}): ${isAnswered ? answer : `${response.status}, ${crash?.mode} at ${crash?.at}`}`,
    );
    if (response.status !== 200 && !guarded.happened()) {
      played.faults.push(`${event.id} ${event.type} was answered ${response.status}`);
    }
    if (response.status === 200) played.delivered.add(event.id);
    if (isAnswered) return;
    const wait = RETRIES[tries];
    if (wait === undefined) played.faults.push(`${event.id} ran out of attempts`);
    else push(clock + wait, () => attempt(event, fate, tries + 1));
  };

  const act = async (step: Step): Promise<void> => {
    if (step.kind === 'run') return runReconciliation(step);
    const from = world.history.length;
    const sentence =
      doAtStripe({ world, plan, setup, checkedOut }, step) ??
      (OURS.has(step.kind)
        ? await doHere({ db: stage.db, deps: stage.deps(), setup, deeds: played.deeds }, step)
        : null);
    if (sentence) note(sentence);
    for (const event of world.history.slice(from)) schedule(event);
  };

  const runReconciliation = async (step: Step): Promise<void> => {
    played.counts.runs += 1;
    const guarded = crashing(stage.db, step.crash ?? undefined);
    const failing = plan.hasKey && isFailingRun(step);
    const before = stage.stripe.requestCount();
    if (failing) {
      // The whole API from some request on, or one object.
      const when = ({ index, path }: { index: number; path: string }) =>
        step.b % 2 === 0 ? index >= before + step.c : /_/.test(path.split('/')[3] ?? '');
      stage.stripe.faults.add({ when, fault: { kind: 'status', status: 503, shouldRetry: false } });
    }
    try {
      const { status, changes } = await stage.reconcile(guarded.db);
      note(`run: ${status}, ${changes} changes${failing ? ', Stripe failing' : ''}`);
    } catch (error) {
      if (!guarded.happened()) throw error;
      note(`run: ${step.crash?.mode} at ${step.crash?.at}`);
    }
    if (guarded.happened()) played.counts.crashes += 1;
    if (failing) setFaults();
  };

  /** Late answers let other things happen meanwhile. */
  const setFaults = () => {
    stage.stripe.faults.clear();
    for (const [i, { kind, meanwhile }] of plan.api.entries()) {
      const when = [base + i];
      if (kind === 'late') {
        stage.stripe.faults.add({ when, fault: { kind: 'hold', until: () => proceed(meanwhile) } });
      } else if (kind === 'error') {
        stage.stripe.faults.add({ when, fault: { kind: 'status', status: 500, shouldRetry: false } });
      } else if (kind === 'limit') {
        stage.stripe.faults.add({ when, fault: { kind: 'status', status: 429 } });
      } else if (kind === 'garbage') {
        stage.stripe.faults.add({ when, fault: { kind: 'garbage' } });
      }
    }
  };
  const proceed = async (count: number): Promise<void> => {
    if (depth >= MAX_DEPTH) return;
    depth += 1;
    for (let i = 0; i < count && queue.length > 0; i += 1) await next();
    depth -= 1;
  };

  const next = async (): Promise<void> => {
    const item = queue.shift();
    if (!item) return;
    clock = Math.max(clock, item.at);
    const batch = [item];
    while (queue[0]?.together && batch.length < 5) batch.push(queue.shift() as Item);
    clock = Math.max(clock, batch.at(-1)?.at ?? 0);
    if (batch.length > 1) note(`at once: ${batch.length}`);
    await Promise.all(batch.map(({ run }) => run()));
  };

  setFaults();
  let at = clock;
  for (const step of plan.steps) {
    at += step.wait + (isFailingRun(step) ? LONG_AFTER : 0);
    push(at, () => act(step));
  }
  while (queue.length > 0) await next();
  stage.stripe.faults.clear();
  return played;
}

const OURS = new Set([
  'deletePayment',
  'changePayment',
  'enterPayment',
  'linkItem',
  'confirmLink',
  'dateService',
]);

/** Of some objects all events are lost, as while the endpoint is away: nothing but a list tells of them. */
function isNeverHeardOf(id: string): boolean {
  return (id.charCodeAt(id.length - 1) + id.charCodeAt(id.length - 2)) % 5 === 0;
}

/** An endpoint has one version at a time: it changes between seconds, not within one. */
function versionOf({ versions }: Plan, event: WorldEvent): string {
  return versions[(event.created * 7) % versions.length] ?? '';
}
