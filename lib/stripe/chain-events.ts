import { asList, asObject, type Json } from './read';
import type { ProviderEvent } from './to-event';

/**
 * The last of several events of one subscription that carry the same second. `created` comes first and
 * `deleted` last; between them an update follows the event whose object is what it says was there before.
 * Arrival order decides nothing: of several possible ends the greatest event id is taken.
 */
export function lastOfSecond(events: ProviderEvent[]): ProviderEvent | undefined {
  const byId = [...events].sort((a, b) => (a.id < b.id ? 1 : -1));
  const deleted = byId.find((event) => event.type === 'customer.subscription.deleted');
  if (deleted) return deleted;
  const created = byId.find((event) => event.type === 'customer.subscription.created');
  const updates = byId
    .filter((event) => event.type === 'customer.subscription.updated')
    .slice(0, MAX_CHAINED);
  // Where one of them is missing yet, or the API version changed, what was changed must do.
  const endBy = (isNext: IsNext) => possibleEnds(created, updates, isNext)[0];
  return endBy(follows) ?? endBy(mayFollow) ?? updates[0] ?? byId[0];
}

/** More updates of one subscription in one second are not put in order: their orders would be too many. */
const MAX_CHAINED = 12;

type IsNext = (next: ProviderEvent, event: ProviderEvent) => boolean;

/** Where the orders end in which each event follows the one before, the greatest event id first. */
function possibleEnds(
  created: ProviderEvent | undefined,
  updates: ProviderEvent[],
  isNext: IsNext,
): ProviderEvent[] {
  const nextOf = new Map(
    [created, ...updates].map((event) => [
      event,
      updates.filter((next) => next !== event && (!event || isNext(next, event))),
    ]),
  );
  // What may come next depends on the last event and on those left, so each such state is looked at once.
  const known = new Map<string, Set<ProviderEvent>>();
  const endsAfter = (last: ProviderEvent | undefined, left: ProviderEvent[]): Set<ProviderEvent> => {
    if (last && left.length === 0) return new Set([last]);
    const key = [last, ...left].map((event) => event?.id).join(' ');
    const ends =
      known.get(key) ??
      new Set(
        left
          .filter((next) => nextOf.get(last)?.includes(next))
          .flatMap((next) => [
            ...endsAfter(
              next,
              left.filter((other) => other !== next),
            ),
          ]),
      );
    known.set(key, ends);
    return ends;
  };
  return [...endsAfter(created, updates)].sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** True where `next` without its change is the whole of what `event` shows. */
function follows(next: ProviderEvent, event: ProviderEvent): boolean {
  return (
    next.previousAttributes !== null && isSame(rewind(next.object, next.previousAttributes), event.object)
  );
}

/** True where `next` says that it changed what `event` shows, and shows something else itself. */
function mayFollow(next: ProviderEvent, event: ProviderEvent): boolean {
  const before = next.previousAttributes;
  if (!before || Object.keys(before).length === 0) return false;
  return (
    isSame(rewind(event.object, before), event.object) && !isSame(rewind(next.object, before), next.object)
  );
}

/** An object with its changed fields as they were before; a list that changed is given as a whole. */
function rewind(value: unknown, before: unknown): unknown {
  if (typeof before !== 'object' || before === null || Array.isArray(before)) return before;
  const object: Json = { ...asObject(value) };
  for (const [key, entry] of Object.entries(before)) object[key] = rewind(object[key], entry);
  return object;
}

/** Stripe writes null for a field that was not there. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return (a ?? null) === (b ?? null);
  if (Array.isArray(a) !== Array.isArray(b) || asList(a).length !== asList(b).length) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => isSame(Reflect.get(a, key), Reflect.get(b, key)));
}
