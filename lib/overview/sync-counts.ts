import { count, gte } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { eventOutcome, stripeEvents, subscriptionStatus, subscriptions } from '@/db/schema';

/** How many rows are in a state; states without any are left out. */
export interface StateCount<State extends string = string> {
  state: State;
  count: number;
}

/** Subscriptions by status, in the order of a subscription's life. */
export async function countSubscriptions(db: Database): Promise<StateCount[]> {
  const found = await db
    .select({ state: subscriptions.status, count: count() })
    .from(subscriptions)
    .groupBy(subscriptions.status);
  return inOrder(subscriptionStatus.enumValues, found);
}

/** Days over which deliveries are counted. */
export const DELIVERY_DAYS = 7;

/** Stripe's events of the last seven days by what became of them, the usual first. */
export async function countDeliveries(db: Database, now: Date): Promise<StateCount[]> {
  const since = new Date(now.getTime() - DELIVERY_DAYS * 86_400_000);
  const found = await db
    .select({ state: stripeEvents.outcome, count: count() })
    .from(stripeEvents)
    .where(gte(stripeEvents.stripe_created, since))
    .groupBy(stripeEvents.outcome);
  return inOrder(eventOutcome.enumValues, found);
}

function inOrder<State extends string>(order: readonly State[], counts: StateCount<State>[]) {
  return counts.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
}
