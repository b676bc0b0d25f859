import { channel } from 'node:diagnostics_channel';
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { type Database, isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { customers, payments, stripeCustomers, stripeEvents } from '@/db/schema';
import type { StripeMode } from '../../env';
import { AppError } from '../../errors';
import { literal } from '../../page-query';
import type { EventEntry } from '../../store/commit';
import { type Keys, keysOf, mergeKeys, noKeys, type StoredOutcome, uniteKeys } from '../../store/snapshot';
import {
  fromInbox,
  intentsOf,
  type ProviderEvent,
  toProviderEvent,
  withoutPersonalData,
} from '../../stripe/event';
import { UnstorableError } from '../../stripe/read';
import type { Draft } from '../decide/draft';
import { decideEvent, keysOfEvent } from '../decide/event';
import { type HandledEvent, isHandled, THIN_WARNING } from '../event-types';
import { LeaseLostError } from '../reconcile/run';
import type { SyncDeps } from '../sync-deps';
import {
  attemptOf,
  bookedOn,
  inquiryOf,
  type Lacking,
  readAndDecide,
  settingsOf,
  storeOf,
  untilDone,
} from '../synchronize';

/** Name of the diagnostics channel on which each `HandledDelivery` is published. */
export const HANDLED_EVENTS = 'w5t.handled-events';
const handledEvents = channel(HANDLED_EVENTS);

const OUTCOMES = ['processed', 'duplicate', 'stale', 'ignored', 'unmatched'] as const;
export type EventOutcome = (typeof OUTCOMES)[number];
/** All outcomes of a `HandledDelivery`. */
export const HANDLED_OUTCOMES = [...OUTCOMES, 'failed'] as const;

/** The result of handling an event from a webhook, a replay or a reconciliation run. */
export interface HandledDelivery {
  outcome: (typeof HANDLED_OUTCOMES)[number];
  /** Time from the event's creation at Stripe until it was handled, in milliseconds. */
  lagMs: number;
}

/**
 * Commits an event's changes and inbox row. If this fails, stores the event as failed, unless the database is
 * unavailable, and rethrows the error. Stores nothing if the reconciliation run that retries the event has lost its
 * lease, because the run's new process retries the event.
 */
export async function handleEvent(
  deps: SyncDeps,
  event: ProviderEvent,
  payload: string,
  { again = false }: { again?: boolean } = {},
): Promise<EventOutcome> {
  try {
    const { mode } = deps;
    const expectedMode = mode !== null && event.livemode !== (mode === 'live') ? mode : null;
    const outcome = await takeIn(deps, { event, payload, expectedMode, again });
    publish(deps, event, outcome);
    return outcome;
  } catch (error) {
    if (error instanceof LeaseLostError) throw error;
    publish(deps, event, 'failed');
    if (!isDatabaseUnavailable(error))
      await failEvent(deps.db, event, payload, errorCode(error), reasonOf(error));
    throw error;
  }
}

function publish({ now }: SyncDeps, { created }: ProviderEvent, outcome: HandledDelivery['outcome']): void {
  if (!handledEvents.hasSubscribers) return;
  handledEvents.publish({ outcome, lagMs: now().getTime() - created.getTime() } satisfies HandledDelivery);
}

/**
 * Applies a stored event again.
 *
 * @throws AppError not_found; conflict if its body was dropped; any error of `handleEvent`
 */
export async function replayEvent(deps: SyncDeps, id: string): Promise<EventOutcome> {
  const [stored] = await deps.db
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(eq(stripeEvents.id, id));
  if (stored?.payload === '')
    throw new AppError('conflict', 'This event is too old to replay: its body is no longer stored.');
  const event = stored && toProviderEvent(JSON.parse(stored.payload));
  if (!event) throw new AppError('not_found', `There is no event ${id} in the inbox.`);
  return handleEvent(deps, event, stored.payload, { again: true });
}

export async function takeIn(deps: SyncDeps, delivery: Delivery): Promise<EventOutcome> {
  const keys = keysOfDelivery(delivery); // This throws if a value of the event cannot be stored.
  const alone = attemptOf(deps, {
    stripeCustomerId: customerOf(delivery),
    keys,
    decide: (draft) => decideDelivery(draft, delivery),
    toEntries: ({ entry }) => (entry ? [entry] : []),
  });
  const takeTogether = lineUp(deps, delivery, keys);
  const { result } = await untilDone(deps, customerOf(delivery), async (store, known) => {
    const taken = await takeTogether();
    if (taken === null) return alone(store, known);
    return 'wanted' in taken ? taken : { result: taken, changes: [], warnings: [] };
  });
  const { outcome, entry } = result;
  const warnings = entry?.warnings ?? [];
  if (warnings.length > 0) deps.log.warn({ event: delivery.event.id, warnings }, 'event left questions');
  return outcome;
}

/** Returns a short code without personal data: an SQLSTATE, or the name of the error. */
function errorCode(error: unknown): string {
  return pgErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
}

const reasonOf = (error: unknown) => (error instanceof UnstorableError ? error.message : null);

/** Maximum number of deliveries in a group. It limits how long the first delivery waits. */
const MOST = 16;

interface Waiting {
  delivery: Delivery;
  keys: Keys;
  /**
   * Result of the delivery. Null if the delivery must be processed alone. Undefined until its group has been processed.
   */
  taken?: Taken | null;
}

const waiting = perProcess('lines', () => new WeakMap<object, Map<string, Waiting[]>>());

/**
 * Queues a delivery behind other deliveries of its Stripe customer. Returns a function to call at the delivery's turn.
 * If the delivery has not been processed in an earlier turn, the function processes up to `MOST` queued deliveries as
 * one group. It returns this delivery's result, the question that Stripe must answer first, or null if the delivery
 * must be processed alone.
 */
function lineUp(deps: SyncDeps, delivery: Delivery, keys: Keys): () => Promise<Taken | Lacking | null> {
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
    // Each delivery of a failed group is processed alone, so that only the delivery that causes the error fails again.
    if (group.length === 1) throw error;
    return null;
  });
  const isLacking = taken !== null && 'wanted' in taken;
  for (const [i, one] of group.entries()) one.taken = isLacking ? null : (taken?.[i] ?? null);
  return isLacking && group.length === 1 ? taken : null;
}

