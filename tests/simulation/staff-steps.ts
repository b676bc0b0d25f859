import { AppError } from '@/lib/errors';
import type { Hands } from './hands';
import type { Deeds } from './own-steps';
import { pick } from './pick';
import type { Setup } from './setup';
import { isStray } from './strays';

/** Staff say who a Stripe customer is: the one of ours that it is linked to already, or any other. */
export async function confirmLink(
  hands: Hands,
  setup: Setup,
  deeds: Deeds,
  a: number,
  b: number,
): Promise<string | null> {
  const link = pick(await hands.links(), a);
  const current = setup.ours.find(({ id }) => id === link?.customer_id);
  const target = b % 2 === 0 && current ? current : pick(setup.ours, b);
  const made = setup.stripeCustomers.find(({ customer }) => customer.id === link?.stripe_customer_id);
  if (!link || !target || !made) return null;
  const { stripe_customer_id: id, customer_id: from } = link;
  const move = () => hands.linkStripeCustomer(id, { from, to: target.id });
  if (!(await isTaken(move))) return null;
  if (made.staff !== null && made.staff !== target.id) made.formerly.push(made.staff);
  made.staff = target.id;
  await forgetServicesOfOthers(hands, deeds, id, target.services);
  return `staff link ${id} to ${target.number}`;
}

/** What staff said of its items counts no more where the service is not its customer's. */
async function forgetServicesOfOthers(
  hands: Hands,
  { linked }: Deeds,
  stripeCustomerId: string,
  services: { id: number }[],
): Promise<void> {
  for (const item of await hands.itemsOf(stripeCustomerId)) {
    const word = linked.get(item ?? '') ?? null;
    if (item && word !== null && !services.some(({ id }) => id === word)) linked.delete(item);
  }
}

/** Staff say which service an item pays for, or that it pays for none. */
export async function linkItem(
  hands: Hands,
  setup: Setup,
  { linked }: Deeds,
  a: number,
  b: number,
): Promise<string | null> {
  const items = (await hands.items()).filter((item) => !isStray(item.stripe_subscription_item_id));
  const withServices = setup.ours.filter(({ services }) => services.length > 0);
  const ownerOf = (item: (typeof items)[number]) => withServices.find(({ id }) => id === item.owner);
  const found = pick(items.filter(ownerOf), a);
  const own = found && ownerOf(found);
  const service = (b < 2 ? undefined : pick(own?.services ?? [], b)) ?? null;
  const { id, stripe_subscription_item_id: item, customer_service_id: current } = found ?? {};
  if (!id || !item || current === (service?.id ?? null)) return null;
  if (!(await isTaken(() => hands.linkItem(id, service?.number ?? null)))) return null;
  if (!(await hands.isLinkedByStaff(id))) return null; // what was done at the same time had linked it to the same
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
  hands: Hands,
  setup: Setup,
  { dated }: Deeds,
  a: number,
  b: number,
  c: number,
): Promise<string | null> {
  const service = pick(
    setup.ours.flatMap(({ services }) => services),
    a,
  );
  if (!service) return null;
  const date = `2021-01-0${1 + b}`;
  const column = c % 2 === 0 ? 'next_billing_date' : 'ends_on';
  await hands.dateService(service.id, { [column]: date });
  dated.get(service.id)?.[column].push(date);
  return `staff give service ${service.id} the ${column} ${date}`;
}
