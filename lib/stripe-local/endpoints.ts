import type { Collection } from './collection';
import { notFound } from './errors';
import { expand } from './expand';
import { matchesInvoice, matchesSubscription, oneOf, referencesOf } from './filters';
import { listPage } from './list';
import type { WorldObject } from './model';
import { envelope, listItems, listLines } from './part-lists';
import { parseListQuery, parseRetrieveQuery, type Query } from './query';
import { renderEvent } from './render/event';
import { renderObject } from './render/object';
import { type Json, shapeOf } from './render/shape';
import type { World } from './world';

/** One GET: answers the body. */
export type Endpoint = (view: { world: World; version: string }, id: string, params: URLSearchParams) => Json;

/** By path, `:id` standing for one segment. */
export const ENDPOINTS: Record<string, Endpoint> = {
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
    ['created', 'invoice', 'status'],
    (query) => {
      const status = oneOf(query, ['canceled', 'open', 'paid']);
      return (payment) => status === undefined || payment.status === status;
    },
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
  '/v1/events': listEvents,
  '/v1/events/:id': ({ world, version }, id, params) => {
    parseRetrieveQuery(params);
    const event = world.events.get(id);
    if (!event) throw notFound('event', id);
    return renderEvent(event, version);
  },
};

function listOf<T extends WorldObject>(
  noun: T['object'],
  of: (world: World) => Collection<T>,
  allowed: readonly string[],
  matcher: (query: Query) => (object: T) => boolean,
): Endpoint {
  return ({ world, version }, _id, params) => {
    const query = parseListQuery(params, allowed);
    const collection = of(world);
    const references = referencesOf(world, query);
    const matches = matcher(query);
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

function listEvents(
  { world, version }: { world: World; version: string },
  _id: string,
  params: URLSearchParams,
) {
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
