import type { CheckoutSession, Subscription, SubscriptionItem } from '@/lib/stripe-local/model';
import type { Tables } from '../tables';
import { couldSurelyBe, isSure } from './customers';
import type { OwnService, Truth, Verdict } from './index';
import { namesOf } from './item-links';
import { type Moment, storiesOf } from './story';
import { differing, fits } from './values';

/** The subscription at Stripe that one of ours becomes, by the checkout that names it. */
interface Adopted {
  id: string;
  /** It is so for sure; else what is reported last, or who it belongs to, may have been another at the time. */
  must: boolean;
}

/** By our subscription that was sold. What a customer bought while it was taken for another of ours, it keeps. */
function adopted(truth: Truth, tables: Tables, full: boolean): Map<number, Adopted> {
  const found = new Map<number, Adopted>();
  const stories = storiesOf<Subscription>(truth.history, 'subscription');
  for (const [, story] of storiesOf<CheckoutSession>(truth.history, 'checkout.session')) {
    const session = story.at(-1)?.about;
    const reference = session?.metadata.subscription_id ?? session?.clientReferenceId;
    const own = truth.ours.find(({ sold }) => sold && String(sold.id) === reference);
    if (!own?.sold || !session?.subscription) continue;
    const moments = stories.get(session.subscription) ?? [];
    const fitting = moments.filter(({ about }) => isSold(own, about));
    const link = tables.links.find(({ stripe_customer_id: id }) => id === session.customer);
    const isOwns = link?.customer_id === own.id && isSure(tables, session.customer);
    if (fitting.length === 0 || !(isOwns || couldSurelyBe(truth, session.customer).includes(own.id)))
      continue;
    const isReported = truth.lossless && fitting.some(({ isAnnounced }) => isAnnounced);
    const isFound = !truth.unknown.has(session.customer ?? '') || isDelivered(truth, story);
    const isLast = full && fitting.at(-1) === moments.at(-1) && isFound;
    found.set(own.sold.id, { id: session.subscription, must: isOwns && (isReported || isLast) });
  }
  return found;
}

/** Of whom Stripe does not know, no checkout is listed any more. */
const isDelivered = ({ times }: Truth, story: Moment<CheckoutSession>[]) =>
  story.some(({ event }) => (times.get(event.id)?.done ?? null) !== null);

/** Whether what Stripe bills is what was sold: the same money in the same time, one for one. */
function isSold({ services, sold }: Truth['ours'][number], about: Subscription): boolean {
  const wanted = services.filter(({ id }) => sold?.services.includes(id));
  const pair = (items: readonly SubscriptionItem[], left: readonly OwnService[]): boolean => {
    const [item, ...rest] = items;
    if (!item) return left.length === 0;
    return left.some(
      (service) =>
        isBilled(about, item, service, sold?.quantity ?? 0) &&
        pair(
          rest,
          left.filter((other) => other !== service),
        ),
    );
  };
  return sold?.isUnclear === false && pair(about.items, wanted);
}

function isBilled(
  about: Subscription,
  item: SubscriptionItem,
  service: OwnService,
  quantity: number,
): boolean {
  const { customer_service_id: id, service_number: number } = namesOf(about, item);
  const isNamed = id ? id === String(service.id) : !number || number === service.number;
  const { minor, currency, months } = service.price;
  return (
    isNamed &&
    about.currency === currency &&
    item.unitAmount * item.quantity === minor * quantity &&
    item.intervalCount * (item.interval === 'year' ? 12 : 1) === months
  );
}

export function checkSold(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  const wanted = adopted(truth, tables, full);
  for (const { sold } of truth.ours) {
    if (!sold) continue;
    const row = tables.subscriptions.find(({ id }) => id === sold.id);
    const items = tables.items.filter((item) => item.subscription_id === sold.id);
    const left = items.filter((item) => item.stripe_subscription_item_id === null).length;
    const checkout = wanted.get(sold.id);
    const waits = {
      stripe_subscription_id: null,
      status: 'incomplete',
      left: sold.services.length + Number(sold.isUnclear),
    };
    const becomes = { stripe_subscription_id: checkout?.id, left: 0 };
    const expected = checkout ? [becomes, ...(checkout.must ? [] : [waits])] : [waits];
    const actual = { ...row, left };
    if (!expected.some((one) => fits(one, actual))) {
      verdict.differences.push(differing(`sold subscription ${sold.id}`, expected[0] ?? {}, actual));
    }
  }
}
