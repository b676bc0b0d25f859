import type { Collection } from './collection';
import { missing } from './errors';
import type { Query, Range } from './query';

export interface Page<T> {
  data: T[];
  hasMore: boolean;
}

/**
 * One page, newest first. A cursor must be in the filtered list, or have been deleted from it.
 *
 * @param among an indexed field that narrows the walk
 * @throws ApiError 400 resource_missing
 */
export function listPage<T extends { id: string; created: number }>(
  collection: Collection<T>,
  query: Query,
  noun: string,
  matches: (object: T) => boolean,
  among?: { field: keyof T; value: unknown },
): Page<T> {
  const isIn = (object: T) => within(object.created, query.created) && matches(object);
  const cursor = (id: string, param: string) => {
    const object = collection.get(id);
    const place = collection.place(id);
    const left = object !== undefined && !isDeleted(object) && !isIn(object);
    if (!place || left) throw missing(noun, id, param);
    return place;
  };
  if (query.endingBefore !== null) {
    const from = cursor(query.endingBefore, 'ending_before');
    const { data, hasMore } = take(collection.newer(from, among), query, isIn);
    return { data: data.reverse(), hasMore };
  }
  const from = query.startingAfter === null ? undefined : cursor(query.startingAfter, 'starting_after');
  return take(collection.older(from, among), query, isIn);
}

/** One page of a short list in its own order. */
export function slicePage<T extends { id: string }>(
  items: readonly T[],
  query: Query,
  noun: string,
): Page<T> {
  const at = (id: string, param: string) => {
    const index = items.findIndex((item) => item.id === id);
    if (index < 0) throw missing(noun, id, param);
    return index;
  };
  if (query.endingBefore !== null) {
    const end = at(query.endingBefore, 'ending_before');
    const start = Math.max(0, end - query.limit);
    return { data: items.slice(start, end), hasMore: start > 0 };
  }
  const start = query.startingAfter === null ? 0 : at(query.startingAfter, 'starting_after') + 1;
  return { data: items.slice(start, start + query.limit), hasMore: start + query.limit < items.length };
}

function take<T>(objects: Iterable<T>, query: Query, isIn: (object: T) => boolean): Page<T> {
  const data: T[] = [];
  for (const object of objects) {
    if (!isIn(object)) continue;
    if (data.length === query.limit) return { data, hasMore: true };
    data.push(object);
  }
  return { data, hasMore: false };
}

// A deleted customer is kept, since it can still be retrieved.
function isDeleted(object: object): boolean {
  return 'deleted' in object && object.deleted === true;
}

function within(created: number, range: Range): boolean {
  return (
    (range.gt === null || created > range.gt) &&
    (range.gte === null || created >= range.gte) &&
    (range.lt === null || created < range.lt) &&
    (range.lte === null || created <= range.lte)
  );
}
