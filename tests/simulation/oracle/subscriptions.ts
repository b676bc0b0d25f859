import type { CheckoutSession, Subscription, SubscriptionItem } from '@/lib/stripe-local/model';
import type { ItemRow, SubscriptionRow, Tables } from '../tables';
import { couldSurelyBe, isSure } from './customers';
import type { OwnService, Truth, Verdict } from './index';
import { allowedMoments, type Moment, storiesOf } from './story';
import { amount, date, differing, fits } from './values';

export function checkSubscriptions(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  const stories = storiesOf<Subscription>(truth.history, 'subscription');
  const rows = new Map(tables.subscriptions.map((row) => [row.stripe_subscription_id, row]));
  for (const [id, story] of stories) {
    const row = rows.get(id);
    if (row) checkSubscription(truth, tables, story, row, full, verdict);
    else verdict.differences.push({ what: `subscription ${id}`, expected: 'a row', actual: null });
  }
  checkSold(truth, tables, full, verdict);
  const sold = truth.ours.map((own) => own.sold?.id);
  const waiting = tables.subscriptions.filter((row) => !row.stripe_subscription_id && sold.includes(row.id));
  const expected = stories.size + waiting.length;
  if (tables.subscriptions.length !== expected) {
    verdict.differences.push({ what: 'subscriptions', expected, actual: tables.subscriptions.length });
  }
}

function checkSubscription(
  truth: Truth,
  tables: Tables,
  story: Moment<Subscription>[],
  row: SubscriptionRow,
  full: boolean,
  verdict: Verdict,
): void {
  const asked = { full, canAsk: truth.hasKey, mayFail: truth.mayFail };
  const { allowed } = allowedMoments(story, asked, possibleEnds);
  const items = tables.items.filter(
    (item) => item.subscription_id === row.id && item.stripe_subscription_item_id !== null,
  );
  const actual = {
    ...row,
    items: items.map(withoutKeys),
  };
  const mayLack = !full && (!truth.hasKey || truth.mayFail);
  const expected = (one: Moment<Subscription>) =>
    [
      expectedRow(truth, tables, one.about),
      ...(mayLack ? [shownRow(truth, tables, one, story, actual.items)] : []),
    ].flatMap((told) => checkedOut(truth, told, one, full));
  const first = allowed[0] && expected(allowed[0])[0];
  if (!first) return;
  const moment = allowed.find((one) => expected(one).some((row) => fits(row, actual)));
  if (!moment) {
    verdict.differences.push(differing(`subscription ${row.stripe_subscription_id}`, first, actual));
    return;
  }
  if (!fits(first, actual) && !truth.hasKey) verdict.ties += 1;
  const link = isSure(tables, row.stripe_customer_id) ? checkLink : checkNoLink;
  for (const item of items) link(truth, story, moment.about, row, item, verdict);
}

const withoutKeys = ({ subscription_id: _, customer_service_id: __, ...item }: ItemRow) => item;

/** Until Stripe is asked, a checkout that was completed in that second or later makes active what is incomplete. */
function checkedOut<Row extends { status: string }>(
  truth: Truth,
  told: Row,
  { about, event }: Moment<Subscription>,
  full: boolean,
): Row[] {
  const isCheckedOut = truth.history.some(
    ({ created, type, about: session }) =>
      type === 'checkout.session.completed' &&
      session.object === 'checkout.session' &&
      session.subscription === about.id &&
      session.paymentStatus !== 'unpaid' &&
      created >= event.created,
  );
  if (full || told.status !== 'incomplete' || !isCheckedOut) return [told];
  const active = { ...told, status: 'active' };
  return truth.hasKey ? [active, told] : [active]; // it may have been asked later than that
}

