import { ApiError, missing } from './errors';
import type { Invoice, Subscription } from './model';
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

/** The status asked for. @throws ApiError 400 where there is no such one */
export function oneOf(query: Query, values: string[]): string | undefined {
  const status = query.filters.get('status');
  if (status === undefined || values.includes(status)) return status;
  const list = `${values.slice(0, -1).join(', ')}, or ${values.at(-1)}`;
  throw new ApiError(400, `Invalid status: must be one of ${list}`, undefined, 'status');
}

const REFERENCES = { customer: 'customers', invoice: 'invoices', subscription: 'subscriptions' } as const;

/** The filters that name an object, by field. @throws ApiError 400 where it does not exist */
export function referencesOf(world: World, query: Query): [string, string][] {
  return Object.entries(REFERENCES).flatMap(([name, collection]): [string, string][] => {
    const id = query.filters.get(name);
    if (id === undefined) return [];
    if (!world[collection].place(id)) throw missing(name, id, name);
    return [[name, id]];
  });
}
