import { eq, getTableColumns, inArray } from 'drizzle-orm';
import { customerServices, subscriptionItems, subscriptions } from '@/db/schema';
import { isOfSureCustomer } from '../customers/sure-link';
import type { ProviderSubscription } from '../stripe/provider';
import { isSameItems } from './apply-items';
import { type Billed, toServiceDates } from './service-dates';
import type { SyncDeps } from './sync-deps';
import { toSubscriptionState } from './to-subscription-state';
import { readBilled, serviceDates } from './update-service-dates';
import { isSameState } from './write-changes';

/**
 * Which of a page's subscriptions we hold just as Stripe does, items, links and service dates included:
 * nothing to lock, nothing to write. Four queries for a page.
 */
export async function heldSubscriptions(
  deps: Pick<SyncDeps, 'db' | 'now' | 'timeZone'>,
  provided: ProviderSubscription[],
  asOf: Date,
): Promise<Set<string>> {
  const ids = provided.map(({ id }) => id);
  if (ids.length === 0) return new Set();
  const held = await deps.db
    .select({ ...getTableColumns(subscriptions), isSure: isOfSureCustomer(subscriptions) })
    .from(subscriptions)
    .where(inArray(subscriptions.stripe_subscription_id, ids));
  const items = await itemsOf(
    deps,
    held.map((row) => row.id),
  );
  const serviceIds = items.map((item) => item.customer_service_id).filter((id) => id !== null);
  const billed = await readBilled(deps.db, [...new Set(serviceIds)]);
  const clock = { timeZone: deps.timeZone, warnings: [] };
  const byId = new Map(held.map((row) => [row.stripe_subscription_id, row]));

  const same = provided.filter((provider) => {
    const row = byId.get(provider.id);
    if (!row?.provider_as_of || row.recheck_at || row.provider_gone_at) return false;
    const own = items.filter((item) => item.subscription_id === row.id);
    return (
      row.stripe_customer_id === (provider.customer?.stripeCustomerId ?? null) &&
      isSameState(row, toSubscriptionState(clock, row, provider, asOf)) &&
      isSameItems(own, provider) &&
      (!row.isSure || own.every((item) => isLinked(item) && isDated(item, billed, deps.timeZone)))
    );
  });
  return new Set(same.map(({ id }) => id));
}

type HeldItem = Awaited<ReturnType<typeof itemsOf>>[number];

async function itemsOf({ db }: Pick<SyncDeps, 'db'>, subscriptionIds: number[]) {
  if (subscriptionIds.length === 0) return [];
  return db
    .select({
      ...getTableColumns(subscriptionItems),
      service_number: customerServices.service_number,
      dates: { id: customerServices.id, ...serviceDates }, // first what is never null: drizzle looks there
    })
    .from(subscriptionItems)
    .leftJoin(customerServices, eq(customerServices.id, subscriptionItems.customer_service_id))
    .where(inArray(subscriptionItems.subscription_id, subscriptionIds));
}

/** Whether an item's link is the one that Stripe names, if it does. */
function isLinked(item: HeldItem): boolean {
  const { named_service_id: id, named_service_number: number } = item;
  if (item.linked_by_staff) return true;
  return (!id || id === String(item.customer_service_id)) && (!number || number === item.service_number);
}

function isDated({ customer_service_id: id, dates }: HeldItem, billed: Map<number, Billed>, zone: string) {
  return id === null || !dates || isSameState(dates, toServiceDates(dates, billed.get(id), zone));
}
