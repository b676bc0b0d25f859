import type { IncomingMessage } from 'node:http';
import { findCharge } from './charges';
import { expand, type View } from './expand';
import {
  type BalanceTransaction,
  type InvoicePayment,
  SUBSCRIPTION_STATUSES,
  type Subscription,
  type WorldEvent,
  type WorldObject,
} from './model';
import { renderItem, renderLine } from './render/billing';
import { CURRENT, renderEvent, type Shape } from './render/object';
import type { Json } from './render/shape';
import {
  type Answer,
  ApiError,
  authorize,
  missing,
  missingParameter,
  notFound,
  unknownParameters,
} from './respond';
import { type Collection, collectionOf, type FieldFilter, type Kind, type World } from './world';

export interface ApiOptions {
  world: World;
  /** The secret key that every request must send as its bearer token. */
  secretKey: string;
  /**
   * The API version of responses. Requests with another Stripe-Version are refused, because their client expects
   * another shape. Defaults to the SDK's version.
   */
  shape?: Shape;
}

/** Returns the response of Stripe's API to a request. */
export function answerRequest(options: ApiOptions, req: IncomingMessage, url: URL): Answer {
  try {
    const { world, shape = CURRENT } = options;
    authorize(req, options.secretKey);
    requireVersion(req, shape.version);
    const { endpoint, id } = route(req.method ?? 'GET', url.pathname);
    return { status: 200, body: endpoint({ world, shape }, id, url.searchParams) };
  } catch (error) {
    if (error instanceof ApiError) return error.answer();
    throw error;
  }
}

function requireVersion(req: IncomingMessage, version: string): void {
  const given = req.headers['stripe-version'];
  if (given === version) return;
  throw new ApiError(
    400,
    `Invalid Stripe API version: ${given ?? 'none'}. This local Stripe speaks ${version}.`,
  );
}

function route(method: string, path: string) {
  const parts = path.split('/');
  for (const [pattern, endpoint] of Object.entries(ENDPOINTS)) {
    const wanted = pattern.split('/');
    const fits =
      wanted.length === parts.length && wanted.every((part, i) => part === ':id' || part === parts[i]);
    if (method === 'GET' && fits) return { endpoint, id: parts[wanted.indexOf(':id')] ?? '' };
  }
  throw new ApiError(404, `Unrecognized request URL (${method}: ${path}).`);
}

/** Returns the response body of a GET request. */
type Endpoint = (view: View, id: string, params: URLSearchParams) => Json;

type ObjectOf<K> = Extract<WorldObject | WorldEvent, { object: K }>;

interface ListOptions<T> {
  /** The list's filters besides `created`. */
  filters: readonly string[];
  /** Valid values of the filter `status`. */
  statuses?: readonly string[];
  /** Returns the predicate for the filters that are neither in `REFERENCES` nor in `statuses`. */
  matcher?(query: Query, world: World): (object: T) => boolean;
}

/** Endpoints by path. `:id` matches one segment. */
export const ENDPOINTS: Record<string, Endpoint> = {
  '/v1/account': ({ world }) => ({
    id: 'acct_local',
    object: 'account',
    settings: { dashboard: { display_name: null, timezone: world.timeZone } },
  }),
  ...endpointsOf('customer', {
    filters: ['email'],
    matcher: ({ filters }) => {
      const email = filters.get('email');
      return (customer) => !customer.deleted && (email === undefined || customer.email === email);
    },
  }),
  ...endpointsOf('subscription', { filters: ['customer', 'price', 'status'], matcher: matchesSubscription }),
  '/v1/subscription_items': listItems,
  ...endpointsOf('invoice', {
    filters: ['customer', 'status', 'subscription'],
    statuses: ['draft', 'open', 'paid', 'uncollectible', 'void'],
  }),
  '/v1/invoices/:id/lines': listLines,
  ...endpointsOf('invoice_payment', {
    filters: ['invoice', 'payment[payment_intent]', 'payment[payment_record]', 'payment[type]', 'status'],
    statuses: ['canceled', 'open', 'paid'],
    matcher: matchesInvoicePayment,
  }),
  '/v1/payment_intents/:id': retrieve('payment_intent'),
  ...endpointsOf('checkout.session', {
    filters: ['customer', 'status', 'subscription'],
    statuses: ['open', 'complete', 'expired'],
  }),
  ...endpointsOf('refund', { filters: ['charge', 'payment_intent'] }),
  ...endpointsOf('dispute', { filters: ['charge', 'payment_intent'] }),
  ...endpointsOf('credit_note', { filters: ['customer', 'invoice'] }),
  ...endpointsOf('payout', { filters: ['status'], statuses: ['pending', 'paid', 'failed', 'canceled'] }),
  ...endpointsOf('balance_transaction', { filters: ['payout', 'source', 'type'], matcher: matchesMovement }),
  ...endpointsOf('event', { filters: ['type', 'types'], matcher: matchesEvent }),
};

