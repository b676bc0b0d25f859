import { latest } from '../../dates';
import { fromInbox, type ProviderEvent } from '../../stripe/event';
import type { ProviderObjects } from '../../stripe/fetch';
import { HANDLED_EVENT_TYPES } from '../event-types';
import type { Draft } from './draft';

/** Where a state of an object comes from, and as of when it holds. */
export interface StateOrigin {
  /** `fetched`: by itself, the truth as of then, never earlier than what was stored when the request began. */
  origin: 'event' | 'fetched' | 'listed';
  asOf: Date;
}

export type Decision<T> =
  /** Take this state, as of this time; recheck if the order of two states is uncertain. */
  { take: T; asOf: Date; recheck: boolean } | 'unchanged' | 'stale';

type Stored = { provider_as_of: Date | null; recheck_at: Date | null; provider_gone_at: Date | null };

export type Ordered = Exclude<keyof ProviderObjects, 'customer'>;

interface Question<Kind extends Ordered> {
  kind: Kind;
  incoming: ProviderObjects[Kind];
  stripeCustomerId: string;
  source: StateOrigin;
  /** The row; one without any state is a stub. */
  row: Stored;
  isStored(state: ProviderObjects[Kind]): boolean;
  /** The state that the events of this second lead to, where Stripe cannot be asked. */
  decideFromInbox(): ProviderObjects[Kind];
}

/** Stripe's time decides; within one second, its resolution, Stripe's answer or, failing that, that second's payloads. */
export function decideOrder<Kind extends Ordered>(
  draft: Draft,
  { kind, incoming, stripeCustomerId, source, row, isStored, decideFromInbox }: Question<Kind>,
): Decision<ProviderObjects[Kind]> {
  const { provider_as_of: storedAsOf, recheck_at } = row;
  // A list that shows what is stored changes nothing, not even the time as of which it is stored.
  const isInSync = () =>
    source.origin === 'listed' && !recheck_at && !row.provider_gone_at && isStored(incoming);
  const take = (asOf: Date, recheck = false) => ({ take: incoming, asOf, recheck });
  if (storedAsOf === null) return take(source.asOf);
  if (source.asOf > storedAsOf) return isInSync() ? 'unchanged' : take(source.asOf);
  if (source.asOf < storedAsOf) return 'stale';
  if (source.origin === 'fetched') return take(storedAsOf); // the fetch began after what is stored
  // While a recheck is due, the tie may have been decided without this event: an equal state proves nothing.
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

/** Only Stripe's own answer ends a doubt. */
export function recheckAt(draft: Draft, row: Stored, source: StateOrigin, isDoubtful: boolean): Date | null {
  if (isDoubtful) return draft.now;
  return source.origin === 'fetched' ? null : row.recheck_at;
}

/** Including the one that is decided on; types that change nothing elsewhere are left out here, too. */
export function eventsOfSecond(draft: Draft, objectId: string, at: Date): ProviderEvent[] {
  return draft
    .events({ second: { objectId, at } })
    .filter(({ isStorable }) => isStorable)
    .map(({ payload }) => fromInbox(payload))
    .filter((event) => event.objectId === objectId && event.created.getTime() === at.getTime())
    .filter(({ account, type }) => account === null && HANDLED_EVENT_TYPES.includes(type));
}
