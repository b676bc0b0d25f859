import { asc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  customerServices,
  customers,
  INTERVAL_MONTHS,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { isSure } from '../customers/sure-link';
import { fromEpoch, toCalendarDate, toEpoch } from '../dates';
import { toMinorUnits } from '../money';
import { createCheckoutSession, putCustomer } from './actions';
import { addIntervals } from './actions/subscriptions';
import { INTERVALS, type Subscription, type SubscriptionItem } from './model';
import { epochNow, newId, type World } from './world';

/** Context of the functions that fill a world from our database. */
export interface Filling {
  world: World;
  calendar: ReturnType<typeof createCalendar>;
  /** Returns `stripeId`. If it is null, returns the customer's first Stripe id. Creates a missing Stripe customer. */
  customerOf(ourId: number, stripeId: string | null): string;
}

type OurCustomer = typeof customers.$inferSelect;
type LinkedBy = (typeof stripeCustomers.$inferSelect)['linked_by'];

/** Adds every Stripe customer of our database to the world. @returns the function `Filling.customerOf` */
export async function fillCustomers(world: World, db: Database): Promise<Filling['customerOf']> {
  const ours = new Map((await db.select().from(customers)).map((row) => [row.id, row]));
  const links = await db
    .select()
    .from(stripeCustomers)
    .orderBy(asc(stripeCustomers.created_at), asc(stripeCustomers.stripe_customer_id));
  const first = new Map<number, string>();
  const put = (row: OurCustomer, id: string, linkedBy: LinkedBy = 'number') => {
    if (!world.customers.get(id)) putCustomer(world, id, toCustomer(row, linkedBy));
    if (!first.has(row.id)) first.set(row.id, id);
    return id;
  };
  const rowOf = (ourId: number) => {
    const row = ours.get(ourId);
    if (!row) throw new Error(`no customer ${ourId}`);
    return row;
  };
  for (const { customer_id, stripe_customer_id: id, linked_by } of links)
    put(rowOf(customer_id), id, linked_by);
  return (ourId, stripeId) => put(rowOf(ourId), stripeId ?? first.get(ourId) ?? newId(world, 'cus_'));
}

function toCustomer(row: OurCustomer, linkedBy: LinkedBy) {
  return {
    created: toEpoch(row.created_at),
    email: row.email,
    name: row.company ?? ([row.first_name, row.last_name].filter(Boolean).join(' ') || null),
    // Omit the number if the link is not reliable. A number in the metadata would confirm the link.
    metadata: isSure({ linkedBy }) ? { customer_number: row.customer_number } : {},
  };
}

const HALF_DAY = 43_200;

/**
 * Returns functions that convert a date to an instant on that date in the time zone. For today, `past` returns no
 * instant after now.
 */
export function createCalendar(now: Date, timeZone: string) {
  const on = (date: string) => {
    const noon = Date.parse(`${date}T12:00:00Z`) / 1000;
    const seen = toCalendarDate(fromEpoch(noon), timeZone);
    if (seen === date) return noon;
    // If the time zone is twelve or more hours ahead of UTC, noon in UTC is already the next date.
    return seen > date ? noon - HALF_DAY : noon + HALF_DAY;
  };
  const today = toCalendarDate(now, timeZone);
  return { on, past: (date: string) => (date === today ? Math.min(on(date), toEpoch(now)) : on(date)) };
}

type OurSubscription = typeof subscriptions.$inferSelect;
type OurItem = {
  item: typeof subscriptionItems.$inferSelect;
  service: typeof customerServices.$inferSelect | null;
};

/**
 * Adds the subscriptions that exist at Stripe to the world. For a sold subscription whose checkout is not completed,
 * adds an open checkout session.
 *
 * @returns Stripe's subscription ids, keyed by our ids
 */
export async function fillSubscriptions(filling: Filling, db: Database): Promise<Map<number, string>> {
  const itemsOf = await readItems(db);
  const ids = new Map<number, string>();
  for (const row of await db.select().from(subscriptions).orderBy(asc(subscriptions.id))) {
    const items = itemsOf.get(row.id) ?? [];
    if (row.stripe_subscription_id === null) {
      if (row.status === 'incomplete') openCheckout(filling, row, items);
    } else if (row.provider_gone_at === null) {
      ids.set(row.id, row.stripe_subscription_id);
      filling.world.subscriptions.put(toSubscription(filling, row, row.stripe_subscription_id, items));
    }
  }
  return ids;
}

async function readItems(db: Database): Promise<Map<number, OurItem[]>> {
  const found = await db
    .select({ item: subscriptionItems, service: customerServices })
    .from(subscriptionItems)
    .leftJoin(customerServices, eq(customerServices.id, subscriptionItems.customer_service_id))
    .orderBy(asc(subscriptionItems.id));
  const grouped = new Map<number, OurItem[]>();
  for (const one of found) {
    const id = one.item.subscription_id;
    grouped.set(id, [...(grouped.get(id) ?? []), one]);
  }
  return grouped;
}

function toSubscription(filling: Filling, row: OurSubscription, id: string, ours: OurItem[]): Subscription {
  const items = ours.map((our) => toItem(filling, row, our));
  const endedAt = row.ended_at && toEpoch(row.ended_at);
  const resumesAt = row.pause_resumes_at && toEpoch(row.pause_resumes_at);
  const starts = items.map((item) => item.currentPeriodStart);
  const ends = items.map((item) => item.currentPeriodEnd);
  return {
    object: 'subscription',
    id,
    created: Math.min(toEpoch(row.created_at), endedAt ?? Number.POSITIVE_INFINITY, ...starts),
    customer: filling.customerOf(row.customer_id, row.stripe_customer_id),
    status: row.status === 'cancelled' ? 'canceled' : row.status,
    currency: ours[0]?.item.currency ?? ours[0]?.service?.currency ?? 'eur',
    collectionMethod: 'charge_automatically',
    cancelAtPeriodEnd: row.cancel_at_period_end,
    cancelAt: row.cancel_at && toEpoch(row.cancel_at),
    canceledAt: endedAt ?? (row.cancel_at ? toEpoch(row.updated_at) : null),
    endedAt,
    pauseCollection: row.pause_behavior === null ? null : { behavior: row.pause_behavior, resumesAt },
    trialEnd: row.status === 'trialing' && ends.length > 0 ? Math.min(...ends) : null,
    latestInvoice: null,
    metadata: {},
    items,
  };
}

function toItem(
  { world, calendar }: Filling,
  row: OurSubscription,
  { item, service }: OurItem,
): SubscriptionItem {
  const { interval, intervalCount, unitAmount } = priceOf(item, service);
  const noted = row.next_billing_date === null ? null : calendar.on(row.next_billing_date);
  const currentPeriodEnd = item.current_period_end
    ? toEpoch(item.current_period_end)
    : (noted ?? addIntervals(epochNow(world), interval, intervalCount));
  const currentPeriodStart = addIntervals(currentPeriodEnd, interval, -intervalCount);
  return {
    id: item.stripe_subscription_item_id ?? newId(world, 'si_'),
    created: currentPeriodStart,
    priceId: newId(world, 'price_'),
    unitAmount,
    interval,
    intervalCount,
    quantity: item.quantity,
    currentPeriodStart,
    currentPeriodEnd,
    metadata: namesOf(item) ?? serviceMetadata(service),
  };
}

/** Returns the price that Stripe reported for an item. If none is stored, returns the price of the service. */
function priceOf(
  { amount, currency, interval, interval_count, quantity }: OurItem['item'],
  service: OurItem['service'],
) {
  if (amount !== null && currency !== null && interval_count !== null && quantity > 0) {
    return {
      unitAmount: toMinorUnits(amount, currency) / quantity,
      interval: INTERVALS.find((one) => one === interval) ?? 'month',
      intervalCount: interval_count,
    };
  }
  const unitAmount = service ? toMinorUnits(service.price, service.currency) : 0;
  return { unitAmount, ...intervalOf(service) };
}

function namesOf({ named_service_id: id, named_service_number: number }: OurItem['item']) {
  if (id === null && number === null) return null;
  return {
    ...(id !== null && { customer_service_id: id }),
    ...(number !== null && { service_number: number }),
  };
}

function openCheckout({ world, customerOf }: Filling, row: OurSubscription, ours: OurItem[]): void {
  const customer = customerOf(row.customer_id, row.stripe_customer_id);
  createCheckoutSession(world, {
    customer,
    clientReferenceId: String(row.id),
    currency: ours[0]?.service?.currency ?? 'eur',
    items: ours.map(({ item, service }) => ({
      unitAmount: service ? toMinorUnits(service.price, service.currency) : 0,
      quantity: item.quantity,
      ...intervalOf(service),
      metadata: serviceMetadata(service),
    })),
  });
}

function intervalOf(service: OurItem['service']) {
  const months = INTERVAL_MONTHS[service?.billing_interval ?? 'month'] || 1;
  return months % 12 === 0
    ? { interval: 'year' as const, intervalCount: months / 12 }
    : { interval: 'month' as const, intervalCount: months };
}

function serviceMetadata(service: OurItem['service']): Record<string, string> {
  return service ? { customer_service_id: String(service.id), service_number: service.service_number } : {};
}