function expectedRow(truth: Truth, tables: Tables, about: Subscription) {
  const ends = about.items.map((item) => item.currentPeriodEnd);
  return {
    customer_id: tables.links.find((link) => link.stripe_customer_id === about.customer)?.customer_id,
    stripe_customer_id: about.customer,
    status: ['canceled', 'incomplete_expired'].includes(about.status) ? 'cancelled' : about.status,
    next_billing_date: date(Math.min(...ends), truth.timeZone),
    cancel_at_period_end: about.cancelAtPeriodEnd,
    cancel_at: about.cancelAt,
    pause_behavior: about.pauseCollection?.behavior ?? null,
    pause_resumes_at: about.pauseCollection?.resumesAt ?? null,
    ended_at: about.endedAt,
    items: itemRows(about),
  };
}

const itemRows = ({ currency, items }: Pick<Subscription, 'currency' | 'items'>) =>
  [...items]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((item) => ({
      stripe_subscription_item_id: item.id,
      quantity: item.quantity,
      amount: amount(item.unitAmount * item.quantity, currency),
      currency,
      interval: item.interval,
      interval_count: item.intervalCount,
      current_period_end: item.currentPeriodEnd,
    }));

/** Items that an event shows of its subscription. */
const SHOWN = 10;

/** The row where only events told: what they showed is there, and what else it ever had may still be. */
function shownRow(
  truth: Truth,
  tables: Tables,
  { about }: Moment<Subscription>,
  story: Moment<Subscription>[],
  held: ReturnType<typeof withoutKeys>[],
) {
  const shown = about.items.slice(0, SHOWN);
  const row = expectedRow(truth, tables, { ...about, items: shown });
  if (about.items.length <= SHOWN) return row;
  const ever = new Set<string | null>(story.flatMap((moment) => moment.about.items.map(({ id }) => id)));
  const others = held.filter(
    ({ stripe_subscription_item_id: id }) => ever.has(id) && !shown.some((item) => item.id === id),
  );
  const byId = (item: { stripe_subscription_item_id: string | null }) =>
    String(item.stripe_subscription_item_id);
  return { ...row, items: [...row.items, ...others].sort((a, b) => (byId(a) < byId(b) ? -1 : 1)) };
}

/**
 * Where the events of one second may end: created first, deleted last, and each update after the state that
 * it says was there before.
 */
function possibleEnds(second: Moment<Subscription>[]): Moment<Subscription>[] {
  const ends = second.filter(({ event }) => event.type === 'customer.subscription.deleted');
  if (ends.length > 0) return ends;
  const created = second.find(({ event }) => event.type === 'customer.subscription.created');
  const updates = second.filter(({ event }) => event.type === 'customer.subscription.updated');
  const found = new Set<Moment<Subscription>>();
  const walk = (at: Moment<Subscription> | undefined, left: Moment<Subscription>[]) => {
    if (at && left.length === 0) found.add(at);
    for (const next of left) {
      if (!at || JSON.stringify(next.event.previous) === JSON.stringify(at.about)) {
        walk(
          next,
          left.filter((other) => other !== next),
        );
      }
    }
  };
  walk(created, updates);
  return [...found];
}

function checkLink(
  truth: Truth,
  story: Moment<Subscription>[],
  now: Subscription,
  row: SubscriptionRow,
  actual: ItemRow,
  verdict: Verdict,
): void {
  const id = actual.stripe_subscription_item_id ?? '';
  const services = truth.ours.find((own) => own.id === row.customer_id)?.services ?? [];
  const item = now.items.find((one) => one.id === id);
  const named = item ? servicesNamed(services, now, item) : [];
  const ever = story.flatMap(({ about }) =>
    about.items
      .filter((one) => one.id === id)
      .flatMap((one) => servicesNamed(allServices(truth), about, one)),
  );
  const staff = truth.linked.get(id);
  const sold = truth.ours.find((own) => own.sold?.id === row.id)?.sold?.services ?? [];
  const mayBeNone = staff === undefined || wasConfirmed(truth, row.stripe_customer_id);
  const kept = [...ever, ...sold, ...(mayBeNone ? [null] : []), ...(staff === undefined ? [] : [staff])];
  const expected: (number | null)[] = named.length > 0 ? named : kept;
  if (!expected.includes(actual.customer_service_id)) {
    verdict.differences.push({ what: `link of ${id}`, expected, actual: actual.customer_service_id });
  }
}

