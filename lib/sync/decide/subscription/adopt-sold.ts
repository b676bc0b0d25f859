import type { billingInterval } from '@/db/schema';
import { toMinorUnits } from '../../../money';
import type { StoredItem, StoredSubscription } from '../../../store/snapshot';
import { fromInbox } from '../../../stripe/event';
import {
  type ProviderBilled,
  type ProviderSubscription,
  toProviderSubscription,
} from '../../../stripe/to-subscription';
import { SUBSCRIPTION_EVENT_TYPES } from '../../event-types';
import { toChanges } from '../changes';
import type { Draft } from '../draft';
import { toItemState } from './items';
import { dateServices } from './service-dates';

/**
 * Returns whether a subscription still has to be merged into the sold subscription that its checkout refers to. Returns
 * false if staff declined the merge.
 */
export const isWaiting = <Row extends Waiting>(row: Row): row is Row & { checkout_reference: number } =>
  row.checkout_reference !== null && !row.reference_declined;

type Waiting = Pick<StoredSubscription, 'checkout_reference' | 'reference_declined'>;

/**
 * Merges Stripe's subscription into the sold subscription that its checkout refers to. Merges only if Stripe has
 * reported exactly the sold items, because a payer can write any reference into a payment link. Each of the latest 100
 * reported states whose event still has its body counts, even a stale one, so the order of the events does not matter.
 * The caller must have checked that the customer's link is reliable.
 *
 * @param reported states to compare in addition to the stored items; if absent, the states in the subscription's events
 */
export function adoptSold(
  draft: Draft,
  made: StoredSubscription,
  reported?: ProviderSubscription[],
): StoredSubscription {
  const { stripe_subscription_id: id } = made;
  const ours = isWaiting(made) ? referenced(draft, made.checkout_reference, made.customer_id) : undefined;
  if (!ours || !id) return made;
  const sold = soldItems(draft, ours.id);
  const stored = made.provider_as_of ? [storedItems(draft, made.id)] : [];
  for (const billed of [...stored, ...(reported ?? reportedStates(draft, id)).flatMap(toBilledItems)]) {
    const pairs = matchSold(sold, billed);
    if (typeof pairs !== 'string') return mergeIntoSold(draft, ours, made, pairs);
  }
  return made;
}

export function soldItems(draft: Draft, subscriptionId: number): SoldItem[] {
  const own = draft.itemsOf(subscriptionId).filter((item) => item.stripe_subscription_item_id === null);
  return own.map(({ id, quantity, customer_service_id }) => {
    const service = customer_service_id === null ? undefined : draft.service(customer_service_id);
    return {
      id,
      quantity,
      serviceId: customer_service_id,
      service: service
        ? {
            id: service.id,
            number: service.service_number,
            price: service.price,
            currency: service.currency,
            interval: service.billing_interval,
            isEnded: ENDED.has(service.status),
          }
        : null,
    };
  });
}

const ENDED = new Set(['cancelled', 'terminated']);

export const storedItems = (draft: Draft, subscriptionId: number): BilledItem[] =>
  draft.itemsOf(subscriptionId).map(toBilledItem);

function referenced(draft: Draft, reference: number, customerId: number): StoredSubscription | undefined {
  const row = draft.subscriptionById(reference);
  const isOpen = row && row.stripe_subscription_id === null && row.status !== 'cancelled';
  return isOpen && row.customer_id === customerId ? row : undefined;
}

function toBilledItem(item: StoredItem | ReturnType<typeof toItemState>): BilledItem {
  return {
    stripeItemId: item.stripe_subscription_item_id,
    amount: item.amount,
    currency: item.currency,
    interval: item.interval,
    intervalCount: item.interval_count,
    namedServiceId: item.named_service_id,
    namedServiceNumber: item.named_service_number,
  };
}

function toBilledItems(state: ProviderSubscription): BilledItem[][] {
  if (!state.itemsComplete) return [];
  return [state.items.map((item) => toBilledItem(toItemState(state, item)))];
}

const MOST = 100;

function reportedStates(draft: Draft, id: string): ProviderSubscription[] {
  return draft
    .events({ reported: id })
    .filter(({ outcome }) => outcome === 'processed' || outcome === 'stale')
    .map(({ payload }) => fromInbox(payload))
    .filter(({ objectId, type }) => objectId === id && SUBSCRIPTION_EVENT_TYPES.includes(type))
    .sort((a, b) => b.created.getTime() - a.created.getTime() || (a.id < b.id ? 1 : -1))
    .slice(0, MOST)
    .map(({ object }) => toProviderSubscription(object))
    .filter((state) => state !== null);
}

/** An item that we sold and that has no id at Stripe yet, and its service. */
export interface SoldItem {
  id: number;
  quantity: number;
  serviceId: number | null;
  service: {
    id: number;
    number: string;
    price: string;
    currency: string;
    interval: (typeof billingInterval.enumValues)[number];
    isEnded: boolean;
  } | null;
}

type SoldWithService = SoldItem & { service: NonNullable<SoldItem['service']> };

const hasService = (item: SoldItem): item is SoldWithService => item.service?.isEnded === false;

