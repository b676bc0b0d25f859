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
  deliver,
  type EventContent,
  finalized,
  named,
  paid,
  succeeded,
  toEvent,
  voided,
  WEBHOOK_SECRET,
} from '../support/stripe-events';
import { useSync } from '../support/sync';

// tests/integration/sync-rules-*.test.ts test the rows that each event writes.
const server = useApi({ '/api/stripe/webhook': webhook }, { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET });
const sync = useSync({ server });
const GRACE = { type: 'staff', id: 'grace', name: 'Grace' } as const;

let drawn = 0;
const draw = (told: EventContent) => toEvent(told, ++drawn);
const send = (event: object) => deliver(server.url, event, server.runtime.now());
const received = (outcome: string) => ({ status: 200, body: { received: true, outcome } });
const outcome = async (event: object) => (await send(event)).body.outcome;
const statuses = async (deliveries: Promise<{ status: number }>[]) =>
  (await Promise.all(deliveries)).map(({ status }) => status);
/** Gives a test its own Stripe customer, because all tests share one database. */
const own = (id: string) => ({ customer: `cus_${id}` });

describe('webhook deliveries', () => {
  test('a webhook event is stored as it was sent, and a second delivery is answered as a duplicate', async () => {
    const event = draw(succeeded('in_1'));
    expect(await send(event)).toEqual(received('processed'));
    expect(await sync.paymentOf('in_1')).toMatchObject({ amount: '119.000' });
    expect(await send(event)).toEqual(received('duplicate'));
    expect((await sync.eventOf(event.id))?.payload).toBe(JSON.stringify(event));
  });

  test('a webhook event that changes nothing is answered with its outcome', async () => {
    const older = draw(finalized('in_1'));
    expect(await send(draw(voided('in_5')))).toEqual(received('ignored'));
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
    const ping = { type: 'v2.core.event_destination.ping', related_object: null };
    const data = { object: { id: 'in_thin', customer: 'cus_thin' } };

    test.each([
      ['about an invoice', {}],
      ['with the type of a snapshot event', { type: 'invoice.paid' }],
      ['without an object', { related_object: null }],
      ['that contains data', { data, type: 'invoice.paid' }],
      ['that is a ping', ping],
    ])('a thin event %s is stored but changes no records', async (_, more) => {
      const event = thin(more);
      expect(await send(event)).toEqual(received('ignored'));
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
      const alerts = async () => (await listAlerts(db, new Date(), env)).alerts;
      await send(thin(ping));
      expect(await alerts()).toEqual([]);
      await send(thin({}));
      const message = /^1 thin event arrived, which cannot be applied: choose snapshot/;
      expect(await alerts()).toEqual([{ code: 'inbox_thin', message: expect.stringMatching(message) }]);
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

  // tests/integration/sync-faults.test.ts tests failures after which a second delivery succeeds.
  test('a webhook event with an invalid currency is answered with 500, and reconciliation does not retry it', async () => {
    const event = draw(finalized('in_bad', { ...own('bad'), currency: 'euro' }));
    const body = { error: 'Internal error', ref: expect.any(String) };
    expect(await send(event)).toEqual({ status: 500, body });
    const failure_reason = 'The currency "euro" is not a three-letter code.';
    const failed = { outcome: 'failed', failure_reason, attempts: 1 };
    expect(await sync.eventOf(event.id)).toMatchObject(failed);
    expect(await sync.invoiceOf('in_bad')).toBeUndefined();
    await reconcile(sync.deps({ withKey: false }), { trigger: 'cli', startedBy: 'test' });
    expect(await sync.eventOf(event.id)).toMatchObject(failed);
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

  test('two new Stripe customers with the same e-mail address become one customer if linking by e-mail is on', async () => {
    server.runtime.env.linkByEmail = true;
    for (const round of [1, 2]) {
      const twins = [`a${round}`, `b${round}`];
      const more = { customer_email: `twin-${round}@example.com` };
      const deliverBoth = () =>
        statuses(twins.map((id) => send(draw(finalized(id, { ...own(id), ...more })))));
      // Deliver both events twice, because a Stripe customer may be linked only by its second event.
      expect([...(await deliverBoth()), ...(await deliverBoth())]).toEqual(Array(4).fill(200));
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
