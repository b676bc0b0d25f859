import { isDeepStrictEqual } from 'node:util';
import { asObject, type Json } from './read';
import type { ProviderEvent } from './to-event';

/**
 * The last of several events of one subscription that carry the same second. `created` comes first and
 * `deleted` last; between them an update follows the event whose object has the values it says were there
 * before. Arrival order decides nothing: of several possible ends the greatest event id is taken.
 */
export function lastOfSecond(events: ProviderEvent[]): ProviderEvent | undefined {
  const byId = [...events].sort((a, b) => (a.id < b.id ? 1 : -1));
  const deleted = byId.find((event) => event.type === 'customer.subscription.deleted');
  if (deleted) return deleted;
  const updates = byId.filter((event) => event.type === 'customer.subscription.updated');
  const created = byId.find((event) => event.type === 'customer.subscription.created');
  return possibleEnds(created, updates.slice(0, MAX_CHAINED))[0] ?? updates[0] ?? byId[0];
}

/** More updates of one subscription in one second are not put in order: their orders would be too many. */
const MAX_CHAINED = 8;

/** Where the orders end in which each event follows the one before, the greatest event id first. */
function possibleEnds(last: ProviderEvent | undefined, left: ProviderEvent[]): ProviderEvent[] {
  if (last && left.length === 0) return [last];
  const ends = left
    .filter((next) => !last || follows(next, last))
    .flatMap((next) =>
      possibleEnds(
        next,
        left.filter((other) => other !== next),
      ),
    );
  return [...new Set(ends)].sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** True where `next` says that it changed exactly what `event` shows, and shows something else itself. */
function follows(next: ProviderEvent, event: ProviderEvent): boolean {
  const before = next.previousAttributes;
  if (!before || Object.keys(before).length === 0) return false;
  return matches(event.object, before) && !matches(next.object, before);
}

function matches(value: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(value) && part.every((entry, i) => matches(value[i], entry));
  }
  if (typeof part !== 'object' || part === null) return isDeepStrictEqual(value, part);
  const object: Json = asObject(value);
  return Object.entries(part).every(([key, entry]) => matches(object[key] ?? null, entry));
}
