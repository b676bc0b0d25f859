import { ApiError, invalidInteger, unknownParameters } from './errors';

/** Bounds on a list's `created`, each null where not given. */
export interface Range {
  gt: number | null;
  gte: number | null;
  lt: number | null;
  lte: number | null;
}

export interface Query {
  /** The endpoint's own filters. */
  filters: Map<string, string>;
  created: Range;
  types: string[];
  expand: string[];
  limit: number;
  startingAfter: string | null;
  endingBefore: string | null;
}

const NO_RANGE: Range = { gt: null, gte: null, lt: null, lte: null };

/**
 * Reads a list's parameters as strictly as Stripe does.
 *
 * @param allowed names of the endpoint's own filters; `created` and `types[]` among them
 * @throws ApiError 400
 */
export function parseListQuery(params: URLSearchParams, allowed: readonly string[]): Query {
  const query: Query = {
    filters: new Map(),
    created: { ...NO_RANGE },
    types: [],
    expand: [],
    limit: 10,
    startingAfter: null,
    endingBefore: null,
  };
  const unknown = [...params].filter(([key, value]) => !take(query, key, value, allowed)).map(([key]) => key);
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

function take(query: Query, key: string, value: string, allowed: readonly string[]): boolean {
  if (isArrayKey(key, 'expand')) query.expand.push(value);
  else if (key === 'limit') query.limit = Math.min(100, Math.max(1, integer(key, value)));
  else if (key === 'starting_after') query.startingAfter = value;
  else if (key === 'ending_before') query.endingBefore = value;
  else if (isArrayKey(key, 'types') && allowed.includes('types')) query.types.push(value);
  else if (key.startsWith('created') && allowed.includes('created'))
    return takeCreated(query.created, key, value);
  else if (allowed.includes(key)) query.filters.set(key, value);
  else return false;
  return true;
}

function takeCreated(range: Range, key: string, value: string): boolean {
  if (key === 'created') {
    range.gte = integer(key, value);
    range.lte = range.gte;
    return true;
  }
  const bound = /^created\[(gt|gte|lt|lte)\]$/.exec(key)?.[1] as keyof Range | undefined;
  if (bound) range[bound] = integer(key, value);
  return bound !== undefined;
}

function isArrayKey(key: string, name: string): boolean {
  return new RegExp(`^${name}\\[\\d*\\]$`).test(key);
}

function integer(param: string, value: string): number {
  if (!/^-?\d+$/.test(value)) throw invalidInteger(param, value);
  return Number(value);
}
