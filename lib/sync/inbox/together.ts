import { perProcess } from '@/db/per-process';
import type { Draft } from '../decide/draft';
import { type Keys, noKeys, uniteKeys } from '../store/keys';
import type { SyncDeps } from '../sync-deps';
import { Inquiry, type Lacking, readAndDecide } from '../sync-loop';
import { bookedOn, settingsOf, storeOf } from '../synchronize';
import { customerOf, type Delivery, decideDelivery, type Taken } from './delivery';

/** So that the first does not wait for too many others. */
const MOST = 16;

interface Waiting {
  delivery: Delivery;
  keys: Keys;
  /** Null: it is to be taken in alone. */
  taken?: Taken | null;
}

const waiting = perProcess('lines', () => new WeakMap<object, Map<string, Waiting[]>>());

/**
 * Puts a delivery in line behind those of the same Stripe customer. What it returns is called when its turn
 * has come, and takes in all that are in line by then with one read and one commit; null: take it in alone.
 */
export function lineUp(
  deps: SyncDeps,
  delivery: Delivery,
  keys: Keys,
): () => Promise<Taken | Lacking | null> {
  const key = customerOf(delivery);
  if (key === null || delivery.again) return async () => null;
  const { scope } = storeOf(deps);
  const lines = waiting.get(scope) ?? new Map<string, Waiting[]>();
  waiting.set(scope, lines);
  const own: Waiting = { delivery, keys };
  const line = lines.get(key);
  if (line) line.push(own);
  else lines.set(key, [own]);
  return async () => {
    const lacking = own.taken === undefined ? await takeFirst(deps, key, lines) : null;
    return lacking ?? own.taken ?? null;
  };
}

async function takeFirst(
  deps: SyncDeps,
  key: string,
  lines: Map<string, Waiting[]>,
): Promise<Lacking | null> {
  const group: Waiting[] = [];
  const close = () => {
    const line = lines.get(key) ?? [];
    group.push(...line.splice(0, MOST));
    if (line.length === 0) lines.delete(key);
  };
  const taken = await takeAll(deps, key, group, close).catch((error: unknown) => {
    if (group.length === 0) close();
    for (const one of group) one.taken = null;
    // A failure is not lost: each is taken in alone then, and fails again if it was its own.
    if (group.length === 1) throw error;
    return null;
  });
  const isLacking = taken !== null && 'wanted' in taken;
  for (const [i, one] of group.entries()) one.taken = isLacking ? null : (taken?.[i] ?? null);
  return isLacking && group.length === 1 ? taken : null;
}

/** @param close fills the group, when the read begins */
async function takeAll(
  deps: SyncDeps,
  key: string,
  group: Waiting[],
  close: () => void,
): Promise<Taken[] | Lacking | null> {
  const store = storeOf(deps);
  const question = {
    settings: settingsOf(deps),
    keys: noKeys(),
    decide: (draft: Draft) => group.map(({ delivery }) => decideDelivery(draft, delivery)),
  };
  const begin = () => {
    close();
    question.keys = uniteKeys(group.map(({ keys }) => keys));
    return question.keys;
  };
  const read = (keys: Keys) => store.read(group.length === 0 ? begin : keys);
  const decided = await readAndDecide(read, question, new Inquiry(deps.stripe !== null));
  if ('wanted' in decided) return decided;
  const { result, plan } = decided;
  // A second delivery of what is unmatched tries again, and is no duplicate.
  if (group.length > 1 && result.some(({ outcome }) => outcome === 'unmatched')) return null;
  const events = result.flatMap(({ entry }) => entry ?? []);
  const given = { plan, events, runId: null, bookedOn: () => bookedOn(deps) };
  if (events.length > 0) await store.commit(given, key);
  return result;
}
