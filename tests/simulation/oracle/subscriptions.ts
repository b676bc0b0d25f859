import type { Subscription } from '@/lib/stripe-local/model';
import type { ItemRow, SubscriptionRow, Tables } from '../tables';
import { checkSold, itemDifference, itemsAdrift, SHOWN } from './items';
import {
  allowedMoments,
  amount,
  type Case,
  compare,
  date,
  fits,
  hasKnownStatus,
  keptStatuses,
  type Moment,
  recordDifference,
  storiesOf,
  type Truth,
} from './story';

/** Expects one row per subscription, with the values of a moment that `allowedMoments` returns. */
export function checkSubscriptions(given: Case): void {
  const { truth, tables } = given;
  const stories = storiesOf<Subscription>(truth.history, 'subscription');
  const rows = new Map(tables.subscriptions.map((row) => [row.stripe_subscription_id, row]));
  for (const [id, story] of stories) {
    const row = rows.get(id);
    if (row) checkSubscription(given, story, row);
    else recordDifference(given, `subscription ${id}`, 'a row', null);
  }
  checkSold(given);
  const sold = truth.ours.map((own) => own.sold?.id);
  const waiting = tables.subscriptions.filter((row) => !row.stripe_subscription_id && sold.includes(row.id));
  const expected = stories.size + waiting.length;
  if (tables.subscriptions.length !== expected) {
    recordDifference(given, 'subscriptions', expected, tables.subscriptions.length);
  }
}

function checkSubscription(given: Case, story: Moment<Subscription>[], row: SubscriptionRow): void {
  const { truth, tables, full } = given;
  const allowed = allowedMoments(given, story, possibleEnds);
  const items = tables.items.filter(
    (item) => item.subscription_id === row.id && item.stripe_subscription_item_id !== null,
  );
  const mayLack = !full && (!truth.hasKey || truth.mayFail);
  const adrift = mayLack ? itemsAdrift(truth) : new Set<string | null>();
  const settled = <T extends Pick<ItemRow, 'stripe_subscription_item_id'>>(some: T[]) =>
    some.filter(({ stripe_subscription_item_id: id }) => !adrift.has(id));
  const actual = { ...row, items: settled(items.map(withoutKeys)) };
  const expected = (one: Moment<Subscription>) =>
    keptStatuses(truth, story, one, 'incomplete').flatMap((status) => {
      const about = { ...one.about, status };
      const rows = [
        expectedRow(truth, tables, about),
        ...(mayLack ? [shownRow(given, about, story, actual.items)] : []),
      ];
      return rows
        .map((reported) => ({ ...reported, items: settled(reported.items) }))
        .flatMap((reported) => checkedOut(given, reported, one));
    });
  const first = allowed[0] && expected(allowed[0])[0];
  if (!first) return;
  // Several moments may fit, because items whose subscription is uncertain are not compared.
  const fitting = allowed.filter((one) => expected(one).some((row) => fits(row, actual)));
  if (fitting.length === 0) compare(given, `subscription ${row.stripe_subscription_id}`, first, actual);
  for (const item of items) {
    const found = fitting.map(({ about }) => itemDifference(given, about, row, item));
    if (found[0] && !found.includes(null)) given.differences.push(found[0]);
  }
}

function withoutKeys(row: ItemRow) {
  const { id: _, subscription_id: __, customer_service_id: ___, linked_by_staff: ____, ...item } = row;
  return item;
}

/**
 * Returns the possible rows after a checkout. A checkout that completed in the same second or later
 * activates an incomplete subscription, until sync asks Stripe.
 */
function checkedOut<Row extends { status: string }>(
  { truth, full }: Case,
  reported: Row,
  { about, event }: Moment<Subscription>,
): Row[] {
  const isStrange = !hasKnownStatus(about);
  const isCheckedOut = truth.history.some(
    ({ created, type, about: session }) =>
      type === 'checkout.session.completed' &&
      session.object === 'checkout.session' &&
      session.subscription === about.id &&
      session.paymentStatus !== 'unpaid' &&
      (isStrange || created >= event.created),
  );
  if ((full && !isStrange) || reported.status !== 'incomplete' || !isCheckedOut) return [reported];
  const active = { ...reported, status: 'active' };
  // With an API key, sync may have asked Stripe after the checkout.
  return truth.hasKey || isStrange ? [active, reported] : [active];
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
    items: sortItems(
      about.items.map((item) => ({
        stripe_subscription_item_id: item.id,
        quantity: item.quantity,
        amount: amount(item.unitAmount * item.quantity, about.currency),
        currency: about.currency,
        interval: item.interval,
        interval_count: item.intervalCount,
        current_period_end: item.currentPeriodEnd,
      })),
    ),
  };
}

const sortItems = <T extends { stripe_subscription_item_id: string | null }>(items: T[]) =>
  items.sort((a, b) =>
    String(a.stripe_subscription_item_id) < String(b.stripe_subscription_item_id) ? -1 : 1,
  );

/**
 * Returns the row that follows from events alone. It has the items of the last event, and the items that were stored
 * earlier.
 */
function shownRow(
  { truth, tables }: Case,
  about: Subscription,
  story: Moment<Subscription>[],
  stored: ReturnType<typeof withoutKeys>[],
) {
  const shown = about.items.slice(0, SHOWN);
  const row = expectedRow(truth, tables, { ...about, items: shown });
  if (about.items.length <= SHOWN) return row;
  const ever = new Set<string | null>(story.flatMap((moment) => moment.about.items.map(({ id }) => id)));
  const others = stored.filter(
    ({ stripe_subscription_item_id: id }) => ever.has(id) && !shown.some((item) => item.id === id),
  );
  return { ...row, items: sortItems([...row.items, ...others]) };
}

/**
 * Returns the states in which a second may end. The creation comes first, a deletion comes last, and an update follows
 * the state that it reports as the previous one.
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
      const isNext = !at || JSON.stringify(next.event.previous) === JSON.stringify(at.about);
      if (isNext)
        walk(
          next,
          left.filter((other) => other !== next),
        );
    }
  };
  walk(created, updates);
  return [...found];
}
