import type { Fetched } from '../stripe/fetch';
import { type Answers, Draft, type Settings, type Wanted, type WantedKind } from './decide/draft';
import { type Plan, toPlan } from './decide/plan';
import { type Keys, mergeKeys } from './store/keys';
import type { Snapshot, StoredEvent } from './store/snapshot';

/** Stripe is asked this often for one decision at most, and the database read this often. */
const MOST_FETCHES = 4;
const MOST_READS = 6;

/** What the loop stands on: a database, or the model of one. */
export interface Store {
  read(keys: Keys): Promise<Snapshot>;
  fetch: (<K extends WantedKind>(kind: K, id: string) => Promise<Fetched<Wanted[K]>>) | null;
}

/** Stripe did not tell what the daily job has to know of an object. */
export class NotToldError extends Error {
  override readonly name = 'NotToldError';
  constructor(
    what: string,
    /** Short, for tables. */
    readonly reason: string,
  ) {
    super(`Stripe did not tell ${what}`);
  }
}

/**
 * Reads, decides, and asks for what the decision lacks, until it lacks nothing.
 *
 * @throws NotToldError where the daily job has to leave it
 */
export async function settle<T>(
  store: Store,
  settings: Settings,
  keys: Keys,
  decide: (draft: Draft) => T,
  event: StoredEvent | null = null,
): Promise<{ result: T; plan: Plan; snapshot: Snapshot }> {
  const known = new Map<string, { fetched: Fetched<Wanted[WantedKind]>; version: number | null }>();
  let fetches = 0;
  const answers = ((kind: WantedKind, id: string, version: number | null) => {
    const answer = known.get(`${kind} ${id}`);
    if (answer?.version === version) return answer.fetched;
    if (!store.fetch) return { state: 'unavailable', reason: 'no_api_key' };
    return fetches < MOST_FETCHES ? undefined : { state: 'unavailable', reason: 'changes_too_often' };
  }) as Answers;
  let wanted = keys;
  for (let reads = 1; reads <= MOST_READS + MOST_FETCHES; reads += 1) {
    const snapshot = await store.read(wanted);
    const draft = new Draft(snapshot, settings, answers, event);
    const result = decide(draft);
    if (!draft.isIncomplete) {
      if (draft.untold) throw new NotToldError(draft.untold.what, draft.untold.reason);
      return { result, plan: toPlan(draft), snapshot };
    }
    wanted = mergeKeys(wanted, draft.missing);
    if (draft.wanted && store.fetch) {
      const { kind, id, version } = draft.wanted;
      known.set(`${kind} ${id}`, { fetched: await store.fetch(kind, id), version });
      fetches += 1;
    }
  }
  throw new Error('a decision lacks something at every try');
}
