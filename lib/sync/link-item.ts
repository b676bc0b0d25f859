import { and, eq } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { customerServices, type FieldChange, subscriptionItems, subscriptions } from '@/db/schema';
import { ChangedMeanwhileError, transact } from '@/db/transaction';
import type { Actor } from '../audit/record-audit';
import { AppError, invalidField } from '../errors';
import { storedItems } from './apply-items';
import { newContext } from './context';
import { withLookups } from './lookups';
import { setItemService } from './set-item-service';
import type { SyncDeps } from './sync-deps';
import { updateServiceDates } from './update-service-dates';

/**
 * Says which of its customer's services a subscription item pays for, and brings the billing dates of the
 * services concerned up to date, under the lock that sync writes the subscription with.
 *
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
  return withLookups(deps, (lookups) =>
    transact(deps.db, async (tx) => {
      const ctx = newContext(tx, deps, lookups);
      const subscription = await lockSubscriptionOf(tx, itemId);
      const items = await storedItems(ctx, subscription.id);
      const item = items.find(({ id }) => id === itemId);
      if (!item) throw new ChangedMeanwhileError('the item went to another subscription');
      const service = serviceNumber === null ? null : await findService(tx, subscription, serviceNumber);
      if (item.customer_service_id === service) return [];
      await setItemService(tx, actor, service === null ? 'unlink' : 'link', item, service);
      await updateServiceDates(ctx, subscription.id, items);
      return ctx.changes;
    }),
  );
}

async function lockSubscriptionOf(tx: Database, itemId: number) {
  const found = await subscriptionOf(tx, itemId);
  const key = found?.stripe_customer_id ?? found?.stripe_subscription_id;
  if (key) await lockKey(tx, key);
  const [locked] = found
    ? await tx.select().from(subscriptions).where(eq(subscriptions.id, found.id)).for('update')
    : [];
  if (!locked) throw new AppError('not_found', `There is no subscription item ${itemId}.`);
  return locked;
}

async function subscriptionOf(tx: Database, itemId: number) {
  const [found] = await tx
    .select({
      id: subscriptions.id,
      stripe_customer_id: subscriptions.stripe_customer_id,
      stripe_subscription_id: subscriptions.stripe_subscription_id,
    })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptionItems.id, itemId));
  return found;
}

async function findService(tx: Database, of: { customer_id: number }, number: string): Promise<number> {
  const [service] = await tx
    .select({ id: customerServices.id })
    .from(customerServices)
    .where(
      and(eq(customerServices.customer_id, of.customer_id), eq(customerServices.service_number, number)),
    );
  if (!service) throw invalidField('service_number', 'is not a service of this customer');
  return service.id;
}
