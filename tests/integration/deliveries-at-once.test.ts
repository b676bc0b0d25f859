import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { lockKey } from '@/db/database';
import { stripeEvents, subscriptions } from '@/db/schema';
import * as act from '@/lib/stripe-local/actions';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { openTestStripe, subscribe, type TestStripe } from '../support/stripe-world';

const base = useDatabase();
let runtime: TestRuntime;
let stripe: TestStripe;

beforeAll(() => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
});

/** As many customers with a subscription each, and the next event of each. */
async function makeEvents(count: number) {
  const made = [];
  for (let i = 0; i < count; i += 1) {
    const ours = await createCustomer(base.db);
    const { stripeCustomerId, subscription } = await subscribe(stripe, runtime, ours, [{}]);
    runtime.setNow(new Date(runtime.now().getTime() + 60_000));
    const change = { currentPeriodEnd: Math.floor(runtime.now().getTime() / 1000) + (i + 2) * 86_400 };
    const [event] = act.updateSubscription(stripe.world, subscription.id, change).events;
    if (!event) throw new Error('an update is reported');
    made.push({ stripeCustomerId, event, subscription: subscription.id });
  }
  return made;
}

const outcomeOf = async (id: string) => {
  const [row] = await base.db.select().from(stripeEvents).where(eq(stripeEvents.id, id));
  return row?.outcome;
};

describe.runIf(inject('postgres'))('deliveries at once, on a server', () => {
  test('of forty customers: each is applied, and is a duplicate the second time', async () => {
    const made = await makeEvents(40);
    const deliver = () => Promise.all(made.map(({ event }) => stripe.take(event)));
    expect(new Set(await deliver())).toEqual(new Set(['processed']));
    expect(new Set(await deliver())).toEqual(new Set(['duplicate']));
    const ends = await base.db.select({ end: subscriptions.next_billing_date }).from(subscriptions);
    expect(new Set(ends.map(({ end }) => end)).size).toBeGreaterThanOrEqual(40);
  });

  test('nobody waits for the lock of another customer', async () => {
    const made = await makeEvents(12);
    const [locked, ...others] = made;
    if (!locked) throw new Error('none');
    let waiting: Promise<unknown> = Promise.resolve();
    await base.db.transaction(async (tx) => {
      await lockKey(tx, locked.stripeCustomerId);
      waiting = stripe.take(locked.event);
      const done = Promise.all(others.map(({ event }) => stripe.take(event)));
      expect(new Set(await done)).toEqual(new Set(['processed']));
      expect(await outcomeOf(locked.event.id)).toBeUndefined();
    });
    expect(await waiting).toBe('processed');
  });

  test('one that cannot be stored fails alone', async () => {
    const made = await makeEvents(6);
    const [spoilt, ...others] = made;
    if (!spoilt) throw new Error('none');
    const reject = sql.raw(`alter table subscriptions add constraint spoilt
      check (stripe_subscription_id <> '${spoilt.subscription}' ) not valid`);
    await base.db.execute(reject);
    const done = await Promise.allSettled(made.map(({ event }) => stripe.take(event)));
    await base.db.execute(sql`alter table subscriptions drop constraint spoilt`);
    expect(done.map(({ status }) => status)).toEqual(['rejected', ...others.map(() => 'fulfilled')]);
    expect(await outcomeOf(spoilt.event.id)).toBe('failed');
    expect(await stripe.take(spoilt.event)).toBe('processed');
  });
});
