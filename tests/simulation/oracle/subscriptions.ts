import type { Subscription } from '@/lib/stripe-local/model';
import type { ItemRow, SubscriptionRow, Tables } from '../tables';
import { isSure } from './customers';
import type { Truth, Verdict } from './index';
import { checkLink, checkNoLink } from './item-links';
import { hasKnownStatus, keptStatuses } from './kept-status';
import { movedOutOfSight, movedWithinSecond } from './moved-items';
import { checkSold } from './sold';
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
  const mayLack = !full && (!truth.hasKey || truth.mayFail);
  const adrift = new Set(mayLack ? [...movedWithinSecond(truth), ...movedOutOfSight(truth)] : []);
  const settled = <T extends Pick<ItemRow, 'stripe_subscription_item_id'>>(some: T[]) =>
    some.filter(({ stripe_subscription_item_id: id }) => !adrift.has(id));
  const actual = { ...row, items: settled(items.map(withoutKeys)) };
  const expected = (one: Moment<Subscription>) =>
    keptStatuses(truth, story, one, 'incomplete').flatMap((status) => {
      const about = { ...one.about, status };
      const rows = [
        expectedRow(truth, tables, about),
        ...(mayLack ? [shownRow(truth, tables, about, story, actual.items)] : []),
      ];
      return rows
        .map((reported) => ({ ...reported, items: settled(reported.items) }))
        .flatMap((reported) => checkedOut(truth, reported, one, full));
    });
  const first = allowed[0] && expected(allowed[0])[0];
  if (!first) return;
  // Without the items that are adrift, several may fit.
  const fitting = allowed.filter((one) => expected(one).some((row) => fits(row, actual)));
  const [moment] = fitting;
  if (!moment) {
    verdict.differences.push(differing(`subscription ${row.stripe_subscription_id}`, first, actual));
    return;
  }
  if (!fits(first, actual) && !truth.hasKey) verdict.ties += 1;
  if (moment.about.items.some(({ id }) => adrift.has(id))) verdict.ties += 1;
  const link = isSure(tables, row.stripe_customer_id) ? checkLink : checkNoLink;
  for (const item of items) {
    const verdicts = fitting.map(({ about }) => {
      const own: Verdict = { differences: [], ties: 0 };
      link(truth, about, row, item, own);
      return own;
    });
    const { differences, ties } = verdicts.find((one) => one.differences.length === 0) ?? verdicts[0] ?? NONE;
    verdict.differences.push(...differences);
    verdict.ties += ties;
  }
}

const NONE: Verdict = { differences: [], ties: 0 };

const withoutKeys = ({ subscription_id: _, customer_service_id: __, ...item }: ItemRow) => item;

/** Until Stripe is asked, a checkout that was completed in that second or later makes active what is incomplete. */
function checkedOut<Row extends { status: string }>(
  truth: Truth,
  reported: Row,
  { about, event }: Moment<Subscription>,
  full: boolean,
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
  return truth.hasKey || isStrange ? [active, reported] : [active]; // it may have been asked later than that
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

/** The row where only events reported: what they showed is there, and what else it ever had may still be. */
function shownRow(
  truth: Truth,
  tables: Tables,
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
