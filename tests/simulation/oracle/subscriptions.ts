import type { CheckoutSession, Subscription, SubscriptionItem } from '@/lib/stripe-local/model';
import type { ItemRow, SubscriptionRow, Tables } from '../tables';
import { couldBe } from './customers';
import type { Truth, Verdict } from './index';
import { allowedMoments, type Moment, serviceNames, storiesOf } from './story';
import { date, differing, fits } from './values';

export function checkSubscriptions(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  const stories = storiesOf<Subscription>(truth.history, 'subscription');
  const rows = new Map(tables.subscriptions.map((row) => [row.stripe_subscription_id, row]));
  for (const [id, story] of stories) {
    const row = rows.get(id);
    if (row) checkSubscription(truth, tables, story, row, full, verdict);
    else verdict.differences.push({ what: `subscription ${id}`, expected: 'a row', actual: null });
  }
  checkSold(truth, tables, verdict);
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
  const expected = ({ about }: Moment<Subscription>) => expectedRow(truth, tables, about);
  const first = allowed[0] && expected(allowed[0]);
  if (!first) return;
  const moment = allowed.find(
    (one) =>
      fits(expected(one), actual) ||
      (mayLack && fits(shownRow(truth, tables, one, story, actual.items), actual)),
  );
  if (!moment) {
    verdict.differences.push(differing(`subscription ${row.stripe_subscription_id}`, first, actual));
    return;
  }
  if (!fits(first, actual) && !truth.hasKey) verdict.ties += 1;
  for (const item of items) checkLink(truth, story, moment.about, row, item, verdict);
}

const withoutKeys = ({ subscription_id: _, customer_service_id: __, ...item }: ItemRow) => item;

function expectedRow(truth: Truth, tables: Tables, about: Subscription) {
  const ends = about.items.map((item) => item.currentPeriodEnd);
  return {
    customer_id: tables.links.find((link) => link.stripe_customer_id === about.customer)?.customer_id,
    stripe_customer_id: about.customer,
    status: ['canceled', 'incomplete_expired'].includes(about.status) ? 'cancelled' : about.status,
    next_billing_date: date(Math.min(...ends), truth.timeZone),
    cancel_at_period_end: about.cancelAtPeriodEnd,
    ended_at: about.endedAt,
    items: itemRows(about.items),
  };
}

const itemRows = (items: readonly SubscriptionItem[]) =>
  [...items]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((item) => ({
      stripe_subscription_item_id: item.id,
      quantity: item.quantity,
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
  const kept = [...ever, ...sold, ...(staff === undefined ? [null] : [staff])];
  const expected: (number | null)[] = named.length > 0 ? named : kept;
  if (!expected.includes(actual.customer_service_id)) {
    verdict.differences.push({ what: `link of ${id}`, expected, actual: actual.customer_service_id });
  }
}

const allServices = (truth: Truth) => truth.ours.flatMap((own) => own.services);

function servicesNamed(
  services: Truth['ours'][number]['services'],
  subscription: Subscription,
  item: SubscriptionItem,
): number[] {
  const isSingle = subscription.items.length === 1;
  const names = serviceNames(isSingle ? { ...subscription.metadata, ...item.metadata } : item.metadata);
  return services
    .filter((service) => names.includes(String(service.id)) || names.includes(service.number))
    .map((service) => service.id);
}

/**
 * By our subscription that was sold, the one at Stripe that its checkout made; and whether it may be so only.
 * What a customer bought while it was taken for another of ours, it keeps.
 */
function adopted(truth: Truth, tables: Tables): Map<number, { id: string; isSure: boolean }> {
  const found = new Map<number, { id: string; isSure: boolean }>();
  for (const [, story] of storiesOf<CheckoutSession>(truth.history, 'checkout.session')) {
    const session = story.at(-1)?.about;
    const reference = session?.clientReferenceId ?? session?.metadata.subscription_id;
    const own = truth.ours.find(({ sold }) => sold && String(sold.id) === reference);
    const link = tables.links.find(({ stripe_customer_id: id }) => id === session?.customer);
    if (!own?.sold || !session?.subscription) continue;
    const isSure = link?.customer_id === own.id;
    const mayHaveBeen = couldBe(truth, session.customer).includes(own.id);
    if (isSure || mayHaveBeen) found.set(own.sold.id, { id: session.subscription, isSure });
  }
  return found;
}

function checkSold(truth: Truth, tables: Tables, verdict: Verdict): void {
  const wanted = adopted(truth, tables);
  for (const { sold } of truth.ours) {
    if (!sold) continue;
    const row = tables.subscriptions.find(({ id }) => id === sold.id);
    const checkout = wanted.get(sold.id);
    const waits = { stripe_subscription_id: null, status: 'incomplete' };
    const expected = checkout ? { stripe_subscription_id: checkout.id } : waits;
    const isOther = row && checkout?.isSure === false && fits(waits, row);
    if (!row || (!fits(expected, row) && !isOther)) {
      verdict.differences.push(differing(`sold subscription ${sold.id}`, expected, row ?? {}));
    }
  }
}

/** The latest period end over the live items that hold a service. */
export function checkServiceDates(truth: Truth, tables: Tables, verdict: Verdict): void {
  const live = new Set(
    tables.subscriptions.filter(({ status }) => status !== 'cancelled').map(({ id }) => id),
  );
  for (const service of tables.services) {
    const ends = tables.items
      .filter((item) => item.customer_service_id === service.id && live.has(item.subscription_id))
      .flatMap(({ current_period_end: end }) => (end === null ? [] : [end]));
    if (ends.length === 0) continue;
    const expected = date(Math.max(...ends), truth.timeZone);
    if (service.next_billing_date !== expected) {
      verdict.differences.push({
        what: `service ${service.id} next_billing_date`,
        expected,
        actual: service.next_billing_date,
      });
    }
  }
}
