import { and, eq, getTableColumns, inArray, isNotNull, or } from 'drizzle-orm';
import { customerServices, subscriptionItems, subscriptions } from '@/db/schema';
import { statement } from '@/db/statement';
import { toIso } from '../dates';
import type { ProviderSubscription, ProviderSubscriptionItem } from '../stripe/provider';
import type { SyncContext } from './context';
import { updateDatesOf } from './update-service-dates';
import { differing, isSameState, toChanges } from './write-changes';

export type StoredItem = typeof subscriptionItems.$inferSelect;
type Named = Pick<StoredItem, 'named_service_id' | 'named_service_number'>;

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
    return row && isSameState(row, toState(provider, item, row));
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
    const state = toState(provider, item, row);
    const linked = row?.linked_by_staff ? null : await findService(ctx, subscription.customer_id, state);
    const link = { stripe_subscription_item_id: item.id, ...(linked && { customer_service_id: linked }) };
    if (row) await updateItem(ctx, row, { ...state, ...link });
    services.push(row ? linked : await addItem(ctx, subscription.id, item.id, state, linked));
  }
  return services;
}

/**
 * Links the items of a Stripe customer to the services that Stripe names, which the customer it came to may
 * have and the former one had not.
 */
export async function relinkItems(ctx: SyncContext, stripeCustomerId: string): Promise<void> {
  const found = await ctx.tx
    .select({ item: getTableColumns(subscriptionItems), customer_id: subscriptions.customer_id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(
      and(
        eq(subscriptions.stripe_customer_id, stripeCustomerId),
        eq(subscriptionItems.linked_by_staff, false),
        or(isNotNull(subscriptionItems.named_service_id), isNotNull(subscriptionItems.named_service_number)),
      ),
    )
    .orderBy(subscriptionItems.id)
    .for('update');
  const services: (number | null)[] = [];
  for (const { item, customer_id } of found) {
    const customer_service_id = await findService(ctx, customer_id, item);
    if (!customer_service_id) continue;
    services.push(item.customer_service_id, customer_service_id);
    await updateItem(ctx, item, { customer_service_id });
  }
  await updateDatesOf(ctx, services);
}

/** The one item that we sold and Stripe now has its own of: it takes that id, and keeps its service. */
function sold(held: StoredItem[], provider: ProviderSubscription): StoredItem | undefined {
  const [only, ...others] = held.filter((item) => item.stripe_subscription_item_id === null);
  return provider.items.length === 1 && others.length === 0 ? only : undefined;
}

/** An item's columns for a state of Stripe's. Of a single item its subscription's metadata counts too. */
function toState(provider: ProviderSubscription, item: ProviderSubscriptionItem, row?: StoredItem) {
  const metadata = provider.items.length === 1 ? { ...provider.metadata, ...item.metadata } : item.metadata;
  return {
    quantity: item.quantity,
    current_period_end: item.currentPeriodEnd ?? row?.current_period_end ?? null,
    named_service_id: metadata.customer_service_id || null,
    named_service_number: metadata.service_number || null,
  };
}

async function updateItem(ctx: SyncContext, row: StoredItem, state: Partial<StoredItem>): Promise<void> {
  const changed = differing(row, state);
  if (Object.keys(changed).length === 0) return;
  ctx.changes.push(...toChanges(subjectOf(row), row, state));
  const next = { ...row, ...changed };
  await writeItem(ctx.tx, {
    id: next.id,
    customer_service_id: next.customer_service_id,
    stripe_subscription_item_id: next.stripe_subscription_item_id,
    quantity: next.quantity,
    current_period_end: toIso(next.current_period_end),
    named_service_id: next.named_service_id,
    named_service_number: next.named_service_number,
  });
}

const WRITTEN = [
  'customer_service_id',
  'stripe_subscription_item_id',
  'quantity',
  'current_period_end',
  'named_service_id',
  'named_service_number',
] as const;
const writeItem = statement(['id', ...WRITTEN], (db, { id, ...values }) =>
  db.update(subscriptionItems).set(values).where(eq(subscriptionItems.id, id)),
);

async function addItem(
  ctx: SyncContext,
  subscription_id: number,
  stripe_subscription_item_id: string,
  state: ReturnType<typeof toState>,
  customer_service_id: number | null,
): Promise<number | null> {
  // An item keeps its id when Stripe moves it to another subscription.
  const moved = { ...state, subscription_id, ...(customer_service_id && { customer_service_id }) };
  const [row] = await ctx.tx
    .insert(subscriptionItems)
    .values({ ...state, subscription_id, customer_service_id, stripe_subscription_item_id })
    .onConflictDoUpdate({ target: subscriptionItems.stripe_subscription_item_id, set: moved })
    .returning();
  if (!row) throw new Error('an upsert answers its row');
  const after = stripe_subscription_item_id;
  ctx.changes.push({ ...subjectOf(row), field: 'created', before: null, after, outcome: 'fixed' });
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

/** The customer's own service that Stripe names by id or number. */
async function findService(
  ctx: SyncContext,
  customerId: number,
  { named_service_id: id, named_service_number: number }: Named,
): Promise<number | null> {
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
