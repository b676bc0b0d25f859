import { ApiError, missing, unknownParameters } from './respond';
import type { Among, Collection } from './world';

/** What a bound on a list's `created` asks of an object. */
const BOUNDS = {
  gt: (created: number, bound: number) => created > bound,
  gte: (created: number, bound: number) => created >= bound,
  lt: (created: number, bound: number) => created < bound,
  lte: (created: number, bound: number) => created <= bound,
};

export interface Query {
  /** The endpoint's own filters. */
  filters: Map<string, string>;
  created: ((created: number) => boolean)[];
  types: string[];
  expand: string[];
  limit: number;
  startingAfter: string | null;
  endingBefore: string | null;
}

/**
 * Reads a list's parameters as strictly as Stripe does.
 *
 * @param allowed names of the endpoint's own filters; `created` and `types[]` among them
 * @throws ApiError 400
 */
export function parseListQuery(params: URLSearchParams, allowed: readonly string[]): Query {
  const query: Query = {
    filters: new Map(),
    created: [],
    types: [],
    expand: [],
    limit: 10,
    startingAfter: null,
    endingBefore: null,
  };
  const unknown = [...params]
    .filter(([key, value]) => !readParameter(query, key, value, allowed))
    .map(([key]) => key);
  if (unknown.length > 0) throw unknownParameters(unknown);
  if (query.startingAfter !== null && query.endingBefore !== null) {
    throw new ApiError(
      400,
      'Received both starting_after and ending_before parameters. Please pass in only one.',
    );
  }
  return query;
}

/** A retrieve takes nothing but `expand`. */
export function parseRetrieveQuery(params: URLSearchParams): string[] {
  const unknown = [...params.keys()].filter((key) => !isArrayKey(key, 'expand'));
  if (unknown.length > 0) throw unknownParameters(unknown);
  return [...params.values()];
}

function readParameter(query: Query, key: string, value: string, allowed: readonly string[]): boolean {
  if (isArrayKey(key, 'expand')) query.expand.push(value);
  else if (key === 'limit') query.limit = Math.min(100, Math.max(1, integer(key, value)));
  else if (key === 'starting_after') query.startingAfter = value;
  else if (key === 'ending_before') query.endingBefore = value;
  else if (isArrayKey(key, 'types') && allowed.includes('types')) query.types.push(value);
  else if (key.startsWith('created') && allowed.includes('created')) return takeCreated(query, key, value);
  else if (allowed.includes(key)) query.filters.set(key, value);
  else return false;
  return true;
}

function takeCreated({ created }: Query, key: string, value: string): boolean {
  const names =
    key === 'created' ? ['gte', 'lte'] : (/^created\[(gt|gte|lt|lte)\]$/.exec(key)?.slice(1) ?? []);
  for (const name of names) {
    const bound = integer(key, value);
    created.push((at) => BOUNDS[name as keyof typeof BOUNDS](at, bound));
  }
  return names.length > 0;
}

function isArrayKey(key: string, name: string): boolean {
  return new RegExp(`^${name}\\[\\d*\\]$`).test(key);
}

function integer(param: string, value: string): number {
  if (/^-?\d+$/.test(value)) return Number(value);
  throw new ApiError(400, `Invalid integer: ${value}`, 'parameter_invalid_integer', param);
}

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
  among?: Among<T>,
): Page<T> {
  const isIn = (object: T) => query.created.every((holds) => holds(object.created)) && matches(object);
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

/** The requested value of a parameter. @throws ApiError 400 if it is not one of these values */
export function oneOf(query: Query, values: readonly string[], param = 'status'): string | undefined {
  const value = query.filters.get(param);
  if (value === undefined || values.includes(value)) return value;
  const last = values.length > 2 ? `, or ${values.at(-1)}` : ` or ${values.at(-1)}`;
  const list = `${values.slice(0, -1).join(', ')}${last}`;
  throw new ApiError(400, `Invalid ${param}: must be one of ${list}`, undefined, param);
}
