import { addMonths, fromEpoch, toEpoch } from '../../dates';
import type { Customer, Interval, Invoice, ItemInput, Subscription, SubscriptionItem } from '../model';
import { action, DAY, emit, epochNow, getFrom, newId, type World, WorldError } from '../world';

type Optional = 'currency' | 'collectionMethod' | 'metadata';

interface SubscriptionInput extends Partial<Pick<Subscription, Optional>> {
  customer: string;
  items: readonly ItemInput[];
  status?: 'active' | 'incomplete' | 'trialing' | 'past_due';
  /** End of the trial, which is also the end of the first billing period. */
  trialEnd?: number;
}

/** Creates a subscription. `invoiceSubscription` adds its invoice. Emits customer.subscription.created. */
export const createSubscription = action((world, input: SubscriptionInput): Subscription => {
  liveCustomer(world, input.customer);
  const created = epochNow(world);
  const subscription = world.subscriptions.put({
    object: 'subscription',
    id: newId(world, 'sub_'),
    created,
    customer: input.customer,
    status: input.status ?? (input.trialEnd === undefined ? 'active' : 'trialing'),
    currency: input.currency ?? 'eur',
    collectionMethod: input.collectionMethod ?? 'charge_automatically',
    cancelAtPeriodEnd: false,
    cancelAt: null,
    canceledAt: null,
    endedAt: null,
    pauseCollection: null,
    trialEnd: input.trialEnd ?? null,
    latestInvoice: null,
    metadata: input.metadata ?? {},
    items: input.items.map((item) => newItem(world, item, created, input.trialEnd)),
  });
  emit(world, 'customer.subscription.created', subscription);
  return subscription;
});

/** Changes a subscription. Emits customer.subscription.updated. */
export function changeSubscription(
  world: World,
  before: Subscription,
  patch: Partial<Subscription>,
): Subscription {
  const subscription = world.subscriptions.put({ ...before, ...patch });
  emit(world, 'customer.subscription.updated', subscription, before);
  return subscription;
}

/** Cancels a subscription immediately. Emits customer.subscription.deleted. */
export const cancelSubscription = action((world, id: string): Subscription => {
  const before = liveSubscription(world, id);
  const now = epochNow(world);
  const subscription = world.subscriptions.put({
    ...before,
    status: 'canceled',
    canceledAt: before.canceledAt ?? now,
    endedAt: now,
  });
  emit(world, 'customer.subscription.deleted', subscription);
  return subscription;
});

/** Returns the earliest end of the items' periods. Returns null if there are no items. */
export function periodEnd(subscription: Subscription): number | null {
  const ends = subscription.items.map((item) => item.currentPeriodEnd);
  return ends.length === 0 ? null : Math.min(...ends);
}

export function endsWithPeriod(subscription: Subscription): boolean {
  const { cancelAt } = subscription;
  return cancelAt !== null && cancelAt <= (periodEnd(subscription) ?? cancelAt);
}

export function newItem(world: World, item: ItemInput, start: number, end?: number): SubscriptionItem {
  const interval = item.interval ?? 'month';
  const intervalCount = item.intervalCount ?? 1;
  return {
    id: newId(world, 'si_'),
    created: epochNow(world),
    priceId: item.priceId ?? newId(world, 'price_'),
    unitAmount: item.unitAmount,
    interval,
    intervalCount,
    quantity: item.quantity ?? 1,
    currentPeriodStart: start,
    currentPeriodEnd: end ?? addIntervals(start, interval, intervalCount),
    metadata: item.metadata ?? {},
  };
}

/** Activates a subscription that waited for the payment of this invoice. Emits customer.subscription.updated. */
export function activateSubscription(world: World, invoice: Invoice): void {
  const subscription = world.subscriptions.get(invoice.subscription ?? '');
  if (!subscription || hasEnded(subscription) || subscription.latestInvoice !== invoice.id) return;
  if (['incomplete', 'past_due', 'unpaid'].includes(subscription.status)) {
    changeSubscription(world, subscription, { status: 'active' });
  }
}

/** Returns a customer. @throws WorldError if the customer does not exist or was deleted */
export function liveCustomer(world: World, id: string): Customer {
  const customer = getFrom(world, 'customer', id);
  if (customer.deleted) throw new WorldError(`No such customer: '${id}'`);
  return customer;
}

/** Returns a subscription. @throws WorldError if the subscription does not exist or has ended */
export function liveSubscription(world: World, id: string): Subscription {
  const subscription = getFrom(world, 'subscription', id);
  if (hasEnded(subscription)) {
    throw new WorldError(`The subscription ${id} is ${subscription.status} and cannot be changed.`);
  }
  return subscription;
}

export function hasEnded(subscription: Subscription): boolean {
  return subscription.status === 'canceled' || subscription.status === 'incomplete_expired';
}

/** Returns an invoice with one of these statuses. @throws WorldError if it does not exist or has another status */
export function invoiceThatIs(world: World, id: string, ...statuses: Invoice['status'][]): Invoice {
  const invoice = getFrom(world, 'invoice', id);
  if (!statuses.includes(invoice.status)) {
    throw new WorldError(
      `The invoice ${invoice.number ?? id} is ${invoice.status}, not ${statuses.join(' or ')}.`,
    );
  }
  return invoice;
}

export function addIntervals(start: number, interval: Interval, count: number): number {
  if (interval === 'day' || interval === 'week') return start + (interval === 'week' ? 7 : 1) * count * DAY;
  return toEpoch(addMonths(fromEpoch(start), (interval === 'year' ? 12 : 1) * count));
}
