import type Stripe from 'stripe';
import { toCalendarDate } from '../dates';
import { fetchObject } from '../stripe/fetch';
import { fetchCollectedAt } from '../stripe/fetch-collected';
import { fetchInvoicePaid } from '../stripe/fetch-invoice-paid';
import { fetchItems } from '../stripe/fetch-items';
import type { Draft, Settings, WantedKind } from './decide/draft';
import { isEmpty, type Plan } from './decide/plan';
import { inTurn } from './in-turn';
import { isVersionConflict } from './store/commit';
import type { EventEntry } from './store/committed';
import type { Keys } from './store/keys';
import { databaseStore, type Store } from './store/store';
import type { SyncDeps } from './sync-deps';
import { type Decided, Inquiry, type Lacking, type Question, readAndDecide } from './sync-loop';

const MOST_CONFLICTS = 6;

export interface Work<T> {
  stripeCustomerId: string | null;
  keys: Keys;
  /** Asked when its turn has come: what was decided and committed with the work of others; null: nothing. */
  withOthers?(): Promise<T | Lacking | null>;
  decide(draft: Draft): T;
  /** What the inbox then says of the event that was decided on; none: what it said. */
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
export async function synchronize<T>(deps: SyncDeps, work: Work<T>): Promise<Done<T>> {
  const store = storeOf(deps);
  const inquiry = new Inquiry(deps.stripe !== null);
  const question: Question<T> = {
    settings: settingsOf(deps),
    keys: work.keys,
    decide: work.decide,
  };
  let key = work.stripeCustomerId;
  for (let conflicts = 0; ; ) {
    const attempt = async (at: Store) => {
      const together = (await work.withOthers?.()) ?? null;
      if (isLacking(together)) return together;
      if (together !== null) return { result: together, changes: [], warnings: [] };
      question.settings = settingsOf(deps); // a turn may have come late
      const decided = await readAndDecide(at.read, question, inquiry);
      if (isLacking(decided)) return decided;
      key ??= decided.plan.concerned[0] ?? null;
      return finish(at, deps, work, decided);
    };
    try {
      const done = await (conflicts === 0 ? once(store, key, attempt) : store.locked(key, attempt));
      if (!isLacking(done)) return done;
      inquiry.add(done.wanted, await ask(deps, done.wanted.kind, done.wanted.id));
    } catch (error) {
      conflicts += 1;
      if (conflicts > MOST_CONFLICTS || !isVersionConflict(error)) throw error;
    }
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

/** One at a time in this process: of two steps on one Stripe customer, one would have to begin again. */
function once<T>(store: Store, key: string | null, attempt: (store: Store) => Promise<T>): Promise<T> {
  return key === null ? attempt(store) : inTurn(store.scope, key, () => attempt(store));
}

async function finish<T>(
  store: Store,
  deps: SyncDeps,
  work: Work<T>,
  { result, plan }: Decided<T>,
): Promise<Done<T>> {
  const events = work.toEntries?.(result) ?? [];
  const done = { result, changes: plan.changes, warnings: plan.warnings };
  if (events.length === 0 && isEmpty(plan)) return done;
  const given = { plan, events, runId: work.runId ?? null, bookedOn: () => bookedOn(deps) };
  await store.commit(given, work.stripeCustomerId ?? undefined);
  return done;
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
