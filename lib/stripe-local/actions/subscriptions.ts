import { addMonths, fromEpoch, toEpoch } from '../../dates';
import type { Customer, Invoice, ItemInput, Subscription, SubscriptionItem } from '../model';
import { action, emit, epochNow, getFrom, newId, type World, WorldError } from '../world';

type Optional = 'currency' | 'collectionMethod' | 'metadata';

interface SubscriptionInput extends Partial<Pick<Subscription, Optional>> {
  customer: string;
  items: readonly ItemInput[];
  status?: 'active' | 'incomplete' | 'trialing' | 'past_due';
  /** End of the trial and of the first period. */
  trialEnd?: number;
}

/** Creates a subscription without an invoice, see `invoiceSubscription` → customer.subscription.created */
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

type Patchable = 'cancelAtPeriodEnd' | 'pauseCollection' | 'trialEnd' | 'latestInvoice' | 'metadata';

interface SubscriptionPatch extends Partial<Pick<Subscription, Patchable>> {
  status?: Exclude<Subscription['status'], 'canceled'>;
  /** The complete list: items with an id are kept, items without an id are created, missing items are removed. */
  items?: readonly (Partial<SubscriptionItem> & Partial<ItemInput>)[];
  /** The current period of every item. */
  currentPeriodStart?: number;
  currentPeriodEnd?: number;
  /** Planned end without `cancelAtPeriodEnd`. Null removes the planned end. */
  cancelAt?: number | null;
}

/** Changes a subscription → customer.subscription.updated, or no event if nothing changes */
export const updateSubscription = action((world, id: string, patch: SubscriptionPatch): Subscription => {
  const before = liveSubscription(world, id);
  const { items, currentPeriodStart, currentPeriodEnd, cancelAtPeriodEnd, cancelAt, ...plain } = patch;
  const next: Subscription = { ...before, ...plain, items: patchedItems(world, before, patch) };
  const ending = next.status === 'incomplete_expired' ? { endedAt: epochNow(world) } : {};
  const subscription = { ...next, ...cancellation(world, next, patch), ...ending };
  if (JSON.stringify(subscription) === JSON.stringify(before)) return before;
  world.subscriptions.put(subscription);
  emit(world, 'customer.subscription.updated', subscription, before);
  return subscription;
});

/** Cancels a subscription at once → customer.subscription.deleted. For the period's end, use `updateSubscription`. */
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

/** Returns the earliest period end of the items. Null without items. */
function periodEnd(subscription: Subscription): number | null {
  const ends = subscription.items.map((item) => item.currentPeriodEnd);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Returns true if the subscription ends with the current period. */
export function endsWithPeriod(subscription: Subscription): boolean {
  const { cancelAt } = subscription;
  return cancelAt !== null && cancelAt <= (periodEnd(subscription) ?? cancelAt);
}

function patchedItems(world: World, before: Subscription, patch: SubscriptionPatch): SubscriptionItem[] {
  const wanted = patch.items ?? before.items;
  return wanted.map((item) => {
    const old = before.items.find((one) => one.id === item.id);
    const base = old
      ? { ...old, ...item }
      : { ...newItem(world, { unitAmount: 0, ...item }, epochNow(world)), ...item };
    const { currentPeriodStart = base.currentPeriodStart, currentPeriodEnd = base.currentPeriodEnd } = patch;
    return { ...base, currentPeriodStart, currentPeriodEnd };
  });
}

function cancellation(
  world: World,
  next: Subscription,
  { cancelAtPeriodEnd: atPeriodEnd, cancelAt }: SubscriptionPatch,
) {
  if (cancelAt !== undefined) {
    return { cancelAtPeriodEnd: false, cancelAt, canceledAt: cancelAt === null ? null : epochNow(world) };
  }
  if (atPeriodEnd === undefined || atPeriodEnd === next.cancelAtPeriodEnd) return {};
  return atPeriodEnd
    ? { cancelAtPeriodEnd: true, cancelAt: periodEnd(next), canceledAt: epochNow(world) }
    : { cancelAtPeriodEnd: false, cancelAt: null, canceledAt: null };
}

function newItem(world: World, item: ItemInput, start: number, end?: number): SubscriptionItem {
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

/** Activates a waiting subscription when its latest invoice is paid → customer.subscription.updated */
export function activateSubscription(world: World, invoice: Invoice): void {
  const subscription = world.subscriptions.get(invoice.subscription ?? '');
  if (!subscription || hasEnded(subscription) || subscription.latestInvoice !== invoice.id) return;
  if (['incomplete', 'past_due', 'unpaid'].includes(subscription.status)) {
    updateSubscription(world, subscription.id, { status: 'active' });
  }
}

/** @throws WorldError if the customer does not exist or was deleted */
export function liveCustomer(world: World, id: string): Customer {
  const customer = getFrom(world, 'customer', id);
  if (customer.deleted) throw new WorldError(`No such customer: '${id}'`);
  return customer;
}

/** @throws WorldError if the subscription does not exist or has ended */
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

/** @throws WorldError if the invoice does not exist or has another status */
export function invoiceThatIs(world: World, id: string, ...statuses: Invoice['status'][]): Invoice {
  const invoice = getFrom(world, 'invoice', id);
  if (!statuses.includes(invoice.status)) {
    throw new WorldError(
      `The invoice ${invoice.number ?? id} is ${invoice.status}, not ${statuses.join(' or ')}.`,
    );
  }
  return invoice;
}

export function addIntervals(start: number, interval: 'month' | 'year', count: number): number {
  return toEpoch(addMonths(fromEpoch(start), (interval === 'year' ? 12 : 1) * count));
}
