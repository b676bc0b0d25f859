import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { type FieldChange, subscriptionItems, subscriptions } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { AppError, invalidField } from '../../errors';
import type { Draft } from '../decide/draft';
import { dateServices } from '../decide/subscription/service-dates';
import { setItemService } from '../decide/subscription/set-item-service';
import { mergeKeys, noKeys } from '../store/keys';
import type { StoredSubscription } from '../store/rows';
import type { SyncDeps } from '../sync-deps';
import { synchronize } from '../synchronize';

/**
 * @param serviceNumber null: none
 * @returns what changed in services because of it
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

/** @param found the subscription whose item it was last */
export async function relinkItem(
  deps: SyncDeps,
  actor: Actor,
  found: Pick<StoredSubscription, 'id' | 'stripe_customer_id'>,
  itemId: number,
  serviceNumber: string | null,
): Promise<FieldChange[]> {
  const { result } = await synchronize(deps, {
    stripeCustomerId: found.stripe_customer_id,
    keys: mergeKeys(noKeys(), {
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
