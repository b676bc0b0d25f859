import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { type FieldChange, subscriptionItems, subscriptions } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { AppError, invalidField } from '../../errors';
import { type Keys, keysOf, type StoredSubscription } from '../../store/snapshot';
import { read } from '../../store/store';
import { Draft } from '../decide/draft';
import {
  isWaiting,
  type Mismatch,
  matchSold,
  mergeIntoSold,
  type SoldItem,
  soldItems,
  storedItems,
} from '../decide/subscription/adopt-sold';
import { setItemService } from '../decide/subscription/items';
import { dateServices } from '../decide/subscription/service-dates';
import type { SyncDeps } from '../sync-deps';
import { synchronize } from '../synchronize';

export type Obstacle = Mismatch | 'customer_unsure' | 'other_customer' | 'already_linked' | 'cancelled';

/** Obstacles that staff may override when they merge a subscription into the sold subscription. */
const MAY_BE: ReadonlySet<Obstacle> = new Set([
  'nothing_sold',
  'nothing_billed',
  'price_unknown',
  'price_differs',
]);

export type Reference = NonNullable<Awaited<ReturnType<typeof getReference>>>;

/**
 * Finds the sold subscription that a subscription's checkout refers to. `obstacle` is the reason why the two have not
 * been merged. If `obstacle` is null, the next state from Stripe merges them. Returns null if the subscription does not
 * wait for a merge.
 */
export async function getReference(db: Database, subscriptionId: number) {
  const snapshot = await read(db, await keysOfBoth(db, subscriptionId));
  // A draft requires settings, but `obstacleOf` does not use them.
  const settings = { now: new Date(0), timeZone: 'UTC', linkByEmail: false };
  const draft = new Draft(snapshot, settings, () => undefined);
  const found = both(draft, subscriptionId);
  if (!found) return null;
  const obstacle = obstacleOf(draft, found);
  return { id: found.ours.id, obstacle, canAdopt: obstacle === null || MAY_BE.has(obstacle) };
}

/**
 * Merges a subscription into the sold subscription that its checkout refers to, even if their items differ.
 *
 * @returns id of the remaining subscription
 * @throws AppError not_found; conflict
 */
export function adoptReferenced(deps: SyncDeps, actor: Actor, subscriptionId: number): Promise<number> {
  return decide(deps, subscriptionId, (draft, found) => {
    const { ours, made } = found;
    const obstacle = obstacleOf(draft, found);
    if (obstacle !== null && !MAY_BE.has(obstacle)) {
      throw new AppError('conflict', 'It cannot be linked to that subscription any more: look at it again.');
    }
    const after = mergeIntoSold(draft, ours, made, pairsOf(draft, found));
    const audit = { action: 'subscription.adopt', entity: 'subscription', entity_id: after.id } as const;
    draft.audits.push({ actor, ...audit, before: { ...ours }, after: { ...after } });
    return ours.id;
  });
}

/** Records that staff declined to merge a subscription into the sold one. @throws AppError not_found */
export function declineReference(deps: SyncDeps, actor: Actor, subscriptionId: number): Promise<void> {
  return decide(deps, subscriptionId, (draft, { made }) => {
    const after = draft.subscriptions.put({ ...made, reference_declined: true });
    const audit = { action: 'subscription.decline', entity: 'subscription', entity_id: made.id } as const;
    draft.audits.push({ actor, ...audit, before: { ...made }, after: { ...after } });
  });
}

interface Both {
  made: StoredSubscription;
  ours: StoredSubscription;
}

async function decide<T>(deps: SyncDeps, id: number, work: (draft: Draft, found: Both) => T): Promise<T> {
  const { result } = await synchronize(deps, {
    stripeCustomerId: null,
    keys: await keysOfBoth(deps.db, id),
    decide: (draft) => {
      const found = both(draft, id);
      if (!found)
        throw new AppError('not_found', 'The checkout of this subscription no longer names another one.');
      if (found.made.stripe_customer_id) draft.concerned.add(found.made.stripe_customer_id);
      return work(draft, found);
    },
  });
  return result;
}

