import { findCharge } from './charges';
import type { Invoice, InvoicePayment, Subscription } from './model';
import { ApiError, invalidInteger, missing, missingParameter, unknownParameters } from './respond';
import type { Collection, World } from './world';

/** Bounds on a list's `created`, each null where not given. */
interface Range {
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

const SUBSCRIPTION_STATUSES = [
  'active',
  'past_due',
  'unpaid',
  'canceled',
  'incomplete',
  'incomplete_expired',
  'trialing',
  'paused',
  'all',
  'ended',
];

/** Without a status, those that are not canceled. */
export function matchesSubscription(query: Query): (subscription: Subscription) => boolean {
  const status = oneOf(query, SUBSCRIPTION_STATUSES);
  const price = query.filters.get('price');
  return (subscription) =>
    hasStatus(subscription, status) &&
    (price === undefined || subscription.items.some((item) => item.priceId === price));
}

function hasStatus({ status }: Subscription, wanted: string | undefined): boolean {
  if (wanted === undefined) return status !== 'canceled';
  if (wanted === 'all') return true;
  if (wanted === 'ended') return status === 'canceled' || status === 'incomplete_expired';
  return status === wanted;
}

export function matchesInvoice(query: Query): (invoice: Invoice) => boolean {
  const status = oneOf(query, ['draft', 'open', 'paid', 'uncollectible', 'void']);
  return (invoice) => status === undefined || invoice.status === status;
}

/** @throws ApiError 400 where a payment is named without its type, or its intent does not exist */
export function matchesInvoicePayment(query: Query, world: World): (payment: InvoicePayment) => boolean {
  const status = oneOf(query, ['canceled', 'open', 'paid']);
  const type = oneOf(query, ['payment_intent', 'payment_record'], 'payment[type]');
  const intent = query.filters.get('payment[payment_intent]');
  const record = query.filters.get('payment[payment_record]');
  if (type === undefined && (intent ?? record) !== undefined) throw missingParameter('payment[type]');
  if (intent !== undefined && !world.paymentIntents.place(intent)) {
    throw missing('payment_intent', intent, 'payment[payment_intent]');
  }
  return ({ status: has, payment }) =>
    (status === undefined || has === status) &&
    (type === undefined || payment.type === type) &&
    (intent === undefined || (payment.type === 'payment_intent' && payment.payment_intent === intent)) &&
    (record === undefined || (payment.type === 'payment_record' && payment.payment_record === record));
}

/** The requested value of a parameter. @throws ApiError 400 if it is not one of these values */
export function oneOf(query: Query, values: string[], param = 'status'): string | undefined {
  const value = query.filters.get(param);
  if (value === undefined || values.includes(value)) return value;
  const last = values.length > 2 ? `, or ${values.at(-1)}` : ` or ${values.at(-1)}`;
  const list = `${values.slice(0, -1).join(', ')}${last}`;
  throw new ApiError(400, `Invalid ${param}: must be one of ${list}`, undefined, param);
}

interface Reference {
  /** Where the records hold it. */
  field: string;
  exists(world: World, id: string): boolean;
}

const REFERENCES: Record<string, Reference> = {
  customer: { field: 'customer', exists: (world, id) => world.customers.place(id) !== undefined },
  invoice: { field: 'invoice', exists: (world, id) => world.invoices.place(id) !== undefined },
  subscription: { field: 'subscription', exists: (world, id) => world.subscriptions.place(id) !== undefined },
  charge: { field: 'charge', exists: (world, id) => findCharge(world, id) !== undefined },
  payment_intent: {
    field: 'paymentIntent',
    exists: (world, id) => world.paymentIntents.place(id) !== undefined,
  },
};

/** The filters that name an object, by field. @throws ApiError 400 where it does not exist */
export function referencesOf(world: World, query: Query): [string, string][] {
  return Object.entries(REFERENCES).flatMap(([name, { field, exists }]): [string, string][] => {
    const id = query.filters.get(name);
    if (id === undefined) return [];
    if (!exists(world, id)) throw missing(name, id, name);
    return [[field, id]];
  });
}
