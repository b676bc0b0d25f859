import * as act from '@/lib/stripe-local/actions';
import { epochNow } from '@/lib/stripe-local/world';
import { isOlder, live, newItem, numberMetadata, ownerOf, ownOf, serviceMetadata } from './scene';
import type { Steps } from './steps';

const DAY = 86_400;

export const SUBSCRIPTION_STEPS = {
  subscribe(scene, { a, b, c }) {
    const owner = ownerOf(scene, a);
    if (!owner) return null;
    // Now and then about as many as Stripe still shows in an event, which is ten.
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
  },
  changeItems(scene, { a, b, c }) {
    const found = live(scene, a);
    if (!found) return null;
    const { items } = found;
    const [first] = items;
    if (!first) return null;
    const { customer } = found;
    const at = items.length > 9 ? items.length - 1 - (c % 4) : c % items.length;
    const others = items.filter((_, i) => i !== at);
    const one = items[at] ?? first;
    const sharedPeriod = {
      interval: first.interval,
      intervalCount: first.intervalCount,
      currentPeriodStart: first.currentPeriodStart,
      currentPeriodEnd: first.currentPeriodEnd,
    };
    const changes = [
      {
        what: 'gets an item',
        items: [
          ...items,
          { ...newItem(scene, ownOf(scene, customer), c, c), ...(isOlder(scene) && sharedPeriod) },
        ],
      },
      { what: `loses ${one.id}`, items: others.length > 0 ? others : items },
      { what: 'changes a quantity', items: [{ ...one, quantity: one.quantity + 1 }, ...others] },
      {
        what: 'changes a price',
        items: [{ ...one, priceId: `price_${c}`, unitAmount: one.unitAmount + 100 }, ...others],
      },
    ];
    const change = changes[b % changes.length];
    if (!change) return null;
    act.updateSubscription(scene.world, found.id, { items: change.items });
    return `${found.id} ${change.what}`;
  },
  setMetadata(scene, { a, b, c }) {
    const found = live(scene, a);
    if (!found) return null;
    const metadata = serviceMetadata(ownOf(scene, found.customer), c);
    const items = found.items.map((item, i) => (i === b % found.items.length ? { ...item, metadata } : item));
    act.updateSubscription(scene.world, found.id, { items });
    return `${found.id} names services ${JSON.stringify(metadata)}`;
  },
  setStatus(scene, { a, b }) {
    const found = live(scene, a);
    if (!found) return null;
    const statuses = ['past_due', 'active', 'unpaid', 'paused', 'active', 'incomplete_expired'] as const;
    const status = statuses[b % statuses.length] ?? 'active';
    act.updateSubscription(scene.world, found.id, { status });
    return `${found.id} becomes ${status}`;
  },
  renew(scene, { a }) {
    const found = live(scene, a);
    if (!found || act.endsWithPeriod(found)) return null;
    const { invoice } = act.renewSubscription(scene.world, found.id).object;
    return `${found.id} renews with ${invoice.id}`;
  },
  cancel(scene, { a }) {
    const found = live(scene, a);
    if (!found) return null;
    act.cancelSubscription(scene.world, found.id);
    return `${found.id} is cancelled`;
  },
  endWithPeriod(scene, { a, b }) {
    const found = live(scene, a);
    if (!found) return null;
    const cancelAtPeriodEnd = b % 3 !== 0;
    act.updateSubscription(scene.world, found.id, { cancelAtPeriodEnd });
    return `${found.id} ${cancelAtPeriodEnd ? 'ends with its period' : 'goes on'}`;
  },
  /** As the portal does under flexible billing. */
  endAt(scene, { a, b, c }) {
    const found = live(scene, a);
    if (!found) return null;
    const cancelAt = b % 4 === 0 ? null : epochNow(scene.world) + (1 + 9 * c) * DAY;
    act.updateSubscription(scene.world, found.id, { cancelAt });
    return `${found.id} ${cancelAt ? `ends at ${cancelAt}` : 'goes on'}`;
  },
  pause(scene, { a, b, c }) {
    const found = live(scene, a);
    if (!found) return null;
    const behavior = ['keep_as_draft', 'mark_uncollectible', 'void'][b % 4];
    const resumesAt = c % 2 === 0 ? null : epochNow(scene.world) + c * DAY;
    act.updateSubscription(scene.world, found.id, {
      pauseCollection: behavior ? { behavior, resumesAt } : null,
    });
    return `${found.id} ${behavior ? `is not collected: ${behavior}` : 'is collected again'}`;
  },
} satisfies Steps;