async function keysOfBoth(db: Database, id: number): Promise<Keys> {
  const [made] = await db
    .select({ reference: subscriptions.checkout_reference })
    .from(subscriptions)
    .where(eq(subscriptions.id, id));
  return keysOf({ subscriptionIds: [id, made?.reference ?? 0] });
}

function both(draft: Draft, id: number): Both | null {
  const made = draft.subscriptions.get(id);
  if (!made || !isWaiting(made)) return null;
  const ours = draft.subscriptions.get(made.checkout_reference ?? 0);
  return ours ? { made, ours } : null;
}

function obstacleOf(draft: Draft, { made, ours }: Both): Obstacle | null {
  if (!made.stripe_customer_id || !draft.isSure(made)) return 'customer_unsure';
  if (made.customer_id !== ours.customer_id) return 'other_customer';
  if (ours.stripe_subscription_id !== null) return 'already_linked';
  if (ours.status === 'cancelled') return 'cancelled';
  const matched = matchSold(soldItems(draft, ours.id), storedItems(draft, made.id));
  return typeof matched === 'string' ? matched : null;
}

/** Pairs sold and billed items if all of them match. If there is one of each, pairs them even if they differ. */
function pairsOf(draft: Draft, { ours, made }: Both): Map<string | null, SoldItem> {
  const [sold, billed] = [soldItems(draft, ours.id), storedItems(draft, made.id)];
  const matched = matchSold(sold, billed);
  if (typeof matched !== 'string') return matched;
  const [one, item] = [sold[0], billed[0]];
  return one && item && sold.length === 1 && billed.length === 1
    ? new Map([[item.stripeItemId, one]])
    : new Map();
}

/**
 * Links a subscription item to the service that staff chose.
 *
 * @param serviceNumber number of the service; null to unlink the item
 * @returns the resulting changes of services
 * @throws AppError not_found; validation_failed for a service that is not the customer's
 */
export async function linkItem(
  deps: SyncDeps,
  actor: Actor,
  itemId: number,
  serviceNumber: string | null,
): Promise<FieldChange[]> {
  return relinkItem(deps, actor, await subscriptionOf(deps.db, itemId), itemId, serviceNumber);
}

/**
 * Links an item like `linkItem`, but only if it is still in the subscription that the caller has read.
 *
 * @param found the subscription to which the item belonged when it was read
 * @throws AppError not_found, also if the item is in another subscription now; validation_failed
 */
export async function relinkItem(
  deps: SyncDeps,
  actor: Actor,
  found: Pick<StoredSubscription, 'id' | 'stripe_customer_id'>,
  itemId: number,
  serviceNumber: string | null,
): Promise<FieldChange[]> {
  const { result } = await synchronize(deps, {
    stripeCustomerId: found.stripe_customer_id,
    keys: keysOf({
      subscriptionIds: [found.id],
      serviceNumbers: serviceNumber === null ? [] : [serviceNumber],
    }),
    decide: (draft) => relink(draft, actor, itemId, serviceNumber),
  });
  return result;
}

function relink(draft: Draft, actor: Actor, itemId: number, serviceNumber: string | null): FieldChange[] {
  const item = draft.items.get(itemId);
  const subscription = draft.subscriptions.get(item?.subscription_id ?? 0);
  if (!item || !subscription) throw itemNotFound(itemId);
  if (subscription.stripe_customer_id) draft.concerned.add(subscription.stripe_customer_id);
  const service = serviceNumber === null ? null : draft.serviceByNumber(serviceNumber);
  if (service === undefined || (service && service.customer_id !== subscription.customer_id)) {
    throw invalidField('service_number', 'is not a service of this customer');
  }
  if (item.customer_service_id === (service?.id ?? null)) return [];
  setItemService(draft, actor, service === null ? 'unlink' : 'link', item, service?.id ?? null);
  const before = draft.changes.length;
  dateServices(draft, [item.customer_service_id, service?.id ?? null]);
  return draft.changes.slice(before);
}

async function subscriptionOf(db: Database, itemId: number) {
  const [found] = await db
    .select({ id: subscriptions.id, stripe_customer_id: subscriptions.stripe_customer_id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptionItems.id, itemId));
  if (!found) throw itemNotFound(itemId);
  return found;
}

const itemNotFound = (id: number) => new AppError('not_found', `There is no subscription item ${id}.`);
