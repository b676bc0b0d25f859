import type { WorldEvent, WorldObject } from '@/lib/stripe-local/model';

/** The types that the service promises to act on. */
export const ANNOUNCING = new Set([
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.finalized',
  'invoice.paid',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
]);

/** One moment of an object: what it was, and what said so. */
export interface Moment<T> {
  at: number;
  about: T;
  event: WorldEvent;
  isAnnounced: boolean;
}

/** What happened to each object of a kind, in its true order. */
export function storiesOf<T extends WorldObject>(
  history: readonly WorldEvent[],
  kind: T['object'],
): Map<string, Moment<T>[]> {
  const stories = new Map<string, Moment<T>[]>();
  for (const [at, event] of history.entries()) {
    if (event.about.object !== kind) continue;
    const moment = { at, about: event.about as T, event, isAnnounced: ANNOUNCING.has(event.type) };
    const story = stories.get(event.about.id);
    if (story?.at(-1)?.event.type === 'customer.subscription.deleted') continue; // whatever is told of it after that
    if (story) story.push(moment);
    else stories.set(event.about.id, [moment]);
  }
  return stories;
}

/**
 * The states that a row may be in: the last announced one, where fresher ones can be asked for those too,
 * and where nothing can be asked, what the payloads of the last second leave open.
 *
 * @param isOpen whether two states of one second cannot be told apart by their payloads
 */
export function allowedMoments<T>(
  story: Moment<T>[],
  asked: { full: boolean; canAsk: boolean; mayFail: boolean },
  candidates: (second: Moment<T>[]) => Moment<T>[],
): { allowed: Moment<T>[]; ties: number } {
  const final = story.at(-1);
  if (asked.full) return { allowed: final ? [final] : [], ties: 0 };
  const announced = story.filter((moment) => moment.isAnnounced);
  const last = announced.at(-1);
  if (!last) return { allowed: story, ties: 0 };
  const second = announced.filter(({ event }) => event.created === last.event.created);
  const open = !asked.canAsk || asked.mayFail ? candidates(second) : [last];
  const later = asked.canAsk ? story.filter(({ at }) => at >= last.at) : [last];
  return { allowed: [...later, ...open], ties: open.length };
}
