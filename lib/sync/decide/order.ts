import { latest } from '../../dates';
import { fromInbox, type ProviderEvent } from '../../stripe/event';
import type { ListedKind, ProviderObjects } from '../../stripe/fetch';
import { HANDLED_EVENT_TYPES } from '../event-types';
import type { Draft } from './draft';

/** The source of an object's state, and the Stripe time of the state. */
export interface StateOrigin {
  /**
   * A `fetched` state is authoritative. Its `asOf` is never before the `provider_as_of` stored when the request began.
   */
  origin: 'event' | 'fetched' | 'listed';
  asOf: Date;
}

export type Decision<T> =
  /** The state to apply, and its time. `recheck` is true if it is uncertain whether the state is the latest. */
  { take: T; asOf: Date; recheck: boolean } | 'unchanged' | 'stale';

type Stored = { provider_as_of: Date | null; recheck_at: Date | null; provider_gone_at: Date | null };

interface Question<Kind extends ListedKind> {
  kind: Kind;
  incoming: ProviderObjects[Kind];
  stripeCustomerId: string;
  source: StateOrigin;
  /** The stored or new row. Its `provider_as_of` is null if no state was ever applied to it. */
  row: Stored;
  isStored(state: ProviderObjects[Kind]): boolean;
  /** Derives the state from the events of the same second. It is called if Stripe does not return the object. */
  decideFromInbox(): ProviderObjects[Kind];
}

/**
 * Decides whether a state replaces the stored one. The state with the later Stripe time is kept. Stripe's times are in
 * whole seconds. If a state from an event or a list differs from the stored state of the same second, Stripe is asked
 * for the current state. If Stripe does not return it, the events of that second decide. For a listed state, the
 * decision fails instead (NotReportedError).
 */
export function decideOrder<Kind extends ListedKind>(
  draft: Draft,
  { kind, incoming, stripeCustomerId, source, row, isStored, decideFromInbox }: Question<Kind>,
): Decision<ProviderObjects[Kind]> {
  const { provider_as_of: storedAsOf, recheck_at } = row;
  // If a list shows the stored state, nothing changes, not even `provider_as_of`, unless a recheck is due or the row is
  // marked as gone.
  const isInSync = () =>
    source.origin === 'listed' && !recheck_at && !row.provider_gone_at && isStored(incoming);
  const take = (asOf: Date, recheck = false) => ({ take: incoming, asOf, recheck });
  if (storedAsOf === null) return take(source.asOf);
  if (source.asOf > storedAsOf) return isInSync() ? 'unchanged' : take(source.asOf);
  if (source.asOf < storedAsOf) return 'stale';
  if (source.origin === 'fetched') return take(storedAsOf); // A fetched state is never older than the stored one.
  // While a recheck is due, the stored state may have been chosen before this event arrived. Equal states then do not
  // show which one is newer.
  const isSettled = recheck_at === null || source.origin === 'listed';
  if (isSettled && isStored(incoming)) return 'unchanged';
  const fetched = draft.ask(kind, incoming.id, stripeCustomerId);
  if (fetched.state === 'found') {
    return { take: fetched.object, asOf: latest(fetched.asOf, storedAsOf), recheck: false };
  }
  if (source.origin === 'listed') {
    draft.leave(`which of two states ${incoming.id} is in`, fetched);
    return 'unchanged';
  }
  return { take: decideFromInbox(), asOf: storedAsOf, recheck: true };
}

/** Returns the time since which a recheck is due. Returns null if none is due. Only a fetched state ends a recheck. */
export function recheckAt(draft: Draft, row: Stored, source: StateOrigin, isDoubtful: boolean): Date | null {
  if (isDoubtful) return draft.now;
  return source.origin === 'fetched' ? null : row.recheck_at;
}

/**
 * Returns an object's events of one second, including the event that is being decided. Leaves out events of unhandled
 * types and of connected accounts, and events that can never be applied.
 */
export function eventsOfSecond(draft: Draft, objectId: string, at: Date): ProviderEvent[] {
  return draft
    .events({ second: { objectId, at } })
    .filter(({ isStorable }) => isStorable)
    .map(({ payload }) => fromInbox(payload))
    .filter((event) => event.objectId === objectId && event.created.getTime() === at.getTime())
    .filter(({ account, type }) => account === null && HANDLED_EVENT_TYPES.includes(type));
}
