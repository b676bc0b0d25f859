import { and, eq, inArray, or } from 'drizzle-orm';
import { customerServices, subscriptionItems } from '@/db/schema';
import { statement } from '@/db/statement';
import { toIso } from '../dates';
import type { ProviderSubscription, ProviderSubscriptionItem } from '../stripe/provider';
import type { SyncContext } from './context';
import { differing, isSameState, toChanges } from './write-changes';

export type StoredItem = typeof subscriptionItems.$inferSelect;

export function storedItems({ tx }: SyncContext, subscriptionId: number): Promise<StoredItem[]> {
  return readItems(tx, { subscriptionId });
}

const readItems = statement(['subscriptionId'], (db, { subscriptionId }) =>
  db
    .select()
    .from(subscriptionItems)
    .where(eq(subscriptionItems.subscription_id, subscriptionId))
    .orderBy(subscriptionItems.id),
);

export function isSameItems(held: StoredItem[], provider: ProviderSubscription): boolean {
  const byId = new Map(held.map((item) => [item.stripe_subscription_item_id, item]));
  const same = provider.items.every((item) => {
    const row = byId.get(item.id);
    return row && isSameState(row, toState(item, row));
  });
  const known = held.filter((item) => item.stripe_subscription_item_id !== null);
  return same && (!provider.itemsComplete || known.length === provider.items.length);
}

/**
 * Adds, updates and links items; removes those that a complete list no longer holds.
 *
 * @returns the services of the provider's items
 */
export async function applyItems(
  ctx: SyncContext,
  subscription: { id: number; customer_id: number },
  held: StoredItem[],
  provider: ProviderSubscription,
): Promise<(number | null)[]> {
  // Items without an id at Stripe are ours: they say what was sold, and their services keep their link.
  const gone = held.filter(
    ({ stripe_subscription_item_id: id }) => id !== null && !provider.items.some((item) => item.id === id),
  );
  if (provider.itemsComplete && gone.length > 0) await removeItems(ctx, gone);
  const services: (number | null)[] = [];
  for (const item of provider.items) {
    const row = held.find((known) => known.stripe_subscription_item_id === item.id) ?? sold(held, provider);
    const linked = row?.linked_by_staff
      ? null
      : await findService(ctx, subscription.customer_id, metadataOf(provider, item));
    const link = { stripe_subscription_item_id: item.id, ...(linked && { customer_service_id: linked }) };
    if (row) await updateItem(ctx, row, { ...toState(item, row), ...link });
    services.push(row ? linked : await addItem(ctx, subscription.id, item, linked));
  }
  return services;
}

/** Links items by their metadata to services of the customer that they have come to. */
export async function relinkItems(
  ctx: SyncContext,
  customerId: number,
  held: StoredItem[],
  provider: ProviderSubscription,
): Promise<void> {
  for (const item of provider.items) {
    const row = held.find((known) => known.stripe_subscription_item_id === item.id);
    if (!row || row.linked_by_staff) continue;
    const customer_service_id = await findService(ctx, customerId, metadataOf(provider, item));
    if (customer_service_id) await updateItem(ctx, row, { customer_service_id });
  }
}

/** The one item that we sold and Stripe now has its own of: it takes that id, and keeps its service. */
function sold(held: StoredItem[], provider: ProviderSubscription): StoredItem | undefined {
  const [only, ...others] = held.filter((item) => item.stripe_subscription_item_id === null);
  return provider.items.length === 1 && others.length === 0 ? only : undefined;
}

/** What may name an item's service: its own metadata, and of a single item its subscription's. */
export function metadataOf(
  provider: ProviderSubscription,
  item: ProviderSubscriptionItem,
): Record<string, string> {
  return provider.items.length === 1 ? { ...provider.metadata, ...item.metadata } : item.metadata;
}

function toState(item: ProviderSubscriptionItem, row: StoredItem) {
  return { quantity: item.quantity, current_period_end: item.currentPeriodEnd ?? row.current_period_end };
}

async function updateItem(ctx: SyncContext, row: StoredItem, state: Partial<StoredItem>): Promise<void> {
  const changed = differing(row, state);
  if (Object.keys(changed).length === 0) return;
  ctx.changes.push(...toChanges(subjectOf(row), row, state));
  const { id, customer_service_id, stripe_subscription_item_id, quantity, current_period_end } = {
    ...row,
    ...changed,
  };
  const end = toIso(current_period_end);
  await writeItem(ctx.tx, {
    id,
    customer_service_id,
    stripe_subscription_item_id,
    quantity,
    current_period_end: end,
  });
}

const writeItem = statement(
  ['id', 'customer_service_id', 'stripe_subscription_item_id', 'quantity', 'current_period_end'],
  (db, { id, ...values }) => db.update(subscriptionItems).set(values).where(eq(subscriptionItems.id, id)),
);

async function addItem(
  ctx: SyncContext,
  subscription_id: number,
  item: ProviderSubscriptionItem,
  customer_service_id: number | null,
): Promise<number | null> {
  const values = {
    subscription_id,
    customer_service_id,
    stripe_subscription_item_id: item.id,
    quantity: item.quantity,
    current_period_end: item.currentPeriodEnd,
  };
  // An item keeps its id when Stripe moves it to another subscription.
  const { subscription_id: _, customer_service_id: __, ...state } = values;
  const moved = { ...state, subscription_id, ...(customer_service_id && { customer_service_id }) };
  const [row] = await ctx.tx
    .insert(subscriptionItems)
    .values(values)
    .onConflictDoUpdate({ target: subscriptionItems.stripe_subscription_item_id, set: moved })
    .returning();
  if (!row) throw new Error('an upsert answers its row');
  ctx.changes.push({ ...subjectOf(row), field: 'created', before: null, after: item.id, outcome: 'fixed' });
  return row.customer_service_id;
}

async function removeItems(ctx: SyncContext, gone: StoredItem[]): Promise<void> {
  for (const row of gone) {
    const before = row.stripe_subscription_item_id;
    ctx.changes.push({ ...subjectOf(row), field: 'removed', before, after: null, outcome: 'fixed' });
  }
  await ctx.tx.delete(subscriptionItems).where(
    inArray(
      subscriptionItems.id,
      gone.map((row) => row.id),
    ),
  );
}

/** The customer's own service that metadata names by id or number. */
async function findService(
  ctx: SyncContext,
  customerId: number,
  metadata: Record<string, string>,
): Promise<number | null> {
  const { customer_service_id: id, service_number: number } = metadata;
  const named = [
    id && /^\d{1,9}$/.test(id) ? eq(customerServices.id, Number(id)) : undefined,
    number ? eq(customerServices.service_number, number) : undefined,
  ].filter((condition) => condition !== undefined);
  if (named.length === 0) return null;
  const [service] = await ctx.tx
    .select({ id: customerServices.id })
    .from(customerServices)
    .where(and(eq(customerServices.customer_id, customerId), or(...named)))
    .limit(1);
  if (!service) ctx.warnings.push('an item names a service that its customer does not have');
  return service?.id ?? null;
}

function subjectOf(row: StoredItem) {
  return {
    entity: 'subscription_item' as const,
    entity_id: row.id,
    stripe_id: row.stripe_subscription_item_id,
  };
}
