import { and, eq, getTableColumns, inArray, or } from 'drizzle-orm';
import { customerServices, subscriptionItems, subscriptions } from '@/db/schema';
import { runTogether, statement, type Write } from '@/db/statement';
import { toIso } from '../dates';
import type { ProviderSubscription, ProviderSubscriptionItem } from '../stripe/provider';
import { hasMoreItems } from './all-items';
import type { SyncContext } from './context';
import type { Held, HeldService, StoredItem } from './lock-held';
import { type DatedItem, updateDatesOf } from './update-service-dates';
import { differing, isSameState, toChanges } from './write-changes';

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
  if (hasMoreItems(provider)) return false; // nobody can tell from these
  const byId = new Map(held.map((item) => [item.stripe_subscription_item_id, item]));
  const same = provider.items.every((item) => {
    const row = byId.get(item.id);
    return row && isSameState(row, toItemState(provider, item, row));
  });
  const known = held.filter((item) => item.stripe_subscription_item_id !== null);
  return same && (!provider.itemsComplete || known.length === provider.items.length);
}

/**
 * Adds, links and removes items, the last where a complete list no longer holds them.
 *
 * @param options.asOf when they were so: one that another subscription has had since stays there
 * @param options.isSure whether its customer is known for sure: else items keep the services they have
 * @returns the items as they then are, the services that those had which came from another subscription, and
 * what is left to write of them
 */
export async function applyItems(
  ctx: SyncContext,
  subscription: { id: number; customer_id: number },
  { items: held, services }: Pick<Held, 'items' | 'services'>,
  provider: ProviderSubscription,
  { asOf, isSure }: { asOf: Date; isSure: boolean },
): Promise<{ items: DatedItem[]; left: (number | null)[]; writes: Write[] }> {
  // Items without an id at Stripe are ours: they say what was sold, and their services keep their link.
  const gone = held.filter(
    ({ stripe_subscription_item_id: id }) => id !== null && !provider.items.some((item) => item.id === id),
  );
  const isRemoved = provider.itemsComplete && gone.length > 0;
  if (isRemoved) await removeItems(ctx, gone);
  const items = new Map<number, DatedItem>(held.map((row) => [row.id, row]));
  if (isRemoved) for (const { id } of gone) items.delete(id);
  const left: (number | null)[] = [];
  const writes: Write[] = [];
  for (const item of provider.items) {
    const row = held.find((known) => known.stripe_subscription_item_id === item.id) ?? sold(held, provider);
    const elsewhere = row ? undefined : (await lockElsewhere(ctx.tx, { id: item.id }))[0];
    if (elsewhere?.asOf && elsewhere.asOf > asOf) continue;
    left.push(elsewhere?.customer_service_id ?? null);
    const state = toItemState(provider, item, row);
    const own = services.find(({ id }) => id === row?.customer_service_id);
    const linked =
      !isSure || (row ?? elsewhere)?.linked_by_staff || (own && isNamed(own, subscription, state))
        ? null
        : await findService(ctx, subscription.customer_id, state);
    const link = linked && { customer_service_id: linked };
    if (row) writes.push(...updateItem(ctx, row, { ...state, ...link }));
    const now = row ? { ...row, ...state, ...link } : await addItem(ctx, subscription.id, state, linked);
    items.set(now.id, now);
  }
  return { items: [...items.values()], left, writes };
}

/**
 * Links the items of a Stripe customer to the services that Stripe names, which the customer it came to may
 * have and the former one had not, and dates all services of its items. Its link is sure.
 */
export async function relinkItems(ctx: SyncContext, stripeCustomerId: string): Promise<void> {
  const found = await ctx.tx
    .select({ item: getTableColumns(subscriptionItems), customer_id: subscriptions.customer_id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(and(eq(subscriptions.stripe_customer_id, stripeCustomerId)))
    .orderBy(subscriptionItems.id)
    .for('update');
  const services: (number | null)[] = [];
  const writes: Write[] = [];
  for (const { item, customer_id } of found) {
    services.push(item.customer_service_id);
    const customer_service_id = item.linked_by_staff ? null : await findService(ctx, customer_id, item);
    if (!customer_service_id) continue;
    services.push(customer_service_id);
    writes.push(...updateItem(ctx, item, { customer_service_id }));
  }
  await runTogether(ctx.tx, writes);
  await updateDatesOf(ctx, services);
}

/** An item that comes from another subscription of the same Stripe customer, and as of when that one had it. */
const lockElsewhere = statement(['id'], (db, { id }) =>
  db
    .select({
      customer_service_id: subscriptionItems.customer_service_id,
      linked_by_staff: subscriptionItems.linked_by_staff,
      asOf: subscriptions.provider_as_of,
    })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptionItems.stripe_subscription_item_id, id))
    .for('update', { of: subscriptionItems }),
);

