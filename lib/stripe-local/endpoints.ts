import { notFound } from './errors';
import { matchesInvoice, matchesInvoicePayment, matchesSubscription, oneOf } from './filters';
import { listPage } from './list';
import { type Endpoint, listOf, retrieve } from './object-endpoints';
import { envelope, listItems, listLines } from './part-lists';
import { parseListQuery, parseRetrieveQuery } from './query';
import { renderEvent } from './render/event';
import type { World } from './world';

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
