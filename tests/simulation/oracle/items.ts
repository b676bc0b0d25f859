import type { CheckoutSession, Subscription, SubscriptionItem } from '@/lib/stripe-local/model';
import type { ItemRow, SubscriptionRow } from '../tables';
import { isSure, possibleOwners } from './customers';
import {
  ANNOUNCING,
  type Case,
  compare,
  type Difference,
  fits,
  type Moment,
  type OwnCustomer,
  type OwnService,
  storiesOf,
  type Truth,
} from './story';

/** The maximum number of subscription items in an event. */
export const SHOWN = 10;

/**
 * Expects an item to be linked to the service that staff chose, else to the service in its metadata, else to its old
 * service. It is never linked to a service of another customer than its subscription's.
 */
export function itemDifference(
  { truth, tables }: Case,
  now: Subscription,
  row: SubscriptionRow,
  actual: ItemRow,
): Difference | null {
  const id = actual.stripe_subscription_item_id ?? '';
  // Only staff can link an item if its Stripe customer is not linked by staff or number.
  const named = isSure(tables, row.stripe_customer_id) ? servicesOf(truth, now, row, id) : [null];
  const staff = truth.linked.get(id);
  const own = truth.ours.find(({ id }) => id === row.customer_id)?.services ?? [];
  const isLost = staff != null && !own.some((service) => service.id === staff);
  // If one subscription drops an item before the next one reports it, the item loses staff's link. It also loses the
  // link if its Stripe customer was linked to another customer since.
  const mayBeLost = wasMoved(truth, id) || possibleOwners(truth, row.stripe_customer_id).length > 1;
  const expected = staff === undefined || isLost ? named : mayBeLost ? [...named, staff] : [staff];
  const { customer_service_id } = actual;
  return expected.includes(customer_service_id)
    ? null
    : { what: `link of ${id}`, expected, actual: customer_service_id };
}

/** Returns the services that an item may be linked to if staff chose none. */
function servicesOf(truth: Truth, now: Subscription, row: SubscriptionRow, id: string): (number | null)[] {
  const owner = truth.ours.find((own) => own.id === row.customer_id);
  const services = owner?.services ?? [];
  const item = now.items.find((one) => one.id === id);
  const named = item ? servicesNamed(services, now, item) : [];
  if (named.length > 0) return named;
  const ever = [...storiesOf<Subscription>(truth.history, 'subscription').values()]
    .flat()
    .flatMap(({ about }) =>
      about.items.filter((one) => one.id === id).flatMap((one) => servicesNamed(services, about, one)),
    );
  const keepsSold = owner?.sold?.id === row.id || wasMoved(truth, id);
  return [...ever, ...(keepsSold ? (owner?.sold?.services ?? []) : []), null];
}

function servicesNamed(
  services: readonly OwnService[],
  subscription: Subscription,
  item: SubscriptionItem,
): number[] {
  const { customer_service_id: id, service_number: number } = namesOf(subscription, item);
  const byId = services.filter((service) => String(service.id) === id);
  const byNumber = services.filter((service) => service.number === number);
  return (byId.length > 0 ? byId : byNumber).map((service) => service.id);
}

function namesOf(subscription: Subscription, item: SubscriptionItem) {
  const isSingle = subscription.items.length === 1;
  return isSingle ? { ...subscription.metadata, ...item.metadata } : item.metadata;
}

/** Returns whether an item was in several subscriptions, one after the other. */
function wasMoved({ history }: Truth, item: string): boolean {
  const holders = history.flatMap(({ about }) =>
    about.object === 'subscription' && about.items.some(({ id }) => id === item) ? about.id : [],
  );
  return new Set(holders).size > 1;
}

/**
 * Returns the items whose subscription is uncertain unless Stripe is asked. Two subscriptions may report an item in
 * events of the same second. A subscription with more items than its events contain may also have moved one of the
 * omitted items.
 */
