import { inArray } from 'drizzle-orm';
import Stripe from 'stripe';
import { describe, expect, inject, test } from 'vitest';
import { lockKey } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { createCustomer } from '../support/factories';
import * as act from '../support/stripe-actions';
import { renderEvent } from '../support/stripe-versions';
import { DAY, typed, useSync } from '../support/sync';
import { watchedDatabase } from '../support/watched-database';

const sync = useSync();

/** Creates a subscription and undelivered update events, whose period ends are a day apart. */
async function makeUpdates(count: number) {
  const { stripeCustomerId, subscription } = await sync.subscribe(await createCustomer(sync.db), [{}]);
  const updates = Array.from({ length: count }, (_, i) => {
    sync.later(60);
    const currentPeriodEnd = Date.UTC(2031, 0, 1) / 1000 + i * DAY;
    const { events } = act.updateSubscription(sync.world, subscription.id, { currentPeriodEnd });
    return typed(events, 'customer.subscription.updated');
  });
  const date = async () => (await sync.subscriptionOf(subscription.id))?.next_billing_date;
  return { updates, date, stripeCustomerId, id: subscription.id };
}

/** Creates customers with one undelivered update each. */
async function makeCustomers(count: number) {
  const made = [];
  for (let i = 0; i < count; i += 1) {
    const { updates, ...more } = await makeUpdates(1);
    for (const event of updates) made.push({ ...more, event });
  }
  return made;
}

/** Delivers all events at the same time. `change` can change the body of an event. */
async function deliver(events: WorldEvent[], change = (body: string, _: WorldEvent) => body) {
  let statements = 0;
  const db = watchedDatabase(sync.db, {
    statement: (_, run) => {
      statements += 1;
      return run();
    },
  });
  const take = (event: WorldEvent) =>
    sync.takeBody(change(JSON.stringify(renderEvent(event, Stripe.API_VERSION)), event), { db });
  const settled = await Promise.allSettled(events.map(take));
  const outcomes = settled.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'));
  return { outcomes, statements };
}

/** Returns the stored outcome and changes of each event. */
async function inboxOf(events: WorldEvent[]) {
  const ids = events.map(({ id }) => id);
  const rows = await sync.db.select().from(stripeEvents).where(inArray(stripeEvents.id, ids));
  return ids.map((id) => {
    const row = rows.find((one) => one.id === id);
    const moved = row?.changes.map(({ field, before, after }) => `${field} ${before} ${after}`);
    return { outcome: row?.outcome, moved };
  });
}

describe('concurrent deliveries of one customer', () => {
  test('eight concurrent updates of one subscription need four SQL statements', async () => {
    const [atOnce, oneByOne] = [await makeUpdates(8), await makeUpdates(8)];
    const { outcomes, statements } = await deliver(atOnce.updates);
    for (const event of oneByOne.updates) await sync.take(event);
    expect(new Set(outcomes)).toEqual(new Set(['processed']));
    // Two statements are for the first delivery, and two for the batch of all other deliveries.
    expect(statements).toBe(4);
    expect(await atOnce.date()).toBe('2031-01-08');
    const [one, ...others] = await inboxOf(atOnce.updates);
    expect(one).toMatchObject({ outcome: 'processed', moved: [expect.any(String), expect.any(String)] });
    expect(others).toEqual((await inboxOf(oneByOne.updates)).slice(1));
  });

  test('an event with too large a quantity fails without affecting concurrent events', async () => {
    const { updates, date } = await makeUpdates(5);
    const { outcomes } = await deliver(updates, (body, event) =>
      event === updates[3] ? body.replace('"quantity":1', '"quantity":3000000000') : body,
    );
    expect(outcomes).toEqual(['processed', 'processed', 'processed', 'failed', 'processed']);
    expect(await date()).toBe('2031-01-05');
    expect((await inboxOf(updates)).map(({ outcome }) => outcome)).toEqual(outcomes);
  });
});

describe('concurrent deliveries of several customers', () => {
  test('an event that the database refuses does not fail concurrent events of other customers', async () => {
    const made = await makeCustomers(6);
    const [spoilt, ...others] = made;
    if (!spoilt) throw new Error('six were made');
    const db = watchedDatabase(sync.db, {
      async statement(text, run, values) {
        if (!text.includes('commit_plan') || !values.includes(spoilt.id)) return run();
        throw Object.assign(new Error('refused'), { code: '23514' });
      },
    });
    const done = await Promise.allSettled(made.map(({ event }) => sync.take(event, { db })));
    expect(done.map(({ status }) => status)).toEqual(['rejected', ...others.map(() => 'fulfilled')]);
    expect(await sync.eventOf(spoilt.event.id)).toMatchObject({ outcome: 'failed', error_code: '23514' });
    expect(await sync.take(spoilt.event)).toBe('processed');
  });

  test.runIf(inject('postgres'))(
    'a webhook delivery does not wait for the lock of another customer',
    async () => {
      const [locked, ...others] = await makeCustomers(12);
      if (!locked) throw new Error('twelve were made');
      let waiting: Promise<unknown> = Promise.resolve();
      await sync.db.transaction(async (tx) => {
        await lockKey(tx, locked.stripeCustomerId);
        waiting = sync.take(locked.event);
        const done = Promise.all(others.map(({ event }) => sync.take(event)));
        expect(new Set(await done)).toEqual(new Set(['processed']));
        expect(await sync.eventOf(locked.event.id)).toBeUndefined();
      });
      expect(await waiting).toBe('processed');
    },
  );
});
