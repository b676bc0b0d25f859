import type { WorldEvent } from '../model';
import { renderObject } from './object';
import { type Json, shapeOf } from './shape';

/** An event as an endpoint of this API version receives it. */
export function renderEvent(event: WorldEvent, apiVersion: string): Json {
  const shape = shapeOf(apiVersion);
  const object = renderObject(event.about, shape);
  return {
    id: event.id,
    object: 'event',
    api_version: apiVersion,
    created: event.created,
    data: {
      object,
      ...(event.previous && {
        previous_attributes: previousAttributes(renderObject(event.previous, shape), object),
      }),
    },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: event.type,
  };
}

/** What the changed fields held before: hashes field by field, lists as a whole, null where nothing was. */
export function previousAttributes(before: Json, after: Json): Json {
  const changed: Json = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = before[key] ?? null;
    const now = after[key] ?? null;
    if (isSame(old, now)) continue;
    changed[key] = isHash(old) && isHash(now) ? previousAttributes(old, now) : old;
  }
  return changed;
}

/** Most values are plain, and told apart without their text. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

function isHash(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