export function itemsAdrift(truth: Truth): Set<string | null> {
  const holders = new Map<string, string>();
  const adrift = new Set<string | null>();
  const hidden = new Set<string>();
  for (const { type, created, about } of truth.history) {
    if (about.object !== 'subscription') continue;
    for (const { id } of about.items) {
      if (about.items.length > SHOWN) hidden.add(id);
      if (!ANNOUNCING.has(type)) continue;
      const other = holders.get(`${id} ${created}`);
      if (other !== undefined && other !== about.id) adrift.add(id);
      holders.set(`${id} ${created}`, about.id);
    }
  }
  for (const id of hidden) if (wasMoved(truth, id)) adrift.add(id);
  return adrift;
}

/**
 * Expects a sold subscription to get the id of its checkout's Stripe subscription if Stripe bills the sold
 * services. Otherwise it stays incomplete.
 */
export function checkSold(given: Case): void {
  const { truth, tables } = given;
  const adopted = adoptedBy(given);
  for (const { sold } of truth.ours) {
    if (!sold) continue;
    const row = tables.subscriptions.find(({ id }) => id === sold.id);
    const items = tables.items.filter((item) => item.subscription_id === sold.id);
    const left = items.filter((item) => item.stripe_subscription_item_id === null).length;
    const checkout = adopted.get(sold.id);
    const waits = {
      stripe_subscription_id: null,
      status: 'incomplete',
      left: sold.services.length + Number(sold.isUnclear),
    };
    const becomes = { stripe_subscription_id: checkout?.id, left: 0 };
    const expected = checkout ? [becomes, ...(checkout.must ? [] : [waits])] : [waits];
    const actual = { ...row, left };
    if (!expected.some((one) => fits(one, actual))) {
      compare(given, `sold subscription ${sold.id}`, expected[0] ?? {}, actual);
    }
  }
}

/** The Stripe subscription that a checkout links to the sold subscription with the checkout's reference. */
interface Adopted {
  id: string;
  /** Whether sync must use this id. If false, the state or owner may have differed when sync handled the checkout. */
  must: boolean;
}

/**
 * Maps the ids of sold subscriptions to Stripe subscriptions. A checkout counts even if its Stripe customer has since
 * been linked to another customer.
 */
function adoptedBy({ truth, tables, full }: Case): Map<number, Adopted> {
  const found = new Map<number, Adopted>();
  const stories = storiesOf<Subscription>(truth.history, 'subscription');
  for (const story of storiesOf<CheckoutSession>(truth.history, 'checkout.session').values()) {
    const session = story.at(-1)?.about;
    const reference = session?.metadata.subscription_id ?? session?.clientReferenceId;
    const own = truth.ours.find(({ sold }) => sold && String(sold.id) === reference);
    if (!own?.sold || !session?.subscription) continue;
    const moments = stories.get(session.subscription) ?? [];
    const fitting = moments.filter(({ about }) => isSold(own, about));
    const link = tables.links.find(({ stripe_customer_id: id }) => id === session.customer);
    const isOwns = link?.customer_id === own.id && isSure(tables, session.customer);
    if (fitting.length === 0 || !(isOwns || possibleOwners(truth, session.customer).includes(own.id)))
      continue;
    const isReported = truth.lossless && fitting.some(({ isAnnounced }) => isAnnounced);
    const isFound = !truth.unknown.has(session.customer ?? '') || isDelivered(truth, story);
    const isLast = full && fitting.at(-1) === moments.at(-1) && isFound;
    found.set(own.sold.id, { id: session.subscription, must: isOwns && (isReported || isLast) });
  }
  return found;
}

/**
 * Returns whether an event of the checkout was handled. Stripe lists no checkouts of a customer that its API no longer
 * returns, so only an event can report them.
 */
const isDelivered = ({ times }: Truth, story: Moment<CheckoutSession>[]) =>
  story.some(({ event }) => (times.get(event.id)?.done ?? null) !== null);

/** Returns whether each billed item matches one sold service, with the same amount per period. */
function isSold({ services, sold }: OwnCustomer, about: Subscription): boolean {
  const wanted = services.filter(({ id }) => sold?.services.includes(id));
  const pair = (items: readonly SubscriptionItem[], left: readonly OwnService[]): boolean => {
    const [item, ...rest] = items;
    if (!item) return left.length === 0;
    return left.some((service) => {
      const others = left.filter((other) => other !== service);
      return isBilled(about, item, service, sold?.quantity ?? 0) && pair(rest, others);
    });
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