/** The one item that we sold and Stripe now has its own of: it takes that id, and keeps its service. */
function sold(held: StoredItem[], provider: ProviderSubscription): StoredItem | undefined {
  const [only, ...others] = held.filter((item) => item.stripe_subscription_item_id === null);
  return provider.items.length === 1 && others.length === 0 ? only : undefined;
}

/** An item's columns for a state of Stripe's. Of a single item its subscription's metadata counts too. */
export function toItemState(
  provider: ProviderSubscription,
  item: ProviderSubscriptionItem,
  row?: StoredItem,
) {
  const metadata = provider.items.length === 1 ? { ...provider.metadata, ...item.metadata } : item.metadata;
  return {
    stripe_subscription_item_id: item.id,
    quantity: item.quantity,
    amount: item.amount,
    currency: item.currency,
    interval: item.interval,
    interval_count: item.intervalCount,
    current_period_end: item.currentPeriodEnd ?? row?.current_period_end ?? null,
    named_service_id: metadata.customer_service_id || null,
    named_service_number: metadata.service_number || null,
  };
}

function updateItem(ctx: SyncContext, row: StoredItem, state: Partial<StoredItem>): Write[] {
  const changed = differing(row, state);
  if (Object.keys(changed).length === 0) return [];
  // What was never told before is no news.
  const news = Object.entries(changed).filter(([field]) => !BILLED.has(field) || row.interval !== null);
  ctx.changes.push(...toChanges(subjectOf(row), row, Object.fromEntries(news)));
  const next = { ...row, ...changed };
  const current_period_end = toIso(next.current_period_end);
  return [writeItem.with({ ...next, current_period_end })];
}

const BILLED = new Set(['amount', 'currency', 'interval', 'interval_count']);

const WRITTEN = [
  'customer_service_id',
  'stripe_subscription_item_id',
  'quantity',
  'amount',
  'currency',
  'interval',
  'interval_count',
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
  state: ReturnType<typeof toItemState>,
  customer_service_id: number | null,
): Promise<StoredItem> {
  // An item keeps its id when Stripe moves it to another subscription.
  const moved = { ...state, subscription_id, ...(customer_service_id && { customer_service_id }) };
  const [row] = await ctx.tx
    .insert(subscriptionItems)
    .values({ ...state, subscription_id, customer_service_id })
    .onConflictDoUpdate({ target: subscriptionItems.stripe_subscription_item_id, set: moved })
    .returning();
  if (!row) throw new Error('an upsert answers its row');
  const after = row.stripe_subscription_item_id;
  ctx.changes.push({ ...subjectOf(row), field: 'created', before: null, after, outcome: 'fixed' });
  return row;
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

/** Whether a service is the customer's own that Stripe names, and nothing else is named. */
function isNamed(
  service: HeldService,
  { customer_id }: { customer_id: number },
  { named_service_id: id, named_service_number: number }: Named,
): boolean {
  const isOwn = service.customer_id === customer_id;
  return isOwn && (!id || id === String(service.id)) && (!number || number === service.number);
}

/** The customer's own service that Stripe names: the id's, where the number is another's. */
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
  const found = await ctx.tx
    .select({ id: customerServices.id })
    .from(customerServices)
    .where(and(eq(customerServices.customer_id, customerId), or(...named)));
  if (found.length === 0) ctx.warnings.push('an item names a service that its customer does not have');
  if (found.length > 1) ctx.warnings.push('an item names one service by its id and another by its number');
  return (found.find((service) => String(service.id) === id) ?? found[0])?.id ?? null;
}

function subjectOf(row: StoredItem) {
  return {
    entity: 'subscription_item' as const,
    entity_id: row.id,
    stripe_id: row.stripe_subscription_item_id,
  };
}