/**
 * Processes a group of deliveries with shared reads and one commit.
 *
 * @param close function that adds waiting deliveries to `group`; it is called just before the first read, so that late
 *   deliveries can still be added
 */
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
  const decided = await readAndDecide(read, question, inquiryOf(deps));
  if ('wanted' in decided) return decided;
  const { result, plan } = decided;
  // A second delivery of an unmatched event must be tried again. Within the group it would count as a duplicate.
  if (group.length > 1 && result.some(({ outcome }) => outcome === 'unmatched')) return null;
  const events = result.flatMap(({ entry }) => entry ?? []);
  const given = { plan, events, runId: null, bookedOn: () => bookedOn(deps) };
  if (events.length > 0) await store.commit(given, key);
  return result;
}

/**
 * Stores an event as failed, with the body of this delivery. If the event mentions an erased customer, removes personal
 * data from the body. Changes nothing if another delivery has already reached a final outcome.
 *
 * @param failure_reason why the event can never be applied; null if a retry may succeed
 */
export async function failEvent(
  db: Database,
  event: ProviderEvent,
  payload: string,
  error_code: string,
  failure_reason: string | null = null,
): Promise<void> {
  const isErased = await tellsOfErased(db, { event, payload });
  const { id, ...told } = toRow(event, isErased ? withoutPersonalData(payload) : payload);
  const failed = { ...told, outcome: 'failed' as const, error_code, failure_reason };
  await db
    .insert(stripeEvents)
    .values({ id, ...failed })
    .onConflictDoUpdate({
      target: stripeEvents.id,
      set: { ...failed, attempts: sql`${stripeEvents.attempts} + 1` },
      setWhere: sql`${stripeEvents.outcome} in ('failed', 'unmatched')`,
    });
}

/** Returns whether the event mentions an erased customer. Takes no lock, because a lock may have caused the failure. */
async function tellsOfErased(db: Database, text: EventText): Promise<boolean> {
  const [found] = await db
    .select({ id: customers.id })
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(
      and(
        inArray(stripeCustomers.stripe_customer_id, stripeCustomersIn(text)),
        isNotNull(customers.erased_at),
      ),
    )
    .limit(literal(1));
  if (found) return true;
  const [paid] = await db
    .select({ id: customers.id })
    .from(payments)
    .innerJoin(customers, eq(customers.id, payments.customer_id))
    .where(
      and(inArray(payments.stripe_payment_intent_id, intentsOf(text.event)), isNotNull(customers.erased_at)),
    )
    .limit(literal(1));
  return paid !== undefined;
}

interface Delivery {
  event: ProviderEvent;
  payload: string;
  /** Mode of the configured keys if it differs from the event's mode. Null if the event's mode is accepted. */
  expectedMode: StripeMode | null;
  /** Whether to apply the event even if it was applied before. */
  again: boolean;
}

interface Taken {
  outcome: EventOutcome;
  /** The inbox row to write. Null if the stored row does not change. */
  entry: EventEntry | null;
}

