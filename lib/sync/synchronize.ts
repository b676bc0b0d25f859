import type Stripe from 'stripe';
import { perProcess } from '@/db/per-process';
import { toCalendarDate } from '../dates';
import { type EventEntry, isVersionConflict } from '../store/commit';
import { isEmpty, type Keys, mergeKeys, type Plan, type Snapshot } from '../store/snapshot';
import { databaseStore, type Store } from '../store/store';
import {
  type Fetched,
  fetchCollection,
  fetchInvoicePaid,
  fetchItems,
  fetchLines,
  fetchObject,
} from '../stripe/fetch';
import { type Answers, Draft, type Settings, type Wanted, type WantedKind } from './decide/draft';
import { toPlan } from './decide/plan';
import type { SyncDeps } from './sync-deps';

/** Maximum number of restarts after conflicts. */
const MOST_CONFLICTS = 6;
/** Maximum number of lookups at Stripe for one unit of work. */
const MOST_FETCHES = 6;
/** Maximum number of snapshots to read in one attempt. */
const MOST_READS = 8;

export interface Work<T> {
  stripeCustomerId: string | null;
  keys: Keys;
  decide(draft: Draft): T;
  /** Returns the inbox rows to commit together with the decision. If absent, no inbox row is written. */
  toEntries?(result: T): EventEntry[];
  runId?: number;
}

export interface Done<T> {
  result: T;
  changes: Plan['changes'];
  warnings: string[];
}

/**
 * Reads, decides and commits. If another transaction has changed a row since the read, repeats all steps under the lock
 * of the Stripe customer. Asks Stripe while nothing is locked. An event that is delivered twice is applied once. Within
 * a process, deliveries of one Stripe customer run one after the other. Between processes, the later commit finds a
 * newer row version, or the event itself, and starts again.
 */
export function synchronize<T>(deps: SyncDeps, work: Work<T>): Promise<Done<T>> {
  return untilDone(deps, work.stripeCustomerId, attemptOf(deps, work));
}

/** Reads, decides and commits once. Returns the question to Stripe if the decision needs an answer first. */
export type Attempt<T> = (store: Store, known: Known) => Promise<T | Lacking>;

/** State that one attempt at a unit of work passes to the next attempt. */
interface Known {
  inquiry: Inquiry;
  /** Id of the Stripe customer to lock after a conflict. Null until the work or a decision has named one. */
  key: string | null;
}

/**
 * Repeats an attempt until it is done. Asks Stripe between attempts. After a conflict, locks the Stripe customer.
 *
 * @throws the conflict if the attempt also conflicts after six restarts
 */
export async function untilDone<T>(
  deps: SyncDeps,
  stripeCustomerId: string | null,
  attempt: Attempt<T>,
): Promise<T> {
  const store = storeOf(deps);
  const known: Known = { inquiry: inquiryOf(deps), key: stripeCustomerId };
  for (let conflicts = 0; ; ) {
    const { key } = known;
    try {
      const done = await (conflicts > 0
        ? store.locked(key, (locked) => attempt(locked, known))
        : // Concurrent attempts for one Stripe customer would conflict, so run them one after the other.
          inTurn(store.scope, key, () => attempt(store, known)));
      if (!isLacking(done)) return done;
      known.inquiry.add(done.wanted, await ask(deps, done.wanted.kind, done.wanted.id));
      await deps.afterQuestion?.();
    } catch (error) {
      conflicts += 1;
      if (conflicts > MOST_CONFLICTS || !isVersionConflict(error)) throw error;
    }
  }
}

