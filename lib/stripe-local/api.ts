import type { IncomingMessage } from 'node:http';
import Stripe from 'stripe';
import { expand } from './expand';
import type { WorldObject } from './model';
import {
  listPage,
  matchesInvoice,
  matchesInvoicePayment,
  matchesSubscription,
  oneOf,
  type Page,
  parseListQuery,
  parseRetrieveQuery,
  type Query,
  referencesOf,
  slicePage,
} from './query';
import { renderLine } from './render/invoice';
import { renderEvent, renderObject } from './render/object';
import { type Json, shapeOf } from './render/shape';
import { renderItem } from './render/subscription';
import {
  type Answer,
  ApiError,
  authorize,
  errorAnswer,
  missing,
  missingParameter,
  notFound,
} from './respond';
import type { Collection, World } from './world';

interface ApiOptions {
  world: World;
  secretKey: string;
  /** The SDK's own unless given. */
  apiVersion?: string;
}

/** What the API answers to a request, without any fault. */
export function answerRequest(options: ApiOptions, req: IncomingMessage, url: URL): Answer {
  try {
    const version = options.apiVersion ?? Stripe.API_VERSION;
    authorize(req, options.secretKey);
    requireVersion(req, version);
    const { endpoint, id } = route(req.method ?? 'GET', url.pathname);
    return { status: 200, body: endpoint({ world: options.world, version }, id, url.searchParams) };
  } catch (error) {
    if (error instanceof ApiError) return errorAnswer(error);
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

type View = { world: World; version: string };

/** Answers the body of one GET. */
type Endpoint = (view: View, id: string, params: URLSearchParams) => Json;

/** By path, `:id` standing for one segment. */
export const ENDPOINTS: Record<string, Endpoint> = {
  '/v1/account': ({ world }) => ({
    id: 'acct_local',
    object: 'account',
    settings: { dashboard: { display_name: null, timezone: world.timeZone } },
  }),
  '/v1/customers': listOf(
    'customer',
    (world) => world.customers,
    ['created', 'email'],
    (query) => {
      const email = query.filters.get('email');
      return (customer) => !customer.deleted && (email === undefined || customer.email === email);
    },
  ),
  '/v1/customers/:id': retrieve('customer', (world) => world.customers),
  '/v1/subscriptions': listOf(
    'subscription',
    (world) => world.subscriptions,
    ['created', 'customer', 'price', 'status'],
    matchesSubscription,
  ),
  '/v1/subscriptions/:id': retrieve('subscription', (world) => world.subscriptions),
  '/v1/subscription_items': listItems,
  '/v1/invoices': listOf(
    'invoice',
    (world) => world.invoices,
    ['created', 'customer', 'status', 'subscription'],
    matchesInvoice,
  ),
  '/v1/invoices/:id': retrieve('invoice', (world) => world.invoices),
  '/v1/invoices/:id/lines': listLines,
  '/v1/invoice_payments': listOf(
    'invoice_payment',
    (world) => world.invoicePayments,
    ['created', 'invoice', 'payment[payment_intent]', 'payment[payment_record]', 'payment[type]', 'status'],
    matchesInvoicePayment,
  ),
  '/v1/invoice_payments/:id': retrieve('invoice_payment', (world) => world.invoicePayments),
  '/v1/payment_intents/:id': retrieve('payment_intent', (world) => world.paymentIntents),
  '/v1/checkout/sessions': listOf(
    'checkout.session',
    (world) => world.checkoutSessions,
    ['created', 'customer', 'status', 'subscription'],
    (query) => {
      const status = oneOf(query, ['open', 'complete', 'expired']);
      return (session) => status === undefined || session.status === status;
    },
  ),
  '/v1/checkout/sessions/:id': retrieve('checkout.session', (world) => world.checkoutSessions),
  '/v1/refunds': listOf('refund', (world) => world.refunds, ['charge', 'created', 'payment_intent']),
  '/v1/refunds/:id': retrieve('refund', (world) => world.refunds),
  '/v1/disputes': listOf('dispute', (world) => world.disputes, ['charge', 'created', 'payment_intent']),
  '/v1/disputes/:id': retrieve('dispute', (world) => world.disputes),
  '/v1/credit_notes': listOf('credit_note', (world) => world.creditNotes, ['created', 'customer', 'invoice']),
  '/v1/credit_notes/:id': retrieve('credit_note', (world) => world.creditNotes),
  '/v1/events': listEvents,
  '/v1/events/:id': ({ world, version }, id, params) => {
    parseRetrieveQuery(params);
    const event = world.events.get(id);
    if (!event) throw notFound('event', id);
    return renderEvent(event, version);
  },
};

function listEvents({ world, version }: View, _id: string, params: URLSearchParams) {
  const query = parseListQuery(params, ['created', 'type', 'types']);
  const type = query.filters.get('type');
  const types = type === undefined ? query.types : [type];
  const patterns = types.map((one) => new RegExp(`^${one.replaceAll('.', '\\.').replaceAll('*', '.*')}$`));
  const page = listPage(
    world.events,
    query,
    'event',
    (event) => patterns.length === 0 || patterns.some((pattern) => pattern.test(event.type)),
  );
  return envelope({ ...page, data: page.data.map((event) => renderEvent(event, version)) }, '/v1/events');
}

/**
 * A list, newest first.
 *
 * @param allowed its filters, with `created` among them
 * @param matcher for the filters that name no object
 */
function listOf<T extends WorldObject>(
  noun: T['object'],
  of: (world: World) => Collection<T>,
  allowed: readonly string[],
  matcher: (query: Query, world: World) => (object: T) => boolean = () => () => true,
): Endpoint {
  return ({ world, version }, _id, params) => {
    const query = parseListQuery(params, allowed);
    const collection = of(world);
    const references = referencesOf(world, query);
    const matches = matcher(query, world);
    const page = listPage(
      collection,
      query,
      noun,
      (object) => references.every(([name, id]) => fieldOf(object, name) === id) && matches(object),
      narrowest<T>(references),
    );
    const shape = shapeOf(version);
    const data = page.data.map((object) => renderObject(object, shape));
    expand({ world, shape }, noun, data, query.expand, true);
    return envelope({ ...page, data }, urlOf(noun));
  };
}

function retrieve<T extends WorldObject>(noun: T['object'], of: (world: World) => Collection<T>): Endpoint {
  return ({ world, version }, id, params) => {
    const paths = parseRetrieveQuery(params);
    const object = of(world).get(id);
    if (!object) throw notFound(noun, id);
    const shape = shapeOf(version);
    const rendered = renderObject(object, shape);
    expand({ world, shape }, noun, [rendered], paths, false);
    return rendered;
  };
}

function narrowest<T extends WorldObject>(references: [string, string][]) {
  // The last one is the smaller: a subscription has fewer invoices than its customer.
  const [field, value] = references.at(-1) ?? [];
  return field === undefined ? undefined : { field: field as keyof T, value };
}

function fieldOf(object: WorldObject, name: string): unknown {
  return (object as unknown as Json)[name];
}

function urlOf(noun: WorldObject['object']): string {
  return noun === 'checkout.session' ? '/v1/checkout/sessions' : `/v1/${noun}s`;
}

/** All items of a subscription, of which it shows the first. */
function listItems({ world, version }: View, _id: string, params: URLSearchParams) {
  const query = parseListQuery(params, ['subscription']);
  const id = query.filters.get('subscription');
  if (id === undefined) throw missingParameter('subscription');
  const subscription = world.subscriptions.get(id);
  if (!subscription) throw missing('subscription', id, 'subscription');
  const page = slicePage(subscription.items, query, 'subscription item');
  const data = page.data.map((item) => renderItem(subscription, item, shapeOf(version)));
  return envelope({ ...page, data }, '/v1/subscription_items');
}

/** All lines of an invoice, of which it shows the first. */
function listLines({ world, version }: View, id: string, params: URLSearchParams) {
  const query = parseListQuery(params, []);
  const invoice = world.invoices.get(id);
  if (!invoice) throw notFound('invoice', id);
  const page = slicePage(invoice.lines, query, 'line item');
  const data = page.data.map((line) => renderLine(invoice, line, shapeOf(version)));
  return envelope({ ...page, data }, `/v1/invoices/${id}/lines`);
}

/** A page as Stripe answers it. */
function envelope(page: Page<Json>, url: string): Json {
  return { object: 'list', data: page.data, has_more: page.hasMore, url };
}
