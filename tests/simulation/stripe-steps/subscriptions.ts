import type { Subscription, WorldEvent } from '@/lib/stripe-local/model';
import { emit, epochNow } from '@/lib/stripe-local/world';
import * as act from '../../support/stripe-actions';
import { changesOf } from '../stripe-api';
import {
  allLive,
  isCandidate,
  isOlder,
  newItem,
  numberMetadata,
  onLive,
  onOwner,
  ownOf,
  pick,
  type Scene,
  type Steps,
  serviceMetadata,
} from './scene';

const DAY = 86_400;

/** Steps about subscriptions, checkouts and Stripe customers. */
export const SUBSCRIPTION_STEPS: Steps = {
  subscribe: onOwner((scene, owner, { b, c }) => {
    // Sometimes there are more items than the ten that Stripe shows in an event.
    const many = scene.plan.swarm.manyItems ?? 1;
    const isMany = many > 0 && b > (many > 1 ? 3 : 6);
    const count = isMany ? 9 + (c % 5) : 1 + (b % 3);
    const items = Array.from({ length: count }, (_, i) => newItem(scene, owner.own, b + i, c));
    const variants = ['active', 'active', 'trialing', 'incomplete', 'past_due'] as const;
    const status = variants[c % variants.length] ?? 'active';
    const { object } = act.createSubscription(scene.world, {
      customer: owner.id,
      items,
      status,
      metadata: { ...numberMetadata(scene, c), ...(b % 4 === 3 && serviceMetadata(owner.own, c)) },
      ...(status === 'trialing' && { trialEnd: epochNow(scene.world) + 14 * DAY }),
    });
    if (c % 2 === 0) act.invoiceSubscription(scene.world, object.id);
    return `${owner.id} subscribes ${count} items: ${object.id} (${status})`;
  }),

  changeItems: onLive((scene, { id, customer, items }, { b, c }) => {
    const [first] = items;
    if (!first) return null;
    const at = items.length > 9 ? items.length - 1 - (c % 4) : c % items.length;
    const others = items.filter((_, i) => i !== at);
    const one = items[at] ?? first;
    const added = { ...newItem(scene, ownOf(scene, customer), c, c), ...(isOlder(scene) && periodOf(first)) };
    const dearer = { ...one, priceId: `price_${c}`, unitAmount: one.unitAmount + 100 };
    const changes = [
      { what: 'gets an item', items: [...items, added] },
      { what: `loses ${one.id}`, items: others.length > 0 ? others : items },
      { what: 'changes a quantity', items: [{ ...one, quantity: one.quantity + 1 }, ...others] },
      { what: 'changes a price', items: [dearer, ...others] },
    ];
    const change = changes[b % changes.length];
    if (!change) return null;
    act.updateSubscription(scene.world, id, { items: change.items });
    return `${id} ${change.what}`;
  }),

  setMetadata: onLive((scene, found, { b, c }) => {
    const metadata = serviceMetadata(ownOf(scene, found.customer), c);
    const items = found.items.map((item, i) => (i === b % found.items.length ? { ...item, metadata } : item));
    act.updateSubscription(scene.world, found.id, { items });
    return `${found.id} names services ${JSON.stringify(metadata)}`;
  }),

  setStatus: onLive((scene, { id }, { b }) => {
    const statuses = ['past_due', 'active', 'unpaid', 'paused', 'active', 'incomplete_expired'] as const;
    const status = statuses[b % statuses.length] ?? 'active';
    act.updateSubscription(scene.world, id, { status });
    return `${id} becomes ${status}`;
  }),

  renew: onLive((scene, found) => {
    if (act.endsWithPeriod(found)) return null;
    const { invoice } = act.renewSubscription(scene.world, found.id).object;
    return `${found.id} renews with ${invoice.id}`;
  }),

  cancel: onLive((scene, { id }) => {
    act.cancelSubscription(scene.world, id);
    return `${id} is cancelled`;
  }),

  endWithPeriod: onLive((scene, { id }, { b }) => {
    const cancelAtPeriodEnd = b % 3 !== 0;
    act.updateSubscription(scene.world, id, { cancelAtPeriodEnd });
    return `${id} ${cancelAtPeriodEnd ? 'ends with its period' : 'goes on'}`;
  }),

  /** Sets an end date as the customer portal does under flexible billing. */
  endAt: onLive((scene, { id }, { b, c }) => {
    const cancelAt = b % 4 === 0 ? null : epochNow(scene.world) + (1 + 9 * c) * DAY;
    act.updateSubscription(scene.world, id, { cancelAt });
    return `${id} ${cancelAt ? `ends at ${cancelAt}` : 'goes on'}`;
  }),

  pause: onLive((scene, { id }, { b, c }) => {
    const behavior = ['keep_as_draft', 'mark_uncollectible', 'void'][b % 4];
    const resumesAt = c % 2 === 0 ? null : epochNow(scene.world) + c * DAY;
    const pauseCollection = behavior ? { behavior, resumesAt } : null;
    act.updateSubscription(scene.world, id, { pauseCollection });
    return `${id} ${behavior ? `is not collected: ${behavior}` : 'is collected again'}`;
  }),

  moveItem(scene, { a, b, c }) {
    const othersOf = ({ id, customer }: Subscription) =>
      allLive(scene).filter((one) => one.customer === customer && one.id !== id);
    const several = allLive(scene).filter((one) => one.items.length > 1 && othersOf(one).length > 0);
    const from = pick(several, a);
    const to = from && pick(othersOf(from), b);
    const moved = from?.items[c % from.items.length];
    const [first] = to?.items ?? [];
    if (!from || !to || !moved || !first) return null;
    const item = isOlder(scene) ? { ...moved, ...periodOf(first) } : moved;
    const leave = () =>
      act.updateSubscription(scene.world, from.id, { items: from.items.filter((one) => one !== moved) });
    const arrive = () => act.updateSubscription(scene.world, to.id, { items: [...to.items, item] });
    for (const work of b % 2 === 0 ? [leave, arrive] : [arrive, leave]) work();
    return `${moved.id} moves from ${from.id} to ${to.id}`;
  },

  /** Sets an unknown status, because Stripe may add values to its enums. */
  strangeStatus: onLive((scene, { id }, { b }) => {
    const status = (b % 2 === 0 ? 'frozen' : 'in_review') as Subscription['status'] & 'active';
    act.updateSubscription(scene.world, id, { status });
    return `${id} becomes ${status}`;
  }),

  /** Emits an update of a deleted subscription that shows it as if it had not ended. */
  lateNews(scene, { a, b }) {
    const ended = scene.world.history.filter(
      ({ type, created }) => type === 'customer.subscription.deleted' && created < epochNow(scene.world),
    );
    const { about } = pick(ended, a) ?? {};
    if (about?.object !== 'subscription') return null;
    const status = b % 2 === 0 ? 'active' : 'past_due';
    const shown = { ...about, status, canceledAt: null, endedAt: null } as const;
    emit(scene.world, 'customer.subscription.updated', shown);
    return `${about.id} is reported as if it went on`;
  },

  checkout: onOwner((scene, { id, own }, { b, c }) => {
    const free = scene.setup.ours.filter(({ sold }) => sold && !scene.checkedOut.has(sold.id));
    const wrong = free.find((one) => !isCandidate(scene, id, one));
    const reference = (b % 4 === 3 ? wrong : free.find((one) => one === own))?.sold?.id ?? null;
    if (reference !== null) scene.checkedOut.add(reference);
    const email = scene.world.customers.get(id)?.email;
    const session = act.createCheckoutSession(scene.world, {
      customer: id,
      ...(email && { customerEmail: email }),
      ...boughtItems(scene, reference, b, c),
      subscriptionMetadata: numberMetadata(scene, c),
      ...(reference !== null && b % 2 === 0 && { clientReferenceId: String(reference) }),
      ...(reference !== null && b % 2 === 1 && { metadata: { subscription_id: String(reference) } }),
    });
    const payment = (['unpaid', 'paid', 'no_payment_required'] as const)[c % 3] ?? 'paid';
    const { object } = act.completeCheckout(scene.world, session.id, { payment });
    return `${id} checks out ${object.subscription} (${payment}, reference ${reference})`;
  }),

  /** Changes, adds or removes the customer number in a Stripe customer's metadata. */
  changeNumber: onOwner((scene, { id }, { b }) => {
    const { ours } = scene.setup;
    const number = b < 2 ? undefined : b === 2 ? 'NOBODY' : ours[b % Math.max(1, ours.length)]?.number;
    const { metadata: before } = scene.world.customers.get(id) ?? {};
    if (number === before?.customer_number) return null;
    const metadata = {
      // The oracle counts the changes of the number with this key. The product ignores it.
      changes: String(changesOf(before) + 1),
      ...(number !== undefined && { customer_number: number }),
    };
    act.updateCustomer(scene.world, id, { metadata });
    return `${id} has ${number === undefined ? 'no number' : `the number ${number}`} of its own`;
  }),

  deleteCustomer: onOwner((scene, { id }, { b }) => {
    if (mayHideAddress(scene, id)) return null;
    act.deleteCustomer(scene.world, id);
    const isUnknown = b % 3 === 0;
    if (isUnknown) scene.unknown.add(id);
    return `${id} is deleted${isUnknown ? ', and unknown from now on' : ''}`;
  }),
};