/** Creates the attempt of `synchronize`. Repeated attempts also read the keys that earlier attempts lacked. */
export function attemptOf<T>(deps: SyncDeps, work: Work<T>): Attempt<Done<T>> {
  let { keys } = work;
  return async (store, known) => {
    // Read the clock now, because the attempt may have waited for its turn.
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
  if (!stripe) throw new Error('a question was asked without an API key');
  const fetched = await fetchWanted(stripe, now, kind, id);
  if (fetched.state === 'unavailable') log.warn({ kind, id, reason: fetched.reason }, 'lookup failed');
  return fetched;
}

function fetchWanted(stripe: Stripe, now: () => Date, kind: WantedKind, id: string) {
  if (kind === 'items') return fetchItems(stripe, now, id);
  if (kind === 'lines') return fetchLines(stripe, now, id);
  if (kind === 'collection') return fetchCollection(stripe, now, id);
  if (kind === 'invoicePaid') return fetchInvoicePaid(stripe, now, id);
  return fetchObject(stripe, now, kind, id);
}

const isLacking = (of: unknown): of is Lacking => typeof of === 'object' && of !== null && 'wanted' in of;

interface Question<T> {
  settings: Settings;
  /** Keys of the first snapshot. `readAndDecide` adds the keys that the decision lacked. */
  keys: Keys;
  decide(draft: Draft): T;
}

export interface Lacking {
  wanted: NonNullable<Draft['wanted']>;
}

/**
 * Reads a snapshot and decides. Repeats both with more keys until the decision lacks no row. If Stripe must be asked
 * first, returns the question.
 *
 * @throws NotReportedError if Stripe did not give a necessary answer, or cannot be asked because there is no API key
 */
export async function readAndDecide<T>(
  read: (keys: Keys) => Promise<Snapshot>,
  question: Question<T>,
  inquiry: Inquiry,
): Promise<{ result: T; plan: Plan } | Lacking> {
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

/** Stripe's answers to the questions of one unit of work. Limits the number of questions. */
export class Inquiry {
  private readonly known = new Map<
    string,
    { fetched: Fetched<Wanted[WantedKind]>; version: number | null }
  >();

  /** @param silence why Stripe cannot be asked; null if it can */
  constructor(private readonly silence: string | null = 'no_api_key') {}

  add(wanted: Lacking['wanted'], fetched: Fetched<Wanted[WantedKind]>): void {
    this.fetches += 1;
    this.known.set(`${wanted.kind} ${wanted.id}`, { fetched, version: wanted.version });
  }

  /**
   * Returns Stripe's answer for this version, or undefined if Stripe must be asked first. If Stripe cannot be
   * asked, or after too many questions, the answer is `unavailable`.
   */
  readonly answers = ((kind: WantedKind, id: string, version: number | null) => {
    const answer = this.known.get(`${kind} ${id}`);
    if (answer?.version === version) return answer.fetched;
    if (this.silence !== null) return { state: 'unavailable', reason: this.silence };
    return this.fetches < MOST_FETCHES ? undefined : { state: 'unavailable', reason: 'changes_too_often' };
  }) as Answers;

  private fetches = 0;
}

/**
 * Thrown if Stripe did not give an answer that a decision needs, so that nothing was committed. The next reconciliation
 * run retries the event, or the object that a run could not reconcile.
 */
export class NotReportedError extends Error {
  override readonly name = 'NotReportedError';
  constructor(
    what: string,
    /** Short error code, such as `stripe_connection`, for tables of failures. */
    readonly reason: string,
  ) {
    super(`Stripe did not tell ${what}`);
  }
}

export const inquiryOf = ({ stripe, stripeError }: SyncDeps): Inquiry =>
  new Inquiry(stripe ? null : stripeError);

export const storeOf = (deps: SyncDeps): Store => deps.store ?? databaseStore(deps.db);

export function settingsOf({ now, timeZone, linkByEmail }: SyncDeps): Settings {
  return { now: now(), timeZone, linkByEmail };
}

export const bookedOn = ({ now, timeZone }: SyncDeps) => ({
  today: toCalendarDate(now(), timeZone),
  timeZone,
});

const tails = perProcess('turns', () => new WeakMap<object, Map<string, Promise<unknown>>>());

/** Runs calls with the same key one after the other, but only within a scope. Without a key, runs immediately. */
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
