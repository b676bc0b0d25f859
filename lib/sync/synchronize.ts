import { setTimeout as sleep } from 'node:timers/promises';
import { writeInTurn } from '@/db/transaction';
import { fetchObject } from '../stripe/fetch';
import { fetchCollectedAt } from '../stripe/fetch-collected';
import { fetchItems } from '../stripe/fetch-items';
import type { Draft } from './decide/draft';
import { isEmpty } from './decide/plan';
import { inTurn } from './in-turn';
import { commit, type EventEntry, isVersionConflict } from './store/commit';
import type { Keys } from './store/keys';
import { read } from './store/read';
import type { Snapshot, StoredEvent } from './store/snapshot';
import type { SyncDeps } from './sync-deps';
import { type Store, settle } from './sync-loop';

const MOST_TRIES = 8;

export interface Work<T> {
  /** The Stripe customer that it is about, as far as that is known: one decision at a time. */
  stripeCustomerId: string | null;
  keys: Keys;
  decide(draft: Draft): T;
  /** The event that is decided on; `null` of `store` leaves the inbox as it is. */
  event?: StoredEvent | null;
  store?(result: T, snapshot: Snapshot): EventEntry | null;
  runId?: number | null;
}

/**
 * One step of sync: reads, decides, commits; and again, where somebody else wrote in between.
 *
 * @returns what was decided, and how many fields it changed
 */
export async function synchronize<T>(
  deps: SyncDeps,
  { stripeCustomerId, keys, decide, event = null, store, runId = null }: Work<T>,
): Promise<{ result: T; changes: number; warnings: string[] }> {
  const { timeZone, linkByEmail } = deps;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const settings = { now: deps.now(), timeZone, linkByEmail };
      const { result, plan, snapshot } = await settle(storeOf(deps), settings, keys, decide, event);
      const entry = store?.(result, snapshot) ?? null;
      if (entry === null && isEmpty(plan)) return { result, changes: 0, warnings: plan.warnings };
      await writeInTurn(deps.db, stripeCustomerId ?? undefined, () =>
        commit(deps.db, { plan, event: entry, runId }),
      );
      return { result, changes: plan.changes.length, warnings: plan.warnings };
    } catch (error) {
      if (attempt === MOST_TRIES || !isVersionConflict(error)) throw error;
      await sleep(2 ** attempt);
    }
  }
}

/** The same, one at a time of each Stripe customer within this process. */
export function synchronizeInTurn<T>(deps: SyncDeps, work: Work<T>) {
  const { stripeCustomerId } = work;
  const run = () => synchronize(deps, work);
  return stripeCustomerId === null ? run() : inTurn(deps.db, stripeCustomerId, run);
}

function storeOf({ db, stripe, now, log }: SyncDeps): Store {
  if (!stripe) return { read: (keys) => read(db, keys), fetch: null };
  const fetch = async (kind: string, id: string) => {
    const fetched =
      kind === 'items'
        ? await fetchItems(stripe, now, id)
        : kind === 'collectedAt'
          ? await fetchCollectedAt(stripe, now, id)
          : await fetchObject(stripe, now, kind as 'customer', id);
    if (fetched.state === 'unavailable') log.warn({ kind, id, reason: fetched.reason }, 'lookup failed');
    return fetched;
  };
  return { read: (keys) => read(db, keys), fetch: fetch as NonNullable<Store['fetch']> };
}
