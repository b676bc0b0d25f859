import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import * as webhook from '@/app/api/stripe/webhook/route';
import { stripeEvents } from '@/db/schema';
import { listAlerts } from '@/lib/health/check-health';
import { listTasks } from '@/lib/overview/list-tasks';
import { updatePayment } from '@/lib/payments/write-payment';
import { listEvents, replayForStaff } from '@/lib/sync/inbox/events';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { useApi } from '../support/api';
import { createCustomer, createSold } from '../support/factories';
import {
  completed,
  created,
  deleted,
  deliver,
  type EventContent,
  failed,
  finalized,
  named,
  paid,
  succeeded,
  toEvent,
  updated,
  voided,
  WEBHOOK_SECRET,
} from '../support/stripe-events';
import { useSync } from '../support/sync';
import { watchedDatabase } from '../support/watched-database';

// tests/integration/sync-rules-*.test.ts test the rows that each event writes.
const server = useApi({ '/api/stripe/webhook': webhook }, { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET });
const sync = useSync({ server });
const GRACE = { type: 'staff', id: 'grace', name: 'Grace' } as const;

let drawn = 0;
const draw = (told: EventContent) => toEvent(told, ++drawn);
const send = (event: object) => deliver(server.url, event, server.runtime.now());
const outcome = async (event: object) => (await send(event)).body.outcome;
const statuses = async (deliveries: Promise<{ status: number }>[]) =>
  (await Promise.all(deliveries)).map(({ status }) => status);
/** Gives a test its own Stripe customer, because all tests share one database. */
const own = (id: string) => ({ customer: `cus_${id}` });
const failure = { status: 500, body: { error: 'Internal error', ref: expect.any(String) } };

