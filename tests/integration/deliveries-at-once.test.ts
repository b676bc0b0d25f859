import { and, eq, inArray } from 'drizzle-orm';
import Stripe from 'stripe';
import { describe, expect, inject, test } from 'vitest';
import { lockKey } from '@/db/database';
import { stripeCustomers, stripeEvents, subscriptions } from '@/db/schema';
import * as act from '@/lib/stripe-local/actions';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createCustomer, createService } from '../support/factories';
import { DAY, typed, useSync } from '../support/sync';
import { watchedDatabase } from '../support/watched-database';

const sync = useSync();

/** A subscription and undelivered updates of it, a minute and a day apart. */
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

/** An update of each of so many customers. */
async function makeCustomers(count: number) {
  const made = [];
  for (let i = 0; i < count; i += 1) {
    const { updates, ...more } = await makeUpdates(1);
    for (const event of updates) made.push({ ...more, event });
  }
  return made;
}

/** Hands over all events at once. @param change of the body of an event */
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

/** What the inbox says of each event: its outcome and what it changed. */
async function inboxOf(events: WorldEvent[]) {
  const ids = events.map(({ id }) => id);
  const rows = await sync.db.select().from(stripeEvents).where(inArray(stripeEvents.id, ids));
  return ids.map((id) => {
    const row = rows.find((one) => one.id === id);
    const moved = row?.changes.map(({ field, before, after }) => `${field} ${before} ${after}`);
    return { outcome: row?.outcome, moved };
  });
}

describe('deliveries of one customer at once', () => {
  test('updates are decided one after the other, but read and written together', async () => {
    const [atOnce, oneByOne] = [await makeUpdates(8), await makeUpdates(8)];
    const { outcomes, statements } = await deliver(atOnce.updates);
    for (const event of oneByOne.updates) await sync.take(event);
    expect(new Set(outcomes)).toEqual(new Set(['processed']));
    expect(statements).toBe(4); // two of the first delivery, which no other one waited for yet, and two of the others
    expect(await atOnce.date()).toBe('2031-01-08');
    const [one, ...others] = await inboxOf(atOnce.updates);
    expect(one).toMatchObject({ outcome: 'processed', moved: [expect.any(String), expect.any(String)] });
    expect(others).toEqual((await inboxOf(oneByOne.updates)).slice(1));
  });

  test('updates behind the latest one are stale', async () => {
    const { updates, date } = await makeUpdates(5);
    const { outcomes } = await deliver(updates.toReversed());
    expect(outcomes).toEqual(['processed', 'stale', 'stale', 'stale', 'stale']);
    expect(await date()).toBe('2031-01-05');
  });

  test('one of two deliveries of each event is a duplicate', async () => {
    const { updates } = await makeUpdates(6);
    const { outcomes } = await deliver(updates.flatMap((event) => [event, event]));
    expect(outcomes.filter((outcome) => outcome === 'processed')).toHaveLength(6);
    expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(6);
  });

  test('an event whose value fits no column fails alone', async () => {
    const { updates, date } = await makeUpdates(5);
    const { outcomes } = await deliver(updates, (body, event) =>
      event === updates[3] ? body.replace('"quantity":1', '"quantity":3000000000') : body,
    );
    expect(outcomes).toEqual(['processed', 'processed', 'processed', 'failed', 'processed']);
    expect(await date()).toBe('2031-01-05');
    expect((await inboxOf(updates)).map(({ outcome }) => outcome)).toEqual(outcomes);
  });
});

describe('deliveries of several customers at once', () => {
  test('an event that the database refuses fails alone, and is processed the next time', async () => {
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

  test.runIf(inject('postgres'))('forty events at once are applied, and are duplicates again', async () => {
    const made = await makeCustomers(40);
    const takeAll = () => Promise.all(made.map(({ event }) => sync.take(event)));
    expect(new Set(await takeAll())).toEqual(new Set(['processed']));
    expect(new Set(await takeAll())).toEqual(new Set(['duplicate']));
    const ids = made.map(({ id }) => id);
    const dated = and(
      inArray(subscriptions.stripe_subscription_id, ids),
      eq(subscriptions.next_billing_date, '2031-01-01'),
    );
    expect(await sync.db.$count(subscriptions, dated)).toBe(40);
  });

  test.runIf(inject('postgres'))('a delivery does not wait for the lock of another customer', async () => {
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
  });

  test('a service of two subscriptions that change at once has the later date', async () => {
    const START = 1_773_576_000;
    let drawn = 0;
    const take = (name: string, days: number, metadata: Record<string, string>) => {
      drawn += 1;
      const item = { id: `si_${name}`, quantity: 1, current_period_end: START + days * DAY, metadata };
      const items = { object: 'list', has_more: false, data: [item] };
      const state = { status: 'active', cancel_at_period_end: false, items, metadata: {} };
      const object = { id: `sub_${name}`, object: 'subscription', customer: `cus_${name}`, ...state };
      return sync.takeBody(
        JSON.stringify({
          id: `evt_dates_${drawn}`,
          object: 'event',
          type: 'customer.subscription.updated',
          api_version: '2026-10-28.endive',
          created: START + drawn,
          livemode: false,
          data: { object },
        }),
      );
    };
    const rounds = inject('postgres') ? 30 : 4; // only a server runs both at the same time
    for (let round = 0; round < rounds; round += 1) {
      const service = await createService(sync.db);
      const metadata = { service_number: service.service_number };
      const [one, other] = [`one${round}`, `other${round}`];
      for (const name of [one, other]) {
        await sync.db.insert(stripeCustomers).values({
          stripe_customer_id: `cus_${name}`,
          customer_id: service.customer_id,
          linked_by: 'staff',
        });
      }
      await take(one, 20, metadata);
      await take(other, 10, {});
      // One ends earlier from now on, while the other gets the service.
      const both = [() => take(one, 2, metadata), () => take(other, 10, metadata)];
      if (round % 2 === 1) both.reverse();
      await Promise.all(both.map((begin) => begin()));
      expect((await sync.serviceOf(service.id))?.next_billing_date).toBe('2026-03-25');
    }
  });
});
