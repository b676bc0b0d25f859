import type { Invoice, ItemInput, Metadata, Subscription } from '@/lib/stripe-local/model';
import type { World } from '@/lib/stripe-local/world';
import { BASIL, type Plan } from '../plan';
import type { Setup } from '../setup';

/** What a step at Stripe has to do with. */
export interface Scene {
  world: World;
  plan: Plan;
  setup: Setup;
  /** Subscriptions of ours that a checkout was made for. */
  checkedOut: Set<number>;
  /** Stripe customers that were deleted and that Stripe does not even know any more. */
  unknown: Set<string>;
  /** How many events of strays there were. */
  strays: { count: number };
}

export function newItem(
  scene: Scene,
  own: Setup['ours'][number] | undefined,
  b: number,
  c: number,
): ItemInput {
  return {
    unitAmount: 500 + 100 * b,
    quantity: 1 + (c % 2),
    // Before basil all items of a subscription had one period.
    interval: !isOlder(scene) && (b + c) % 5 === 4 ? 'year' : 'month',
    metadata: b % 2 === 0 ? {} : serviceMetadata(own, b + c),
  };
}

export function serviceMetadata(own: Setup['ours'][number] | undefined, c: number): Metadata {
  const service = own?.services[c % Math.max(1, own.services.length)];
  if (!service) return {};
  const other = own?.services[(c + 1) % own.services.length];
  // Its id names one service, and the number another.
  if (c === 6 && other) return { customer_service_id: String(service.id), service_number: other.number };
  return c % 2 === 0 ? { customer_service_id: String(service.id) } : { service_number: service.number };
}

/** Now and then, or most often, an object's metadata names a customer, and not always the right one. */
export function numberMetadata({ setup: { ours }, plan }: Scene, c: number): Metadata {
  const { claims = 1 } = plan.swarm;
  const isNamed = claims > 0 && c >= (claims > 1 ? 1 : 5);
  const number = isNamed ? ours[c % ours.length]?.number : undefined;
  return number === undefined ? {} : { customer_number: number };
}

/** A Stripe customer that was not deleted, and whose services it may name. */
export function ownerOf(scene: Scene, a: number) {
  const made = scene.setup.stripeCustomers.filter(
    ({ customer }) => !scene.world.customers.get(customer.id)?.deleted,
  );
  const id = made[a % Math.max(1, made.length)]?.customer.id;
  return id === undefined ? null : { id, own: ownOf(scene, id) };
}

/** Whose services and sold subscription are named: the one it most surely is, else any candidate, else any. */
export function ownOf(scene: Scene, stripeCustomerId: string) {
  const { ours } = scene.setup;
  return ours.find((one) => isCandidate(scene, stripeCustomerId, one.id)) ?? ours.at(-1);
}

export function isCandidate({ setup, world }: Scene, stripeCustomerId: string, id: number): boolean {
  const made = setup.stripeCustomers.find(({ customer }) => customer.id === stripeCustomerId);
  const own = setup.ours.find((one) => one.id === id);
  if (!made || !own) return false;
  if (made.staff !== null) return made.staff === id;
  const { email, metadata } = world.customers.get(stripeCustomerId) ?? made.customer;
  if (setup.ours.some((one) => one.number === metadata.customer_number)) {
    return own.number === metadata.customer_number;
  }
  return email === null || own.email === email;
}

export const isOlder = ({ plan }: Scene) => plan.versions.some((version) => !BASIL.includes(version));

export function live({ world }: Scene, a: number): Subscription | undefined {
  return pick(
    [...world.subscriptions.values()].filter(({ status }) => !ENDED.has(status)),
    a,
  );
}

const ENDED = new Set(['canceled', 'incomplete_expired']);

export function invoiceThat(
  { world }: Scene,
  a: number,
  ...statuses: Invoice['status'][]
): Invoice | undefined {
  return pick(
    [...world.invoices.values()].filter(({ status }) => statuses.includes(status)),
    a,
  );
}

/** The newest first: what was just made is most often what goes on. */
export function pick<T>(from: T[], a: number): T | undefined {
  return from.at(-1 - (a % Math.max(1, from.length)));
}