export interface BilledItem extends ProviderBilled {
  stripeItemId: string | null;
  namedServiceId: string | null;
  namedServiceNumber: string | null;
}

export type Mismatch = 'nothing_sold' | 'nothing_billed' | 'price_unknown' | 'price_differs';

/**
 * Pairs each billed item with a sold item. The two items of a pair have the same amount before tax, the same currency
 * and interval, and the same service if Stripe names one.
 *
 * @returns the sold items, keyed by Stripe's id of the billed item, or the reason why the items do not match
 */
export function matchSold(
  all: SoldItem[],
  billed: BilledItem[],
): Map<string | null, SoldWithService> | Mismatch {
  const sold = all.filter(hasService);
  if (sold.length === 0 || sold.length < all.length) return 'nothing_sold';
  if (billed.length === 0) return 'nothing_billed';
  if (billed.some(({ amount }) => amount === null)) return 'price_unknown';
  if (billed.length !== sold.length) return 'price_differs';
  const pairs = new Map<string | null, SoldWithService>();
  const left = [...sold];
  // Start with items whose metadata names a service. Otherwise an item without metadata could take that service.
  const isNamed = ({ namedServiceId, namedServiceNumber }: BilledItem) =>
    Number(namedServiceId !== null || namedServiceNumber !== null);
  for (const item of [...billed].sort((a, b) => isNamed(b) - isNamed(a))) {
    const at = left.findIndex((one) => isOf(item, one) && isSameMoney(item, one));
    const [found] = at === -1 ? [] : left.splice(at, 1);
    if (!found) return 'price_differs';
    pairs.set(item.stripeItemId, found);
  }
  return pairs;
}

function isOf(
  { namedServiceId: id, namedServiceNumber: number }: BilledItem,
  { service }: SoldWithService,
): boolean {
  if (id !== null) return id === String(service.id);
  return number === null || number === service.number;
}

const MONTHS = { month: 1, quarter: 3, half_year: 6, year: 12, two_years: 24, three_years: 36, once: null };
const STRIPE_MONTHS = new Map<string | null, number>([
  ['month', 1],
  ['year', 12],
]);

function isSameMoney(billed: BilledItem, { service, quantity }: SoldWithService): boolean {
  if (billed.amount === null || billed.currency !== service.currency) return false;
  const months = Number(STRIPE_MONTHS.get(billed.interval)) * Number(billed.intervalCount);
  const minor = toMinorUnits(service.price, service.currency) * quantity;
  return months === MONTHS[service.interval] && toMinorUnits(billed.amount, service.currency) === minor;
}

/**
 * Merges the row of Stripe's subscription into our sold subscription, and deletes that row. The sold subscription keeps
 * its id.
 *
 * @param pairs sold items, keyed by Stripe's id of the billed item that takes over their service
 */
export function mergeIntoSold(
  draft: Draft,
  ours: StoredSubscription,
  made: StoredSubscription,
  pairs: Map<string | null, SoldItem>,
): StoredSubscription {
  const { stripe_subscription_id, stripe_customer_id, checkout_completed_at, status } = made;
  const link = { stripe_subscription_id, stripe_customer_id };
  const subject = { entity: 'subscription' as const, entity_id: ours.id, stripe_id: stripe_subscription_id };
  draft.changes.push(...toChanges(subject, ours, link));
  handOverInvoices(draft, made.id, ours.id);
  handOverItems(draft, made.id, ours.id, pairs);
  draft.subscriptions.delete(made.id);
  const { id, customer_id, created_at, updated_at, is_stub, version } = ours;
  const reported = { ...made, id, customer_id, created_at, updated_at, is_stub, version };
  const merged = draft.subscriptions.put({
    // If no state from Stripe was ever applied, take over only Stripe's ids and the paid checkout.
    ...(made.provider_as_of
      ? reported
      : { ...ours, ...link, checkout_completed_at, ...(status === 'active' && { status }) }),
    checkout_reference: null,
    reference_declined: false,
  });
  const sold = [...pairs.values()].map(({ serviceId }) => serviceId);
  dateServices(draft, [...sold, ...draft.itemsOf(ours.id).map((item) => item.customer_service_id)]);
  return merged;
}

/** Moves the invoices of a subscription that are in the snapshot. The commit moves its other invoices. */
function handOverInvoices(draft: Draft, from: number, to: number): void {
  if (from > 0) draft.handedOver.push({ from, to });
  for (const row of draft.invoices.all()) {
    if (row.subscription_id === from) draft.invoices.put({ ...row, subscription_id: to });
  }
}

function handOverItems(draft: Draft, from: number, to: number, pairs: Map<string | null, SoldItem>): void {
  for (const item of draft.itemsOf(from)) {
    const service = pairs.get(item.stripe_subscription_item_id)?.serviceId ?? null;
    const isFree = item.customer_service_id === null && !item.linked_by_staff;
    const link = isFree && { customer_service_id: service };
    draft.items.put({ ...item, ...link, subscription_id: to });
  }
  for (const { id } of pairs.values()) draft.items.delete(id);
}