/** Of a customer who is not known for sure nothing but staff links an item. */
function checkNoLink(
  truth: Truth,
  _story: Moment<Subscription>[],
  _now: Subscription,
  _row: SubscriptionRow,
  actual: ItemRow,
  verdict: Verdict,
): void {
  const id = actual.stripe_subscription_item_id ?? '';
  const expected = truth.linked.get(id) ?? null;
  if (expected !== actual.customer_service_id) {
    verdict.differences.push({ what: `link of ${id}`, expected, actual: actual.customer_service_id });
  }
}

/** Staff who say that it is another customer take its items from the services of the former one. */
function wasConfirmed(truth: Truth, stripeCustomerId: string | null): boolean {
  const made = truth.stripeCustomers.find(({ customer }) => customer.id === stripeCustomerId);
  return made !== undefined && made.staff !== null;
}

const allServices = (truth: Truth) => truth.ours.flatMap((own) => own.services);

function servicesNamed(
  services: Truth['ours'][number]['services'],
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

/** The subscription at Stripe that one of ours becomes, by the checkout that names it. */
interface Adopted {
  id: string;
  /** It is so for sure; else what is told last, or who it belongs to, may have been another at the time. */
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
    const isTold = truth.lossless && fitting.some(({ isAnnounced }) => isAnnounced);
    const isLast = full && fitting.at(-1) === moments.at(-1);
    found.set(own.sold.id, { id: session.subscription, must: isOwns && (isTold || isLast) });
  }
  return found;
}

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
  return pair(about.items, wanted);
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

function checkSold(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  const wanted = adopted(truth, tables, full);
  for (const { sold } of truth.ours) {
    if (!sold) continue;
    const row = tables.subscriptions.find(({ id }) => id === sold.id);
    const items = tables.items.filter((item) => item.subscription_id === sold.id);
    const left = items.filter((item) => item.stripe_subscription_item_id === null).length;
    const checkout = wanted.get(sold.id);
    const waits = { stripe_subscription_id: null, status: 'incomplete', left: sold.services.length };
    const becomes = { stripe_subscription_id: checkout?.id, left: 0 };
    const expected = checkout ? [becomes, ...(checkout.must ? [] : [waits])] : [waits];
    const actual = { ...row, left };
    if (!expected.some((one) => fits(one, actual))) {
      verdict.differences.push(differing(`sold subscription ${sold.id}`, expected[0] ?? {}, actual));
    }
  }
}

/**
 * The latest period end over the live items that hold a service, and its end where all of them are to end.
 * Without any, no date of Stripe's is left, but one that people gave it may be.
 */
export function checkServiceDates(truth: Truth, tables: Tables, verdict: Verdict): void {
  const live = new Map(
    tables.subscriptions
      .filter((row) => row.status !== 'cancelled' && isSure(tables, row.stripe_customer_id))
      .map((row) => [row.id, row]),
  );
  for (const service of tables.services) {
    const items = tables.items.filter(
      (item) =>
        item.customer_service_id === service.id &&
        live.has(item.subscription_id) &&
        item.current_period_end !== null,
    );
    const ends = items.map((item) => live.get(item.subscription_id)?.cancel_at ?? null);
    const isEnding = ends.length > 0 && !ends.includes(null);
    const ends_on = isEnding ? date(Math.max(...ends.map(Number)), truth.timeZone) : null;
    const until = items.map((item) => item.current_period_end ?? 0);
    const next = until.length > 0 ? date(Math.max(...until), truth.timeZone) : null;
    const own = [null, ...(truth.dated.get(service.id) ?? [])];
    const dates = next === null ? own : [next];
    if (!dates.includes(service.next_billing_date) || service.ends_on !== ends_on) {
      const expected = { next_billing_date: dates, ends_on };
      verdict.differences.push({ what: `service ${service.id}`, expected, actual: service });
    }
  }
}
