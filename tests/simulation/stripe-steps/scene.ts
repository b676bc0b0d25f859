import type { Invoice, ItemInput, Metadata, Subscription } from '@/lib/stripe-local/model';
import type { World } from '@/lib/stripe-local/world';
import type { OwnCustomer, Setup } from '../oracle/story';
import { BASIL, type Plan, type Step, type StepKind } from '../plan';

export interface Scene {
  world: World;
  plan: Plan;
  setup: Setup;
  /** Sold subscriptions that already have a checkout. */
  checkedOut: Set<number>;
  /** Deleted and stray Stripe customers that Stripe's API does not return. */
  unknown: Set<string>;
  /** The number of stray events so far. */
  strays: { count: number };
}

/** Performs a step in the simulated Stripe. @returns a sentence for the log, or null if the step does not apply */
type Action = (scene: Scene, step: Step) => string | null;
export type Steps = Partial<Record<StepKind, Action>>;
type Of<T> = (scene: Scene, found: T, step: Step) => string | null;

/** Builds an action on a subscription that has not ended. */
export function onLive(act: Of<Subscription>): Action {
  return (scene, step) => {
    const found = pick(allLive(scene), step.a);
    return found ? act(scene, found, step) : null;
  };
}

/** Builds an action on an invoice with one of these statuses. */
export function onInvoice(statuses: string[], act: Of<Invoice>): Action {
  return (scene, step) => {
    const all = [...scene.world.invoices.values()].filter(({ status }) => statuses.includes(status));
    const found = pick(all, step.a);
    return found ? act(scene, found, step) : null;
  };
}

/**
 * Builds an action on a Stripe customer that was not deleted. `own` is the customer whose services may appear in the
 * metadata of its subscriptions.
 */
export function onOwner(act: Of<{ id: string; own: OwnCustomer | undefined }>): Action {
  return (scene, step) => {
    const owner = ownerOf(scene, step.a);
    return owner ? act(scene, owner, step) : null;
  };
}

/** Picks an object, counted from the newest, because steps usually continue with the latest object. */
export function pick<T>(from: T[], a: number): T | undefined {
  return from.at(-1 - (a % Math.max(1, from.length)));
}

export const allLive = ({ world }: Scene): Subscription[] =>
  [...world.subscriptions.values()].filter(
    ({ status }) => !['canceled', 'incomplete_expired'].includes(status),
  );

export function ownerOf(scene: Scene, a: number) {
  const made = scene.setup.stripeCustomers.filter(
    ({ customer }) => !scene.world.customers.get(customer.id)?.deleted,
  );
  const id = made[a % Math.max(1, made.length)]?.customer.id;
  return id === undefined ? null : { id, own: ownOf(scene, id) };
}

/**
 * Returns the customer whose services the steps write into the metadata of a Stripe customer's subscriptions. It is the
 * first customer that can own the Stripe customer, or the last customer if none can.
 */
export function ownOf(scene: Scene, stripeCustomerId: string): OwnCustomer | undefined {
  const { ours } = scene.setup;
  return ours.find((one) => isCandidate(scene, stripeCustomerId, one)) ?? ours.at(-1);
}

export function isCandidate({ setup, world }: Scene, stripeCustomerId: string, own: OwnCustomer): boolean {
  const made = setup.stripeCustomers.find(({ customer }) => customer.id === stripeCustomerId);
  if (!made) return false;
  if (made.staff !== null) return made.staff === own.id;
  const { email, metadata } = world.customers.get(stripeCustomerId) ?? made.customer;
  if (setup.ours.some((one) => one.number === metadata.customer_number)) {
    return own.number === metadata.customer_number;
  }
  return email === null || own.email === email;
}

/** Returns whether API versions before basil occur, which have one period for all items of a subscription. */
export const isOlder = ({ plan }: Scene) => plan.versions.some((version) => !BASIL.includes(version));

export function newItem(scene: Scene, own: OwnCustomer | undefined, b: number, c: number): ItemInput {
  return {
    unitAmount: 500 + 100 * b,
    quantity: 1 + (c % 2),
    interval: !isOlder(scene) && (b + c) % 5 === 4 ? 'year' : 'month',
    metadata: b % 2 === 0 ? {} : serviceMetadata(own, b + c),
  };
}

export function serviceMetadata(own: OwnCustomer | undefined, c: number): Metadata {
  const service = own?.services[c % Math.max(1, own.services.length)];
  if (!service) return {};
  const other = own?.services[(c + 1) % own.services.length];
  // Here the id and the number belong to different services.
  if (c === 6 && other) return { customer_service_id: String(service.id), service_number: other.number };
  return c % 2 === 0 ? { customer_service_id: String(service.id) } : { service_number: service.number };
}

/** Builds metadata, sometimes with a right or wrong customer number. The swarm's `claims` sets how often. */
export function numberMetadata({ setup: { ours }, plan }: Scene, c: number): Metadata {
  const { claims = 1 } = plan.swarm;
  const isNamed = claims > 0 && c >= (claims > 1 ? 1 : 5);
  const number = isNamed ? ours[c % ours.length]?.number : undefined;
  return number === undefined ? {} : { customer_number: number };
}