describe('webhook deliveries', () => {
  const active = { provider_as_of: expect.any(Date), status: 'active' };
  const cancelled = { status: 'cancelled', ended_at: expect.any(Date) };
  const told: [EventContent, 'invoiceOf' | 'paymentOf' | 'subscriptionOf', string, object][] = [
    [finalized('in_1'), 'invoiceOf', 'in_1', { status: 'sent' }],
    [failed('in_2'), 'invoiceOf', 'in_2', { status: 'overdue' }],
    [paid('in_3'), 'invoiceOf', 'in_3', { status: 'paid' }],
    [succeeded('in_4'), 'paymentOf', 'in_4', { amount: '119.000' }],
    [completed('cs_1'), 'subscriptionOf', 'sub_1', { provider_as_of: null, status: 'active' }],
    [created('sub_1'), 'subscriptionOf', 'sub_1', active],
    [updated('sub_2'), 'subscriptionOf', 'sub_2', active],
    [deleted('sub_1'), 'subscriptionOf', 'sub_1', cancelled],
  ];
  for (const [one, find, id, row] of told) {
    test(`a second delivery of the same ${one.type} event is answered as a duplicate`, async () => {
      const event = draw(one);
      expect(await send(event)).toEqual({ status: 200, body: { received: true, outcome: 'processed' } });
      expect(await sync[find](id)).toMatchObject(row);
      expect(await send(event)).toEqual({ status: 200, body: { received: true, outcome: 'duplicate' } });
      expect((await sync.eventOf(event.id))?.payload).toBe(JSON.stringify(event));
    });
  }

  test('a webhook event that changes nothing is answered with its outcome', async () => {
    const [other, older] = [draw(voided('in_5')), draw(finalized('in_1'))];
    expect(await send(other)).toEqual({ status: 200, body: { received: true, outcome: 'ignored' } });
    expect(await sync.invoiceOf('in_5')).toBeUndefined();
    await send(draw(paid('in_1')));
    expect(await outcome(older)).toBe('stale');
    const unmatched = draw(finalized('in_6', { customer: null }));
    expect([await outcome(unmatched), await outcome(unmatched)]).toEqual(['unmatched', 'unmatched']);
  });

  describe('thin events', () => {
    const thin = (more: object) => ({
      ...{ id: `evt_thin_${++drawn}`, object: 'v2.core.event', livemode: false },
      ...{ type: 'v1.invoice.paid', created: '2026-03-15T12:00:00.123Z' },
      related_object: { id: 'in_thin', type: 'invoice', url: '/v1/invoices/in_thin' },
      ...more,
    });
    const sentence = 'this endpoint sends thin events: choose snapshot payloads for it in Stripe';

    test.each([
      ['about an invoice', {}],
      ['with the type of a snapshot event', { type: 'invoice.paid' }],
      ['without an object', { related_object: null }],
      [
        'that contains data',
        { data: { object: { id: 'in_thin', customer: 'cus_thin' } }, type: 'invoice.paid' },
      ],
      ['that is a ping', { type: 'v2.core.event_destination.ping', related_object: null }],
    ])('a thin event %s is stored but changes no records', async (_, more) => {
      const event = thin(more);
      expect(await send(event)).toEqual({ status: 200, body: { received: true, outcome: 'ignored' } });
      expect(await sync.eventOf(event.id)).toMatchObject({
        ...{ outcome: 'ignored', warnings: [sentence], payload: JSON.stringify(event) },
        ...{ stripe_created: new Date('2026-03-15T12:00:00.123Z'), stripe_customer_id: null },
      });
      expect(await sync.invoiceOf('in_thin')).toBeUndefined();
      expect(await outcome(event)).toBe('duplicate');
      expect(await replayForStaff(sync.deps(), GRACE, event.id)).toBe('ignored');
    });

    test('staff are warned about thin webhook events other than pings', async () => {
      const { db, env, now } = server.runtime;
      await db.delete(stripeEvents);
      const codes = async () =>
        (await listAlerts(db, new Date(), env)).alerts.map(({ code, message }) => [code, message]);
      await send(thin({ type: 'v2.core.event_destination.ping' }));
      expect(await codes()).toEqual([]);
      await send(thin({}));
      expect(await codes()).toEqual([
        [
          'inbox_thin',
          expect.stringMatching(/^1 thin event arrived, which cannot be applied: choose snapshot/),
        ],
      ]);
      const page = { limit: 25, timeZone: 'UTC' };
      expect((await listEvents(db, { outcome: 'other_mode' }, page)).count).toBe(0);
      expect((await listEvents(db, { outcome: 'thin' }, page)).count).toBe(2);
      expect((await listTasks(db, now(), env)).map(({ code }) => code)).toContain('inbox_thin');
      await db.delete(stripeEvents);
    });
  });

  test('a test-mode event received in live mode is ignored until staff replay it', async () => {
    const { env } = server.runtime;
    env.stripe.mode = 'live';
    const other = draw(finalized('in_mode', own('mode')));
    expect(await outcome(other)).toBe('ignored');
    expect(await replayEvent(sync.deps(), other.id)).toBe('ignored');
    expect(await sync.invoiceOf('in_mode')).toBeUndefined();
    expect((await sync.eventOf(other.id))?.warnings).toEqual([
      'a test event, while the configured keys are live keys',
    ]);
    expect(await replayForStaff(sync.deps(), GRACE, other.id)).toBe('processed');
    env.stripe.mode = null;
    expect(await sync.invoiceOf('in_mode')).toBeDefined();
  });

  test('a failed webhook event is applied when Stripe delivers it again', async () => {
    const { runtime } = server;
    const { db } = runtime;
    const failing = draw(created('sub_f', own('f')));
    runtime.db = watchedDatabase(db, {
      statement: (text, run) =>
        text.includes('commit_plan') ? db.execute(sql`select from no_such_table`) : run(),
    });
    const answer = await send(failing);
    runtime.db = db;
    expect(answer).toEqual(failure);
    expect(await sync.subscriptionOf('sub_f')).toBeUndefined();
    expect(await sync.eventOf(failing.id)).toMatchObject({ outcome: 'failed', error_code: '42P01' });
    expect(await outcome(failing)).toBe('processed');
    const taken = { outcome: 'processed', error_code: null, attempts: 2 };
    expect(await sync.eventOf(failing.id)).toMatchObject(taken);
  });

  test.each([
    [{ currency: 'euro' }, 'The currency "euro" is not a three-letter code.'],
    [
      { amount_remaining: 123_456_789_012_345 },
      'The amount 1234567890123.45 EUR has more than twelve digits.',
    ],
    [{ amount_remaining: 1e300 }, 'The amount 1e+300 is not a whole number of at most twelve digits.'],
  ])('an invoice event with %j fails, and reconciliation does not retry it', async (more, failure_reason) => {
    const event = draw(finalized('in_bad', { ...own('bad'), ...more }));
    expect(await send(event)).toEqual(failure);
    const failed = { outcome: 'failed', failure_reason };
    expect(await sync.eventOf(event.id)).toMatchObject({ ...failed, attempts: 1 });
    expect(await sync.invoiceOf('in_bad')).toBeUndefined();
    await reconcile(sync.deps({ withKey: false }), { trigger: 'cli', startedBy: 'test' });
    expect(await sync.eventOf(event.id)).toMatchObject({ ...failed, attempts: 1 });
    expect(await replayForStaff(sync.deps(), GRACE, event.id)).toBe('failed');
    expect(await sync.eventOf(event.id)).toMatchObject({ ...failed, attempts: 2 });
  });
});

