import type Stripe from 'stripe';
import { perProcess } from '@/db/per-process';
import { toCalendarDate } from '../dates';
import { type Fetched, fetchCollectedAt, fetchInvoicePaid, fetchItems, fetchObject } from '../stripe/fetch';
import { type Answers, Draft, type Settings, type Wanted, type WantedKind } from './decide/draft';
import { isEmpty, type Plan, toPlan } from './decide/plan';
import { type Keys, mergeKeys, type Snapshot } from './snapshot';
import { type EventEntry, isVersionConflict } from './store/commit';
import { databaseStore, type Store } from './store/store';
import type { SyncDeps } from './sync-deps';

/** How often at most the work starts again after a conflict, one decision asks Stripe, and a snapshot is read anew. */
const MOST_CONFLICTS = 6;
const MOST_FETCHES = 4;
const MOST_READS = 8;

export interface Work<T> {
  stripeCustomerId: string | null;
  keys: Keys;
  decide(draft: Draft): T;
  /** The inbox rows that the commit writes for the event that was decided on. Without it, none. */
  toEntries?(result: T): EventEntry[];
  runId?: number;
}

export interface Done<T> {
  result: T;
  changes: Plan['changes'];
  warnings: string[];
}

/**
 * Reads, decides and commits. If another transaction has written since the read, all of it is repeated under the lock of
 * the Stripe customer. Stripe is asked while nothing is locked. Of two deliveries of one event, one is applied. In one
 * process, deliveries of one Stripe customer run in turn. Otherwise the later commit finds a newer row version, or the
 * event itself, and starts again.
 */
export function synchronize<T>(deps: SyncDeps, work: Work<T>): Promise<Done<T>> {
  return untilDone(deps, work.stripeCustomerId, attemptOf(deps, work));
}

/** Reads, decides and commits once. Returns the question to Stripe if the decision needs an answer first. */
export type Attempt<T> = (store: Store, known: Known) => Promise<T | Lacking>;

/** What the attempts at one piece of work leave to the next one. */
interface Known {
  inquiry: Inquiry;
  /** The Stripe customer that is locked after a conflict. */
  key: string | null;
}

/** Repeats an attempt until it is done: with Stripe's answers, and under the lock after a conflict. */
export async function untilDone<T>(
  deps: SyncDeps,
  stripeCustomerId: string | null,
  attempt: Attempt<T>,
): Promise<T> {
  const store = storeOf(deps);
  const known: Known = { inquiry: new Inquiry(deps.stripe !== null), key: stripeCustomerId };
  for (let conflicts = 0; ; ) {
    const { key } = known;
    try {
      const done = await (conflicts > 0
        ? store.locked(key, (locked) => attempt(locked, known))
        : // Two steps on one Stripe customer at a time would conflict, and one would have to begin again.
          inTurn(store.scope, key, () => attempt(store, known)));
      if (!isLacking(done)) return done;
      known.inquiry.add(done.wanted, await ask(deps, done.wanted.kind, done.wanted.id));
    } catch (error) {
      conflicts += 1;
      if (conflicts > MOST_CONFLICTS || !isVersionConflict(error)) throw error;
    }
  }
}

/** The attempt of `synchronize`. It keeps the keys that earlier attempts lacked. */
export function attemptOf<T>(deps: SyncDeps, work: Work<T>): Attempt<Done<T>> {
  let { keys } = work;
  return async (store, known) => {
    // Of now, since a turn may have come late.
    const question = { settings: settingsOf(deps), keys, decide: work.decide };
    const decided = await readAndDecide(store.read, question, known.inquiry);
    ({ keys } = question);
    if (isLacking(decided)) return decided;
    const { result, plan } = decided;
    known.key ??= plan.concerned[0] ?? null;
    const events = work.toEntries?.(result) ?? [];
    if (events.length > 0 || !isEmpty(plan)) {
      const given = { plan, events, runId: work.runId ?? null, bookedOn: () => bookedOn(deps) };
      await store.commit(given, work.stripeCustomerId ?? undefined);
    }
    return { result, changes: plan.changes, warnings: plan.warnings };
  };
}