/** Returns the endpoints of a kind of object: the list, newest first, and the single object. */
function endpointsOf<K extends Kind>(kind: K, options: ListOptions<ObjectOf<K>>): Record<string, Endpoint> {
  const url = kind === 'checkout.session' ? '/v1/checkout/sessions' : `/v1/${kind}s`;
  return { [url]: listOf(kind, url, options), [`${url}/:id`]: retrieve(kind) };
}

function listOf<K extends Kind>(kind: K, url: string, options: ListOptions<ObjectOf<K>>): Endpoint {
  const { filters, statuses, matcher } = options;
  return (view, _id, params) => {
    const { world, shape } = view;
    const query = parseListQuery(params, ['created', ...filters]);
    const references = referencesOf<ObjectOf<K>>(world, query);
    const status = statuses && oneOf(query, statuses);
    if (status !== undefined) references.unshift({ field: 'status' as keyof ObjectOf<K>, value: status });
    const matches = matcher?.(query, world);
    const page = listPage(
      collectionOf(world, kind),
      query,
      kind,
      (object) =>
        references.every(({ field, value }) => object[field] === value) && (matches?.(object) ?? true),
      // The order of REFERENCES is from broad to narrow, so the last filter selects the fewest objects. For example, a
      // subscription has fewer invoices than its customer.
      references.findLast(({ field }) => field !== 'status'),
    );
    const list = envelope(page, url, (object) => render(object, shape));
    if (kind !== 'event') expand(view, kind, list.data, query.expand, true);
    return list;
  };
}

function retrieve(kind: Kind): Endpoint {
  return (view, id, params) => {
    const paths = parseRetrieveQuery(params);
    const object = collectionOf(view.world, kind).get(id);
    if (!object) throw notFound(kind, id);
    const rendered = render(object, view.shape);
    if (kind !== 'event') expand(view, kind, [rendered], paths, false);
    return rendered;
  };
}

function render(object: WorldObject | WorldEvent, shape: Shape): Json {
  return object.object === 'event' ? renderEvent(object, shape) : shape.render(object);
}

/** The record fields for filters whose value is the id of another object. */
const REFERENCES = {
  customer: 'customer',
  invoice: 'invoice',
  subscription: 'subscription',
  charge: 'charge',
  payment_intent: 'paymentIntent',
  payout: 'payout',
} as const;

/** Returns the query's filters from `REFERENCES`. @throws ApiError 400 if the object of a filter does not exist */
function referencesOf<T>(world: World, query: Query): FieldFilter<T>[] {
  const known = Object.entries(REFERENCES) as [keyof typeof REFERENCES, string][];
  return known.flatMap(([name, field]) => {
    const value = query.filters.get(name);
    if (value === undefined) return [];
    const exists = name === 'charge' ? findCharge(world, value) : collectionOf(world, name).place(value);
    if (!exists) throw missing(name, value, name);
    return [{ field: field as keyof T, value }];
  });
}

/** Returns the predicate for `status` and `price`. If no status is requested, it rejects canceled subscriptions. */
function matchesSubscription(query: Query): (subscription: Subscription) => boolean {
  const wanted = oneOf(query, [...SUBSCRIPTION_STATUSES, 'all', 'ended']);
  const price = query.filters.get('price');
  const hasStatus = ({ status }: Subscription) => {
    if (wanted === undefined) return status !== 'canceled';
    if (wanted === 'ended') return status === 'canceled' || status === 'incomplete_expired';
    return wanted === 'all' || status === wanted;
  };
  return (subscription) =>
    hasStatus(subscription) &&
    (price === undefined || subscription.items.some((item) => item.priceId === price));
}

/**
 * Returns the predicate for the `payment` filters.
 *
 * @throws ApiError 400 if a filter names a payment without its type, or if the payment intent does not exist
 */
function matchesInvoicePayment(query: Query, world: World) {
  const { filters } = query;
  const type = oneOf(query, ['payment_intent', 'payment_record'], 'payment[type]');
  const intent = filters.get('payment[payment_intent]');
  const record = filters.get('payment[payment_record]');
  if (type === undefined && (intent ?? record) !== undefined) throw missingParameter('payment[type]');
  if (intent !== undefined && !world.paymentIntents.place(intent)) {
    throw missing('payment_intent', intent, 'payment[payment_intent]');
  }
  return ({ payment }: InvoicePayment) =>
    (type === undefined || payment.type === type) &&
    (intent === undefined || (payment.type === 'payment_intent' && payment.payment_intent === intent)) &&
    (record === undefined || (payment.type === 'payment_record' && payment.payment_record === record));
}

/**
 * Returns the predicate for `source` and `type`.
 *
 * @throws ApiError 400 if `payout` is a manual payout, because Stripe does not list the transactions of manual payouts
 */
function matchesMovement({ filters }: Query, world: World) {
  const [source, type] = [filters.get('source'), filters.get('type')];
  if (world.payouts.get(filters.get('payout') ?? '')?.automatic === false) {
    throw new ApiError(
      400,
      'Balance transaction history can only be filtered on automatic transfers, not manual.',
    );
  }
  return (movement: BalanceTransaction) =>
    (source === undefined || movement.source === source) && (type === undefined || movement.type === type);
}

/**
 * Returns the predicate for the filters `type` and `types`. A `*` in a type stands for any text.
 *
 * @throws ApiError 400 if a type has a character that no event type has
 */