const periodOf = ({
  interval,
  intervalCount,
  currentPeriodStart,
  currentPeriodEnd,
}: Subscription['items'][0]) => ({
  interval,
  intervalCount,
  currentPeriodStart,
  currentPeriodEnd,
});

/** Builds the items of a sold subscription, sometimes with a wrong price, quantity, interval, currency or service. */
function boughtItems(scene: Scene, reference: number | null, b: number, c: number) {
  const owner = scene.setup.ours.find(({ sold }) => sold?.id === reference);
  if (!owner?.sold || c === 7) return { items: [newItem(scene, owner, b, c)] };
  const { quantity, services } = owner.sold;
  const sold = owner.services.filter(({ id }) => services.includes(id));
  const bought = isOlder(scene) && new Set(sold.map(({ price }) => price.months)).size > 1 ? [] : sold;
  const items = bought.map(({ id, number, price: { minor, months } }, i) => {
    const isYear = months === 12;
    const [byId, byNumber] = [{ customer_service_id: String(id) }, { service_number: number }];
    return {
      unitAmount: minor + (c === 1 && i === 0 ? 1 : 0),
      quantity: quantity + (c === 2 && i === 0 ? 1 : 0),
      interval: isYear ? ('year' as const) : ('month' as const),
      intervalCount: (isYear ? 1 : months) + (c === 3 && !isOlder(scene) ? 1 : 0),
      metadata: b < 4 ? {} : b === 4 ? byId : b === 5 ? byNumber : serviceMetadata(owner, c),
    };
  });
  const currency = c === 5 ? 'usd' : (sold[0]?.price.currency ?? 'eur');
  return { items: items.length > 0 ? items : [newItem(scene, owner, b, c)], currency };
}

/**
 * Returns whether deleting the Stripe customer may hide its e-mail address from sync. That is the case if only a
 * deleted draft or a lost checkout reported the address.
 */
function mayHideAddress({ world, plan }: Scene, id: string): boolean {
  const isHidden = ({ type, about }: WorldEvent) =>
    (type === 'invoice.deleted' && about.object === 'invoice' && about.customer === id) ||
    (!plan.lossless && about.object === 'checkout.session' && about.customer === id);
  return plan.linkByEmail && world.history.some(isHidden);
}
