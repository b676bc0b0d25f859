import { eq, inArray } from 'drizzle-orm';
import Stripe from 'stripe';
import { beforeAll, expect, test } from 'vitest';
import { stripeEvents, subscriptions } from '@/db/schema';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { openTestStripe, subscribe, type TestStripe } from '../support/stripe-world';
import { watchedDatabase } from '../support/watched-database';

const base = useDatabase();
let runtime: TestRuntime;
let stripe: TestStripe;
type Happened = Parameters<TestStripe['take']>[0];

beforeAll(() => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
});

/** A subscription, and so many updates of it that nobody has delivered yet: a minute and a day apart. */
async function makeUpdates(count: number) {
  const { subscription } = await subscribe(stripe, runtime, await createCustomer(base.db), [{}]);
  const end = Date.UTC(2031, 0, 1) / 1000;
  const updates = Array.from({ length: count }, (_, i) => {
    runtime.setNow(new Date(runtime.now().getTime() + 60_000));
    const change = { currentPeriodEnd: end + i * 86_400 };
    const [event] = act.updateSubscription(stripe.world, subscription.id, change).events;
    if (!event) throw new Error('an update is reported');
    return event;
  });
  const date = async () => {
    const [row] = await base.db
      .select({ date: subscriptions.next_billing_date })
      .from(subscriptions)
      .where(eq(subscriptions.stripe_subscription_id, subscription.id));
    return row?.date;
  };
  return { updates, date };
}

/** All at once. @param change of what one of them says */
async function deliver(events: Happened[], change = (body: string, _: Happened) => body) {
  let statements = 0;
  const db = watchedDatabase(base.db, {
    statement: (_, run) => {
      statements += 1;
      return run();
    },
  });
  const take = async (event: Happened) => {
    const body = change(JSON.stringify(renderEvent(event, Stripe.API_VERSION)), event);
    const parsed = toProviderEvent(JSON.parse(body));
    if (!parsed) throw new Error('the world renders events');
    return handleEvent({ ...syncDeps(runtime), db }, parsed, body);
  };
  const settled = await Promise.allSettled(events.map(take));
  const outcomes = settled.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'));
  return { outcomes, statements };
}

/** What the inbox says of each: its outcome, and the dates between which it moved something. */
async function inboxOf(events: Happened[]) {
  const ids = events.map(({ id }) => id);
  const rows = await base.db.select().from(stripeEvents).where(inArray(stripeEvents.id, ids));
  return ids.map((id) => {
    const row = rows.find((one) => one.id === id);
    const moved = row?.changes.map(({ field, before, after }) => `${field} ${before} ${after}`);
    return { outcome: row?.outcome, moved };
  });
}

test('of one customer: decided one after the other, read and written together', async () => {
  const [atOnce, oneByOne] = [await makeUpdates(8), await makeUpdates(8)];
  const { outcomes, statements } = await deliver(atOnce.updates);
  for (const event of oneByOne.updates) await stripe.take(event);
  expect(new Set(outcomes)).toEqual(new Set(['processed']));
  expect(statements).toBe(4); // of the first, whom nobody waited for yet, and of the others
  expect(await atOnce.date()).toBe('2031-01-08');
  const [one, ...others] = await inboxOf(atOnce.updates);
  expect(one).toMatchObject({ outcome: 'processed', moved: [expect.any(String), expect.any(String)] });
  expect(others).toEqual((await inboxOf(oneByOne.updates)).slice(1));
});

test('the latest first: what comes behind it is stale', async () => {
  const { updates, date } = await makeUpdates(5);
  const { outcomes } = await deliver(updates.toReversed());
  expect(outcomes).toEqual(['processed', 'stale', 'stale', 'stale', 'stale']);
  expect(await date()).toBe('2031-01-05');
});

test('each of them twice: one of two is a duplicate', async () => {
  const { updates } = await makeUpdates(6);
  const { outcomes } = await deliver(updates.flatMap((event) => [event, event]));
  expect(outcomes.filter((outcome) => outcome === 'processed')).toHaveLength(6);
  expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(6);
});

test('one that no column can hold fails alone', async () => {
  const { updates, date } = await makeUpdates(5);
  const { outcomes } = await deliver(updates, (body, event) =>
    event === updates[3] ? body.replace('"quantity":1', '"quantity":3000000000') : body,
  );
  expect(outcomes).toEqual(['processed', 'processed', 'processed', 'failed', 'processed']);
  expect(await date()).toBe('2031-01-05');
  expect((await inboxOf(updates)).map(({ outcome }) => outcome)).toEqual(outcomes);
});
