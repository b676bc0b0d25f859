import { and, desc, eq, inArray, isNull, ne } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, stripeEvents, subscriptionItems, subscriptions } from '@/db/schema';
import type { ProviderSubscription } from '../stripe/provider';
import { toProviderEvent } from '../stripe/to-event';
import { toProviderSubscription } from '../stripe/to-subscription';
import { toItemState } from './apply-items';
import type { SyncContext } from './context';
import { SUBSCRIPTION_EVENT_TYPES } from './event-types';
import type { StoredItem, StoredSubscription } from './lock-held';
import { type BilledItem, matchSold, type SoldItem } from './match-sold';
import { mergeIntoSold } from './merge-into-sold';

/** Whether a subscription's checkout names one of ours that it has not become. */
export const isWaiting = (row: Pick<StoredSubscription, 'checkout_reference' | 'reference_declined'>) =>
  row.checkout_reference !== null && !row.reference_declined;

/**
 * Makes a subscription of Stripe's the one of ours that its checkout names, if Stripe has told of it just what
 * was sold: whoever pays may write any reference into the address of a payment link. The caller has made sure
 * that the link of its customer is sure.
 *
 * Any state that was told counts, the latest that fits first, so that it does not matter when the checkout came.
 *
 * @param told the states to look at besides the one we hold; undefined: all that lie in the inbox
 * @returns the row that then is the subscription's
 */
export async function adoptSold(
  ctx: SyncContext,
  made: StoredSubscription,
  told?: ProviderSubscription[],
): Promise<StoredSubscription> {
  if (!isWaiting(made)) return made;
  const ours = await lockReferenced(ctx.tx, made);
  if (!ours) return made;
  const sold = await soldItems(ctx.tx, ours.id);
  const held = made.provider_as_of ? [await heldItems(ctx.tx, made.id)] : [];
  for (const billed of [...held, ...(told ?? (await toldStates(ctx, made))).flatMap(toBilledItems)]) {
    const pairs = matchSold(sold, billed);
    if (typeof pairs !== 'string') return mergeIntoSold(ctx, ours, made, pairs);
  }
  return made;
}

/** Ours by the reference: of the same customer, neither linked yet nor ended. */
async function lockReferenced(tx: Database, made: StoredSubscription) {
  const [row] = await tx
    .select()
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.id, made.checkout_reference ?? 0),
        eq(subscriptions.customer_id, made.customer_id),
        isNull(subscriptions.stripe_subscription_id),
        ne(subscriptions.status, 'cancelled'),
      ),
    )
    .for('update');
  return row;
}

/** What a subscription of ours was sold with. */
export async function soldItems(db: Database, subscriptionId: number): Promise<SoldItem[]> {
  const found = await db
    .select({
      id: subscriptionItems.id,
      quantity: subscriptionItems.quantity,
      service: {
        id: customerServices.id,
        number: customerServices.service_number,
        price: customerServices.price,
        currency: customerServices.currency,
        interval: customerServices.billing_interval,
        status: customerServices.status,
      },
    })
    .from(subscriptionItems)
    .leftJoin(customerServices, eq(customerServices.id, subscriptionItems.customer_service_id))
    .where(
      and(
        eq(subscriptionItems.subscription_id, subscriptionId),
        isNull(subscriptionItems.stripe_subscription_item_id),
      ),
    )
    .orderBy(subscriptionItems.id);
  return found.map(({ service, ...item }) => ({
    ...item,
    service: service && { ...service, isEnded: ENDED.has(service.status) },
  }));
}

const ENDED = new Set(['cancelled', 'terminated']);

/** What Stripe bills for, as we hold it. */
export async function heldItems(db: Database, subscriptionId: number): Promise<BilledItem[]> {
  const held = await db
    .select()
    .from(subscriptionItems)
    .where(eq(subscriptionItems.subscription_id, subscriptionId))
    .orderBy(subscriptionItems.id);
  return held.map(toBilledItem);
}

function toBilledItem(item: Omit<StoredItem, 'id' | 'subscription_id'> | ReturnType<typeof toItemState>) {
  return {
    stripeItemId: item.stripe_subscription_item_id ?? '',
    amount: item.amount,
    currency: item.currency,
    interval: item.interval,
    intervalCount: item.interval_count,
    namedServiceId: item.named_service_id,
    namedServiceNumber: item.named_service_number,
  };
}

/** What a state bills for; none of one that does not list all of it. */
function toBilledItems(state: ProviderSubscription): BilledItem[][] {
  if (!state.itemsComplete) return [];
  return [state.items.map((item) => toBilledItem(toItemState(state, item)))];
}

const MOST = 100;

/** What Stripe has told of a subscription, the latest first. */
async function toldStates(ctx: SyncContext, made: StoredSubscription): Promise<ProviderSubscription[]> {
  const stored = await ctx.tx
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(
      and(
        eq(stripeEvents.object_id, made.stripe_subscription_id ?? ''),
        inArray(stripeEvents.type, SUBSCRIPTION_EVENT_TYPES),
        inArray(stripeEvents.outcome, ['processed', 'stale']),
      ),
    )
    .orderBy(desc(stripeEvents.stripe_created), desc(stripeEvents.id))
    .limit(MOST);
  return stored.flatMap(({ payload }) => {
    const event = toProviderEvent(JSON.parse(payload));
    return (event && toProviderSubscription(event.object)) ?? [];
  });
}