function matchesEvent(query: Query): (event: WorldEvent) => boolean {
  const type = query.filters.get('type');
  const types = type === undefined ? query.types : [type];
  const odd = types.find((one) => !/^[\w.*]+$/.test(one));
  if (odd !== undefined)
    throw new ApiError(400, `Invalid type: ${odd}`, undefined, type === undefined ? 'types' : 'type');
  const patterns = types.map((one) => new RegExp(`^${one.replaceAll('.', '\\.').replaceAll('*', '.*')}$`));
  return (event) => patterns.length === 0 || patterns.some((pattern) => pattern.test(event.type));
}

/** Lists all items of a subscription. The subscription itself contains only the first items. */
function listItems({ world }: View, _id: string, params: URLSearchParams) {
  const query = parseListQuery(params, ['subscription']);
  const id = query.filters.get('subscription');
  if (id === undefined) throw missingParameter('subscription');
  const subscription = world.subscriptions.get(id);
  if (!subscription) throw missing('subscription', id, 'subscription');
  const page = slicePage(subscription.items, query, 'subscription item');
  return envelope(page, '/v1/subscription_items', (item) => renderItem(subscription, item));
}

/** Lists all lines of an invoice. The invoice itself contains only the first lines. */
function listLines({ world }: View, id: string, params: URLSearchParams) {
  const query = parseListQuery(params, []);
  const invoice = world.invoices.get(id);
  if (!invoice) throw notFound('invoice', id);
  const page = slicePage(invoice.lines, query, 'line item');
  return envelope(page, `/v1/invoices/${id}/lines`, (line) => renderLine(invoice, line));
}

function envelope<T>(page: Page<T>, url: string, render: (one: T) => Json) {
  return { object: 'list', data: page.data.map(render), has_more: page.hasMore, url };
}

/** Comparisons for the bounds of the filter `created`, such as `created[gte]`. */
const BOUNDS = {
  gt: (created: number, bound: number) => created > bound,
  gte: (created: number, bound: number) => created >= bound,
  lt: (created: number, bound: number) => created < bound,
  lte: (created: number, bound: number) => created <= bound,
};

const emptyQuery = () => ({
  /** Values of all filters except `created` and `types[]`, by name. */
  filters: new Map<string, string>(),
  created: [] as ((created: number) => boolean)[],
  types: [] as string[],
  expand: [] as string[],
  limit: 10,
  startingAfter: null as string | null,
  endingBefore: null as string | null,
});
type Query = ReturnType<typeof emptyQuery>;

/**
 * Parses a list's parameters as strictly as Stripe does.
 *
 * @param allowed names of the endpoint's filters; `created` also allows its bounds, and `types` the parameter `types[]`
 * @throws ApiError 400 if a parameter is unknown or invalid
 */
function parseListQuery(params: URLSearchParams, allowed: readonly string[]): Query {
  const query = emptyQuery();
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

/** Parses the parameters of a retrieve request, which accepts only `expand`. */
function parseRetrieveQuery(params: URLSearchParams): string[] {
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

interface Page<T> {
  data: T[];
  hasMore: boolean;
}

/**
 * Returns one page, newest first. The cursor must be the id of an object in the filtered list. The object may have been
 * deleted since.
 *
 * @param among an indexed field and its value, which limit the scan
 * @throws ApiError 400 resource_missing if the cursor is not in the list
 */
function listPage<T extends { id: string; created: number }>(
  collection: Collection<T>,
  query: Query,
  noun: string,
  matches: (object: T) => boolean,
  among?: FieldFilter<T>,
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
    const { data, hasMore } = takePage(collection.newer(from, among), query, isIn);
    return { data: data.reverse(), hasMore };
  }
  const from = query.startingAfter === null ? undefined : cursor(query.startingAfter, 'starting_after');
  return takePage(collection.older(from, among), query, isIn);
}

/** Returns one page of a list that is already filtered and in order. */
function slicePage<T extends { id: string }>(items: readonly T[], query: Query, noun: string): Page<T> {
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

function takePage<T>(objects: Iterable<T>, query: Query, isIn: (object: T) => boolean): Page<T> {
  const data: T[] = [];
  for (const object of objects) {
    if (!isIn(object)) continue;
    if (data.length === query.limit) return { data, hasMore: true };
    data.push(object);
  }
  return { data, hasMore: false };
}

// The world keeps a deleted customer, because Stripe still returns such a customer by id.
function isDeleted(object: object): boolean {
  return 'deleted' in object && object.deleted === true;
}

/** Returns the value of a parameter. @throws ApiError 400 if it is not one of the allowed values */
function oneOf(query: Query, values: readonly string[], param = 'status'): string | undefined {
  const value = query.filters.get(param);
  if (value === undefined || values.includes(value)) return value;
  const last = values.length > 2 ? `, or ${values.at(-1)}` : ` or ${values.at(-1)}`;
  const list = `${values.slice(0, -1).join(', ')}${last}`;
  throw new ApiError(400, `Invalid ${param}: must be one of ${list}`, undefined, param);
}