describe('concurrent deliveries', () => {
  test('only one of 32 concurrent deliveries of a webhook event is applied', async () => {
    const once = draw(succeeded('in_32', own('32')));
    const outcomes = await Promise.all(Array.from({ length: 32 }, () => outcome(once)));
    expect(outcomes.sort()).toEqual([...Array(31).fill('duplicate'), 'processed']);
    expect(await sync.paymentOf('in_32')).toBeDefined();
  });

  test('concurrent writes of one payment by API and webhook all succeed', async () => {
    const deliverPayment = () => send(draw(succeeded('in_both', own('both'))));
    await deliverPayment();
    const { id = 0 } = (await sync.paymentOf('in_both')) ?? {};
    const writer = { actor: GRACE, source: 'api', now: server.runtime.now(), timeZone: 'UTC' } as const;
    const update = async (amount: number) => {
      await updatePayment(server.runtime.db, id, { amount }, writer);
      return { status: 200 };
    };
    const both = Array.from({ length: 10 }, (_, i) => [update(i + 1), deliverPayment()]).flat();
    expect(await statuses(both)).toEqual(Array(20).fill(200));
  });

  test('two new Stripe customers with the same e-mail address become one customer', async () => {
    server.runtime.env.linkByEmail = true;
    for (const round of [1, 2]) {
      const twins = [`a${round}`, `b${round}`];
      const more = { customer_email: `twin-${round}@example.com` };
      const deliverBoth = () =>
        statuses(twins.map((id) => send(draw(finalized(id, { ...own(id), ...more })))));
      // Deliver both events twice, because a Stripe customer may be linked only by its second event.
      expect([await deliverBoth(), await deliverBoth()]).toEqual([
        [200, 200],
        [200, 200],
      ]);
      const [a, b] = await Promise.all(twins.map((id) => sync.invoiceOf(id)));
      expect(a?.customer_id).toBe(b?.customer_id);
    }
    server.runtime.env.linkByEmail = false;
  });

  test('only one of two concurrent checkouts with the same reference records the sale', async () => {
    const { db } = server.runtime;
    const customer = await createCustomer(db);
    const { sold } = await createSold(db, { customer_id: customer.id });
    const twins = ['twin_a', 'twin_b'];
    const more = { client_reference_id: String(sold.id), ...named(customer.customer_number) };
    await Promise.all(twins.map((id) => send(draw(created(id, own(id))))));
    const answers = twins.map((id) =>
      outcome(draw(completed('cs_1', { ...own(id), subscription: id, ...more }))),
    );
    expect(await Promise.all(answers)).toEqual(['processed', 'processed']);
    const rows = await Promise.all(twins.map((id) => sync.subscriptionOf(id)));
    expect(rows.filter((row) => row?.id === sold.id)).toHaveLength(1);
    expect(rows.filter((row) => row?.checkout_reference === sold.id)).toHaveLength(1);
  });
});
