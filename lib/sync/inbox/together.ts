import { perProcess } from '@/db/per-process';
import type { Draft } from '../decide/draft';
import { uniteKeys } from '../store/keys';
import type { SyncDeps } from '../sync-deps';
import { Inquiry, readAndDecide } from '../sync-loop';
import { settingsOf, storeOf } from '../synchronize';
import { customerOf, type Delivery, decideDelivery, keysOfDelivery, type Taken } from './delivery';

/** So that the first does not wait for too many others. */
const MOST = 16;

interface Waiting {
  delivery: Delivery;
  /** Null: it is to be taken in alone. */
  taken?: Taken | null;
}

/** Deliveries whose turn has not come, by Stripe customer. */
const waiting = perProcess('lines', () => new WeakMap<object, Map<string, Waiting[]>>());

/**
 * Puts a delivery in line behind those of the same Stripe customer. What it returns is called when its turn has come:
 * it takes in the delivery together with those behind it, with one read, one decision after the other, and one commit.
 *
 * @returns a function that answers null where the delivery is to be taken in alone: none is behind it, Stripe has to be
 *   asked, or not all of them can be applied
 */
export function lineUp(deps: SyncDeps, delivery: Delivery): () => Promise<Taken | null> {
  const key = customerOf(delivery);
  if (key === null || delivery.again) return async () => null;
  const { scope } = storeOf(deps);
  const lines = waiting.get(scope) ?? new Map<string, Waiting[]>();
  waiting.set(scope, lines);
  const own: Waiting = { delivery };
  lines.set(key, [...(lines.get(key) ?? []), own]);
  return async () => {
    if (own.taken === undefined) await takeFirst(deps, key, lines);
    return own.taken ?? null;
  };
}

async function takeFirst(deps: SyncDeps, key: string, lines: Map<string, Waiting[]>): Promise<void> {
  const line = lines.get(key) ?? [];
  const group = line.slice(0, MOST);
  if (group.length < line.length) lines.set(key, line.slice(MOST));
  else lines.delete(key);
  // A failure is not lost: each is taken in alone then, and fails again if it was its own.
  const taken = group.length > 1 ? await takeAll(deps, key, group).catch(() => null) : null;
  for (const [i, one] of group.entries()) one.taken = taken?.[i] ?? null;
}

async function takeAll(deps: SyncDeps, key: string, group: Waiting[]): Promise<Taken[] | null> {
  const deliveries = group.map(({ delivery }) => delivery);
  const store = storeOf(deps);
  const question = {
    settings: settingsOf(deps),
    keys: uniteKeys(deliveries.map(keysOfDelivery)),
    decide: (draft: Draft) => deliveries.map((delivery) => decideDelivery(draft, delivery)),
  };
  const decided = await readAndDecide(store.read, question, new Inquiry(deps.stripe !== null));
  if ('wanted' in decided) return null;
  const { result, plan } = decided;
  // A second delivery of what is unmatched tries again, and is no duplicate.
  if (result.some(({ outcome }) => outcome === 'unmatched')) return null;
  const events = result.flatMap(({ entry }) => entry ?? []);
  if (events.length > 0) await store.commit({ plan, events, runId: null }, key);
  return result;
}
