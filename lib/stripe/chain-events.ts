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
  const ends = updates.filter((event) => !updates.some((next) => next !== event && follows(next, event)));
  return ends[0] ?? updates[0] ?? byId[0];
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
