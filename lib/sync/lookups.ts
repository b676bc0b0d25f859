import type Stripe from 'stripe';
import { type Fetched, fetchObject, type ProviderObjects } from '../stripe/fetch';
import { fetchCollectedAt } from '../stripe/fetch-collected';
import { fetchItems } from '../stripe/fetch-items';
import type { ProviderSubscriptionItem } from '../stripe/provider';
import type { SyncDeps } from './sync-deps';

/** What a transaction may ask for. */
interface Wanted extends ProviderObjects {
  /** All of a subscription, by its id. */
  items: ProviderSubscriptionItem[];
  /** When Stripe last collected for an invoice, by its id. */
  collectedAt: Date | null;
}
type Kind = keyof Wanted;

/** Thrown inside a transaction that needs an object: it rolls back, the object is fetched, it runs again. */
class NeedsFetch extends Error {
  constructor(
    readonly kind: Kind,
    readonly id: string,
    readonly version: number | null,
  ) {
    super(`needs ${kind} ${id}`);
  }
}

/** Stripe did not tell what the daily job has to know of an object. */
export class NotToldError extends Error {
  override readonly name = 'NotToldError';
  /** Short, for tables. */
  readonly reason: string;

  constructor(fetched: Exclude<Fetched<unknown>, { state: 'found' }>, what: string) {
    super(`Stripe did not tell ${what}`);
    this.reason = fetched.state === 'gone' ? 'gone' : fetched.reason;
  }
}

/** Stripe is never called inside a transaction, and never more than this often for one. */
const MAX_FETCHES = 4;

/** The objects a transaction asked for, fetched between its tries. */
export interface Lookups {
  /**
   * @param held `updated_at` of the row we hold, as this transaction found it: where somebody wrote it
   * meanwhile, the object is fetched anew
   */
  get<K extends Kind>(kind: K, id: string, held?: Date | null): Fetched<Wanted[K]>;
}

/** Runs a transaction as often as it takes to have what it asks for. */
export async function withLookups<T>(
  { stripe, now, log }: Pick<SyncDeps, 'stripe' | 'now' | 'log'>,
  work: (lookups: Lookups) => Promise<T>,
): Promise<T> {
  const known = new Map<string, { fetched: Fetched<Wanted[Kind]>; version: number | null }>();
  let fetches = 0;
  const get = (kind: Kind, id: string, held: Date | null = null) => {
    const entry = known.get(`${kind} ${id}`);
    const version = held?.getTime() ?? null;
    if (entry?.version === version) return entry.fetched;
    if (!stripe) return { state: 'unavailable', reason: 'no_api_key' } as const;
    if (fetches === MAX_FETCHES) return { state: 'unavailable', reason: 'changes_too_often' } as const;
    throw new NeedsFetch(kind, id, version);
  };
  for (;;) {
    try {
      return await work({ get: get as Lookups['get'] });
    } catch (error) {
      const wanted = needsFetch(error);
      if (!wanted || !stripe) throw error;
      const fetched = await fetch(stripe, now, wanted);
      if (fetched.state === 'unavailable') log.warn({ ...wanted, reason: fetched.reason }, 'lookup failed');
      fetches += 1;
      known.set(`${wanted.kind} ${wanted.id}`, { fetched, version: wanted.version });
    }
  }
}

function fetch(stripe: Stripe, now: () => Date, { kind, id }: NeedsFetch): Promise<Fetched<Wanted[Kind]>> {
  if (kind === 'items') return fetchItems(stripe, now, id);
  return kind === 'collectedAt' ? fetchCollectedAt(stripe, now, id) : fetchObject(stripe, now, kind, id);
}

/** Drivers may wrap what a transaction throws. */
function needsFetch(error: unknown): NeedsFetch | undefined {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof NeedsFetch) return e;
  return undefined;
}
