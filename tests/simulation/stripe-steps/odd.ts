import * as act from '@/lib/stripe-local/actions';
import type { Invoice, Subscription } from '@/lib/stripe-local/model';
import { emit, epochNow } from '@/lib/stripe-local/world';
import { invoiceThat, isOlder, live, pick, type Scene } from './scene';
import type { Steps } from './steps';

/** What Stripe does seldom, or only later versions of it do. */
export const ODD_STEPS = {
  moveItem(scene, { a, b, c }) {
    const from = pick(several(scene), a);
    const to = from && pick(othersOf(scene, from), b);
    const moved = from?.items[c % from.items.length];
    const [first] = to?.items ?? [];
    if (!from || !to || !moved || !first) return null;
    const { interval, intervalCount, currentPeriodStart, currentPeriodEnd } = first;
    // Before basil all items of a subscription had one period.
    const period = { interval, intervalCount, currentPeriodStart, currentPeriodEnd };
    const item = isOlder(scene) ? { ...moved, ...period } : moved;
    const leave = () =>
      act.updateSubscription(scene.world, from.id, { items: from.items.filter((one) => one !== moved) });
    const arrive = () => act.updateSubscription(scene.world, to.id, { items: [...to.items, item] });
    for (const work of b % 2 === 0 ? [leave, arrive] : [arrive, leave]) work();
    return `${moved.id} moves from ${from.id} to ${to.id}`;
  },
  /** Stripe adds values to its enums. */
  strangeStatus(scene, { a, b }) {
    const found = live(scene, a);
    if (!found) return null;
    const status = (b % 2 === 0 ? 'frozen' : 'in_review') as Subscription['status'] & 'active';
    act.updateSubscription(scene.world, found.id, { status });
    return `${found.id} becomes ${status}`;
  },
  strangeInvoice(scene, { a, b }) {
    const found = invoiceThat(scene, a, 'open', 'uncollectible');
    if (!found) return null;
    const status = STRANGE as Invoice['status'];
    const invoice = scene.world.invoices.put({ ...found, status, attempted: true });
    emit(scene.world, 'invoice.updated', invoice, found);
    // Of an invoice nothing else would tell it.
    if (b % 4 !== 0) emit(scene.world, 'invoice.payment_failed', invoice);
    return `${found.id} becomes ${status}`;
  },
  knownInvoice(scene, { a }) {
    const found = invoiceThat(scene, a, STRANGE as Invoice['status']);
    if (!found) return null;
    const invoice = scene.world.invoices.put({ ...found, status: 'open' });
    emit(scene.world, 'invoice.updated', invoice, found);
    return `${found.id} is open again`;
  },
  /** What was under way when a subscription was deleted is told after that, and shows it as it was. */
  lateNews(scene, { a, b }) {
    const ended = scene.world.history.filter(
      ({ type, created }) => type === 'customer.subscription.deleted' && created < epochNow(scene.world),
    );
    const { about } = pick(ended, a) ?? {};
    if (about?.object !== 'subscription') return null;
    const status = b % 2 === 0 ? 'active' : 'past_due';
    const shown = { ...about, status, canceledAt: null, endedAt: null } as const;
    emit(scene.world, 'customer.subscription.updated', shown);
    return `${about.id} is told of as if it went on`;
  },
} satisfies Steps;

const STRANGE = 'disputed';

const several = (scene: Scene) =>
  allLive(scene).filter((one) => one.items.length > 1 && othersOf(scene, one).length > 0);

const othersOf = (scene: Scene, { id, customer }: Subscription) =>
  allLive(scene).filter((one) => one.customer === customer && one.id !== id);

const allLive = ({ world }: Scene) =>
  [...world.subscriptions.values()].filter(
    ({ status }) => !['canceled', 'incomplete_expired'].includes(status),
  );