function customerOf(delivery: Delivery): string | null {
  return handledOf(delivery)?.stripeCustomerId ?? null;
}

export function keysOfDelivery(delivery: Delivery): Keys {
  const handled = handledOf(delivery);
  const keys = handled ? keysOfEvent(handled) : keysOf({ events: [delivery.event.id] });
  return mergeKeys(keys, {
    stripeCustomers: stripeCustomersIn(delivery),
    intents: intentsOf(delivery.event),
  });
}

export function decideDelivery(draft: Draft, delivered: Delivery): Taken {
  const before = draft.snapshot.events.get(delivered.event.id);
  const isKnown =
    draft.arrived.has(delivered.event.id) ||
    (before !== undefined && isSettled(before.outcome) && !delivered.again);
  if (isKnown) return { outcome: 'duplicate', entry: null };
  const owners = ownersOf(draft, delivered);
  const isOfErased = owners.some((id) => isErased(draft, id));
  const delivery = isOfErased ? toReduced(delivered) : delivered;
  const { event, payload, expectedMode } = delivery;
  const arrived = {
    id: event.id,
    outcome: 'failed' as StoredOutcome,
    attempts: 1,
    payload,
    checkout: null,
    isStorable: true,
  };
  draft.arrived.set(event.id, arrived);
  const known = draft.changes.length;
  draft.warnings.clear();
  if (event.isThin) draft.warnings.add(THIN_WARNING);
  else if (expectedMode) draft.warnings.add(wrongMode(event, expectedMode));
  const handled = handledOf(delivery);
  const outcome = handled ? decideEvent(draft, handled) : 'ignored';
  arrived.outcome = outcome;
  const entry: EventEntry = {
    ...toRow(event, payload),
    owners: isOfErased ? [] : owners,
    outcome,
    processed_at: draft.now,
    warnings: [...draft.warnings],
    changes: draft.changes.slice(known),
    before: before ? `${before.outcome} ${before.attempts}` : null,
  };
  return { outcome, entry };
}

/** Final outcomes. If an event with another outcome is delivered again, it is tried again. */
const SETTLED: StoredOutcome[] = ['processed', 'stale', 'ignored'];

export const isSettled = (outcome: StoredOutcome) => SETTLED.includes(outcome);

/** Removes personal data from the event of an erased customer, before the event is decided or stored. */
function toReduced(delivery: Delivery): Delivery {
  const payload = withoutPersonalData(delivery.payload);
  return { ...delivery, event: fromInbox(payload), payload };
}

/** Returns null for events that are thin, unhandled, in the other mode, or of a connected account. */
function handledOf({ event, expectedMode }: Delivery): HandledEvent | null {
  const isOurs = expectedMode === null && event.account === null;
  return isOurs && !event.isThin && isHandled(event) ? event : null;
}

function wrongMode({ livemode }: ProviderEvent, mode: StripeMode): string {
  return `a ${livemode ? 'live' : 'test'} event, while the configured keys are ${mode} keys`;
}

/** Returns the inbox columns that depend only on the event and its body, not on the outcome. */
export function toRow(event: ProviderEvent, payload: string) {
  return {
    id: event.id,
    type: event.type,
    api_version: event.apiVersion,
    livemode: event.livemode,
    stripe_created: event.created,
    object_id: event.objectId,
    stripe_customer_id: event.stripeCustomerId,
    payload,
  };
}

/** The fields of a delivery in which Stripe customers may be mentioned. */
type EventText = Pick<Delivery, 'event' | 'payload'>;

/**
 * Returns the Stripe customers that an event mentions anywhere, at most `MOST_NAMED`. If the event's object contains a
 * payment intent but no customer, as a dispute does, also returns the Stripe customer of the intent's payment.
 */
function ownersOf(draft: Draft, text: EventText): string[] {
  const payers = intentsOf(text.event).flatMap((id) =>
    draft.paymentsByIntent(id).map((row) => draft.ownerOf(row)),
  );
  return [...new Set([...stripeCustomersIn(text), ...payers])].filter((id) => id !== null);
}

function isErased(draft: Draft, stripeCustomerId: string): boolean {
  const link = draft.link(stripeCustomerId);
  return Boolean(link && draft.customers.get(link.customer_id)?.erased_at);
}

/** Maximum number of Stripe customer ids to extract from one event. */
const MOST_NAMED = 20;

function stripeCustomersIn({ event: { stripeCustomerId: own }, payload }: EventText): string[] {
  const named = payload.match(/\bcus_\w{1,100}/g) ?? [];
  return [...new Set(own === null ? named : [own, ...named])].slice(0, MOST_NAMED);
}
