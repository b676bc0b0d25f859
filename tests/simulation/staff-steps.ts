import { and, asc, eq, isNotNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, stripeCustomers, subscriptionItems, subscriptions } from '@/db/schema';
import { AppError } from '@/lib/errors';
import { linkItem as linkItemOf } from '@/lib/sync/staff/link-item';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Deeds } from './own-steps';
import { pick } from './pick';
import type { Setup } from './setup';

export const ACTOR = { type: 'cli', id: 'simulation', name: 'simulation' } as const;

/** Staff say who a Stripe customer is: the one of ours that it is linked to already, or any other. */
export async function confirmLink(
  deps: SyncDeps,
  setup: Setup,
  deeds: Deeds,
  a: number,
  b: number,
): Promise<string | null> {
  const links = await deps.db.select().from(stripeCustomers).orderBy(asc(stripeCustomers.stripe_customer_id));
  const link = pick(links, a);
  const held = setup.ours.find(({ id }) => id === link?.customer_id);
  const target = b % 2 === 0 && held ? held : pick(setup.ours, b);
  const made = setup.stripeCustomers.find(({ customer }) => customer.id === link?.stripe_customer_id);
  if (!link || !target || !made) return null;
  const { stripe_customer_id: id, customer_id: from } = link;
  const move = () => linkStripeCustomer({ ...deps, stripe: null }, ACTOR, id, { from, to: target.id });
  if (!(await isTaken(move))) return null;
  if (made.staff !== null && made.staff !== target.id) made.formerly.push(made.staff);
  made.staff = target.id;
  await forgetServicesOfOthers(deps.db, deeds, id, target.services);
  return `staff link ${id} to ${target.number}`;
}

/** What staff said of its items counts no more where the service is not its customer's. */
async function forgetServicesOfOthers(
  db: Database,
  { linked }: Deeds,
  stripeCustomerId: string,
  services: { id: number }[],
): Promise<void> {
  const items = await db
    .select({ item: subscriptionItems.stripe_subscription_item_id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptions.stripe_customer_id, stripeCustomerId));
  for (const { item } of items) {
    const word = linked.get(item ?? '') ?? null;
    if (item && word !== null && !services.some(({ id }) => id === word)) linked.delete(item);
  }
}

/** Staff say which service an item pays for, or that it pays for none. */
export async function linkItem(
  deps: SyncDeps,
  setup: Setup,
  { linked }: Deeds,
  a: number,
  b: number,
): Promise<string | null> {
  const items = await deps.db
    .select({ row: subscriptionItems, owner: subscriptions.customer_id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(isNotNull(subscriptionItems.stripe_subscription_item_id))
    .orderBy(asc(subscriptionItems.id));
  const withServices = setup.ours.filter(({ services }) => services.length > 0);
  const ownerOf = (item: (typeof items)[number]) => withServices.find(({ id }) => id === item.owner);
  const found = pick(items.filter(ownerOf), a);
  const own = found && ownerOf(found);
  const service = (b < 2 ? undefined : pick(own?.services ?? [], b)) ?? null;
  const { id, stripe_subscription_item_id: item, customer_service_id: held } = found?.row ?? {};
  if (!id || !item || held === (service?.id ?? null)) return null;
  if (!(await isTaken(() => linkItemOf(deps, ACTOR, id, service?.number ?? null)))) return null;
  const [now] = await deps.db
    .select()
    .from(subscriptionItems)
    .where(and(eq(subscriptionItems.id, id), eq(subscriptionItems.linked_by_staff, true)));
  if (!now) return null; // what was done at the same time had linked it to the same
  linked.set(item, service?.id ?? null);
  return `staff link ${item} to ${service ? `service ${service.id}` : 'no service'}`;
}

/** Whether it was not refused for what happened at the same time. */
async function isTaken(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

export async function dateService(
  db: Database,
  setup: Setup,
  { dated }: Deeds,
  a: number,
  b: number,
): Promise<string | null> {
  const service = pick(
    setup.ours.flatMap(({ services }) => services),
    a,
  );
  if (!service) return null;
  const next_billing_date = `2021-01-0${1 + b}`;
  await db.update(customerServices).set({ next_billing_date }).where(eq(customerServices.id, service.id));
  dated.get(service.id)?.push(next_billing_date);
  return `staff bill service ${service.id} on ${next_billing_date}`;
}
