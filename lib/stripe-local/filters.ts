import { findCharge } from './charges';
import { ApiError, missing, missingParameter } from './errors';
import type { Invoice, InvoicePayment, Subscription } from './model';
import type { Query } from './query';
import type { World } from './world';

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