async function ask({ stripe, now, log }: SyncDeps, kind: WantedKind, id: string) {
  if (!stripe) return { state: 'unavailable', reason: 'no_api_key' } as const;
  const fetched = await fetchWanted(stripe, now, kind, id);
  if (fetched.state === 'unavailable') log.warn({ kind, id, reason: fetched.reason }, 'lookup failed');
  return fetched;
}

function fetchWanted(stripe: Stripe, now: () => Date, kind: WantedKind, id: string) {
  if (kind === 'items') return fetchItems(stripe, now, id);
  if (kind === 'collectedAt') return fetchCollectedAt(stripe, now, id);
  if (kind === 'invoicePaid') return fetchInvoicePaid(stripe, now, id);
  return fetchObject(stripe, now, kind, id);
}

const isLacking = (of: unknown): of is Lacking => typeof of === 'object' && of !== null && 'wanted' in of;

interface Question<T> {
  settings: Settings;
  /** What the first snapshot is read by; grows with what decisions lack. */
  keys: Keys;
  decide(draft: Draft): T;
}

interface Decided<T> {
  result: T;
  plan: Plan;
}

export interface Lacking {
  wanted: NonNullable<Draft['wanted']>;
}

/** Reads again with more keys each time. @throws NotReportedError where the daily job has to leave it */
export async function readAndDecide<T>(
  read: (keys: Keys) => Promise<Snapshot>,
  question: Question<T>,
  inquiry: Inquiry,
): Promise<Decided<T> | Lacking> {
  for (let reads = 1; reads <= MOST_READS; reads += 1) {
    const snapshot = await read(question.keys);
    const draft = new Draft(snapshot, question.settings, inquiry.answers);
    const result = question.decide(draft);
    if (!draft.isIncomplete) {
      if (draft.unreported) throw new NotReportedError(draft.unreported.what, draft.unreported.reason);
      return { result, plan: toPlan(draft) };
    }
    question.keys = mergeKeys(question.keys, draft.missing);
    if (draft.wanted) return { wanted: draft.wanted };
  }
  throw new Error('a decision lacks something however much is read');
}

/** What Stripe answered to one piece of work, and how often it was asked. */
export class Inquiry {
  private readonly known = new Map<
    string,
    { fetched: Fetched<Wanted[WantedKind]>; version: number | null }
  >();

  constructor(private readonly hasKey: boolean) {}

  add(wanted: Lacking['wanted'], fetched: Fetched<Wanted[WantedKind]>): void {
    this.fetches += 1;
    this.known.set(`${wanted.kind} ${wanted.id}`, { fetched, version: wanted.version });
  }

  /** An answer is valid until another decision about the Stripe customer is made. */
  readonly answers = ((kind: WantedKind, id: string, version: number | null) => {
    const answer = this.known.get(`${kind} ${id}`);
    if (answer?.version === version) return answer.fetched;
    if (!this.hasKey) return { state: 'unavailable', reason: 'no_api_key' };
    return this.fetches < MOST_FETCHES ? undefined : { state: 'unavailable', reason: 'changes_too_often' };
  }) as Answers;

  private fetches = 0;
}

/** Stripe did not answer what the daily job has to know. The object is left to its next run. */
export class NotReportedError extends Error {
  override readonly name = 'NotReportedError';
  constructor(
    what: string,
    /** Short, for tables. */
    readonly reason: string,
  ) {
    super(`Stripe did not tell ${what}`);
  }
}

export const storeOf = (deps: SyncDeps): Store => deps.store ?? databaseStore(deps.db);

export function settingsOf({ now, timeZone, linkByEmail }: SyncDeps): Settings {
  return { now: now(), timeZone, linkByEmail };
}

export const bookedOn = ({ now, timeZone }: SyncDeps) => ({
  today: toCalendarDate(now(), timeZone),
  timeZone,
});

const tails = perProcess('turns', () => new WeakMap<object, Map<string, Promise<unknown>>>());

/** Does work of one key one after the other, in the order of the calls. @param scope of the keys */
async function inTurn<T>(scope: object, key: string | null, work: () => Promise<T>): Promise<T> {
  if (key === null) return work();
  const keys = tails.get(scope) ?? new Map<string, Promise<unknown>>();
  tails.set(scope, keys);
  const before = keys.get(key);
  const done = before ? before.then(work, work) : work();
  keys.set(key, done);
  try {
    return await done;
  } finally {
    if (keys.get(key) === done) keys.delete(key);
  }
}
