import { type Fetched, fetchObject, type ProviderObjects } from '../stripe/fetch';
import type { SyncDeps } from './sync-deps';

type Kind = keyof ProviderObjects;

/** Thrown inside a transaction that needs an object: it rolls back, the object is fetched, it runs again. */
class NeedsFetch extends Error {
  constructor(
    readonly kind: Kind,
    readonly id: string,
    readonly heldAsOf: number | null,
  ) {
    super(`needs ${kind} ${id}`);
  }
}

/** Stripe is never called inside a transaction, and never more than this often for one. */
const MAX_FETCHES = 4;

/** The objects a transaction asked for, fetched between its tries. */
export interface Lookups {
  /**
   * @param heldAsOf `provider_as_of` of the row we hold: where it moved on meanwhile, the object is
   * fetched anew
   */
  get<K extends Kind>(kind: K, id: string, heldAsOf?: Date | null): Fetched<ProviderObjects[K]>;
}

/** Runs a transaction as often as it takes to have what it asks for. */
export async function withLookups<T>(
  { stripe, now, log }: Pick<SyncDeps, 'stripe' | 'now' | 'log'>,
  work: (lookups: Lookups) => Promise<T>,
): Promise<T> {
  const known = new Map<string, { fetched: Fetched<ProviderObjects[Kind]>; heldAsOf: number | null }>();
  const get = (kind: Kind, id: string, heldAsOf: Date | null = null) => {
    const entry = known.get(`${kind} ${id}`);
    const held = heldAsOf?.getTime() ?? null;
    if (entry && (entry.heldAsOf === held || known.size >= MAX_FETCHES)) return entry.fetched;
    if (!stripe || known.size >= MAX_FETCHES) return { state: 'unavailable', reason: 'no_api_key' } as const;
    throw new NeedsFetch(kind, id, held);
  };
  for (;;) {
    try {
      return await work({ get: get as Lookups['get'] });
    } catch (error) {
      const wanted = needsFetch(error);
      if (!wanted || !stripe) throw error;
      const fetched = await fetchObject(stripe, now, wanted.kind, wanted.id);
      if (fetched.state === 'unavailable') log.warn({ ...wanted, reason: fetched.reason }, 'lookup failed');
      known.set(`${wanted.kind} ${wanted.id}`, { fetched, heldAsOf: wanted.heldAsOf });
    }
  }
}

/** Drivers may wrap what a transaction throws. */
function needsFetch(error: unknown): NeedsFetch | undefined {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof NeedsFetch) return e;
  return undefined;
}
