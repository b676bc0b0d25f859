import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as webhook from '@/app/api/stripe/webhook/route';
import { customerServices, invoices, stripeEvents, subscriptions } from '@/db/schema';
import { fromEpoch } from '@/lib/dates';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, epochNow, type World } from '@/lib/stripe-local/world';
import { replayForStaff } from '@/lib/sync/inbox/replay-for-staff';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useApi } from '../support/api';
import { createCustomer, createService } from '../support/factories';
import { deliver, WEBHOOK_SECRET } from '../support/stripe-events';

const server = useApi({ '/api/stripe/webhook': webhook }, { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET });
const DAY = 86_400;
let world: World;
let stripeLocal: StripeLocal;

beforeAll(async () => {
  world = createWorld({ now: () => server.runtime.now(), chance: seededChance(7) });
  stripeLocal = await startStripeLocal({ world, secretKey: 'sk_test_states' });
});
afterAll(() => stripeLocal?.close());
beforeEach(() => later(60));

const later = (seconds: number) =>
  server.runtime.setNow(new Date(server.runtime.now().getTime() + seconds * 1000));
const typed = (events: WorldEvent[], type: string) => {
  const event = events.find((one) => one.type.endsWith(type));
  if (!event) throw new Error(`no ${type}`);
  return event;
};
const send = (
  event: WorldEvent,
  change: (object: Record<string, unknown>) => object = (object) => object,
) => {
  const body = renderEvent(event, '2026-10-28.endive');
  const data = body.data as { object: Record<string, unknown> };
  return deliver(
    server.url,
    { ...body, data: { ...data, object: change(data.object) } },
    server.runtime.now(),
  );
};
/** Hands over all that Stripe tells of something. */
async function tell({ events }: { events: WorldEvent[] }): Promise<void> {
  for (const event of events) expect((await send(event)).status).toBe(200);
}
async function run() {
  const { runtime } = server;
  runtime.stripe = createStripeClient('sk_test_states', stripeLocal.url, 10_000);
  try {
    return await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: 'test' });
  } finally {
    runtime.stripe = null;
  }
}

async function subscriptionOf(id: string) {
  const ofStripe = eq(subscriptions.stripe_subscription_id, id);
  return (await server.runtime.db.select().from(subscriptions).where(ofStripe))[0];
}
async function serviceOf(id: number) {
  return (await server.runtime.db.select().from(customerServices).where(eq(customerServices.id, id)))[0];
}
async function eventOf({ id }: { id: string }) {
  return (await server.runtime.db.select().from(stripeEvents).where(eq(stripeEvents.id, id)))[0];
}
async function invoiceOf(id: string) {
  return (await server.runtime.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id)))[0];
}
const dateOf = (seconds: number) => fromEpoch(seconds).toISOString().slice(0, 10);

/** A customer with a service, and what makes subscriptions for it. */
async function openCase() {
  const { db } = server.runtime;
  const customer = await createCustomer(db);
  const service = await createService(db, { customer_id: customer.id, next_billing_date: '2020-01-01' });
  const metadata = { customer_number: customer.customer_number };
  const stripeCustomer = act.createCustomer(world, { metadata }).object.id;
  const subscribe = (number = service.service_number, status: 'active' | 'incomplete' = 'active') =>
    act.createSubscription(world, {
      customer: stripeCustomer,
      status,
      metadata,
      items: [{ unitAmount: 990, metadata: { service_number: number } }],
    });
  return { service, stripeCustomer, metadata, subscribe };
}

describe('a completed checkout', () => {
  type Payment = NonNullable<NonNullable<Parameters<typeof act.completeCheckout>[2]>['payment']>;
  async function checkOut(payment: Payment) {
    const { stripeCustomer } = await openCase();
    const session = act.createCheckoutSession(world, {
      customer: stripeCustomer,
      items: [{ unitAmount: 990 }],
    });
    const { object, events } = act.completeCheckout(world, session.id, { payment });
    const id = object.subscription ?? '';
    return {
      id,
      created: typed(events, 'subscription.created'),
      completed: typed(events, 'session.completed'),
    };
  }

  test.each<[Payment, string, ('created' | 'completed')[]]>([
    ['no_payment_required', 'active', ['created', 'completed']],
    ['no_payment_required', 'active', ['completed', 'created']],
    ['paid', 'active', ['created', 'completed']],
    ['paid', 'active', ['completed', 'created']],
    ['unpaid', 'incomplete', ['created', 'completed']],
    ['unpaid', 'incomplete', ['completed', 'created']],
  ])('with %s makes an incomplete subscription %s, told as %j', async (payment, status, order) => {
    const scene = await checkOut(payment);
    for (const name of order) expect((await send(scene[name])).body.outcome).toBe('processed');
    const recheck_at = status === 'active' ? expect.any(Date) : null;
    const asOf = fromEpoch(scene.created.created);
    expect(await subscriptionOf(scene.id)).toMatchObject({ status, recheck_at, provider_as_of: asOf });
  });

  test('yields to what is told of a later second, whichever comes first', async () => {
    for (const isLast of [true, false]) {
      const { id, created, completed } = await checkOut('no_payment_required');
      later(5);
      const { events } = act.updateSubscription(world, id, { metadata: { a: 'b' } });
      const updated = typed(events, 'subscription.updated'); // still incomplete
      for (const event of isLast ? [created, completed, updated] : [updated, created, completed]) {
        await send(event);
      }
      expect((await subscriptionOf(id))?.status).toBe('incomplete');
    }
  });

  test('revives nothing that has ended, whichever comes first', async () => {
    for (const isLast of [true, false]) {
      const { id, created, completed } = await checkOut('no_payment_required');
      const deleted = typed(act.cancelSubscription(world, id).events, 'subscription.deleted');
      for (const event of isLast ? [created, completed, deleted] : [deleted, completed, created]) {
        await send(event);
      }
      expect((await subscriptionOf(id))?.status).toBe('cancelled');
    }
  });

  test('holds until Stripe is asked', async () => {
    const { id, created, completed } = await checkOut('no_payment_required');
    await send(completed);
    await send(created);
    expect((await subscriptionOf(id))?.status).toBe('active');
    later(3600);
    await run();
    expect(await subscriptionOf(id)).toMatchObject({ status: 'incomplete', recheck_at: null });
  });
});

describe('an end', () => {
  test('that is set alone, as flexible billing does, is kept and told of the service; so is its return', async () => {
    const { service, subscribe } = await openCase();
    const made = subscribe();
    await tell(made);
    const { id, items } = made.object;
    const periodEnd = items[0]?.currentPeriodEnd ?? 0;
    const cancelAt = epochNow(world) + 10 * DAY;
    later(60);
    await tell(act.updateSubscription(world, id, { cancelAt }));
    expect(await subscriptionOf(id)).toMatchObject({
      status: 'active',
      cancel_at: fromEpoch(cancelAt),
      cancel_at_period_end: false,
      next_billing_date: dateOf(periodEnd),
    });
    const ending = { next_billing_date: dateOf(periodEnd), ends_on: dateOf(cancelAt) };
    expect(await serviceOf(service.id)).toMatchObject(ending);
    later(60);
    await tell(act.updateSubscription(world, id, { cancelAt: null }));
    expect(await subscriptionOf(id)).toMatchObject({ cancel_at: null });
    expect(await serviceOf(service.id)).toMatchObject({ ...ending, ends_on: null });
    later(60);
    await tell(act.updateSubscription(world, id, { cancelAtPeriodEnd: true }));
    expect(await serviceOf(service.id)).toMatchObject({ ...ending, ends_on: dateOf(periodEnd) });
  });

  test('of a service is that of the last subscription, once all of them end; the night repairs it', async () => {
    const { service, subscribe } = await openCase();
    const [one, other] = [subscribe(), subscribe()];
    for (const made of [one, other]) await tell(made);
    const [early, late] = [epochNow(world) + 10 * DAY, epochNow(world) + 20 * DAY];
    later(60);
    await tell(act.updateSubscription(world, one.object.id, { cancelAt: late }));
    expect((await serviceOf(service.id))?.ends_on).toBeNull();
    act.updateSubscription(world, other.object.id, { cancelAt: early }); // untold
    later(60);
    await run();
    expect((await serviceOf(service.id))?.ends_on).toBe(dateOf(late));
    await server.runtime.db
      .update(customerServices)
      .set({ ends_on: null })
      .where(eq(customerServices.id, service.id));
    later(60);
    await run();
    expect((await serviceOf(service.id))?.ends_on).toBe(dateOf(late));
    await tell(act.cancelSubscription(world, one.object.id));
    expect((await serviceOf(service.id))?.ends_on).toBe(dateOf(early));
    later(60);
    expect(await run()).toMatchObject({ changes: 0 });
  });
});

test('paused collection is kept with its end, and forgotten', async () => {
  const { subscribe } = await openCase();
  const made = subscribe();
  await tell(made);
  const resumesAt = epochNow(world) + 30 * DAY;
  const pauses = [
    [
      { behavior: 'void', resumesAt },
      { pause_behavior: 'void', pause_resumes_at: fromEpoch(resumesAt) },
    ],
    [
      { behavior: 'keep_as_draft', resumesAt: null },
      { pause_behavior: 'keep_as_draft', pause_resumes_at: null },
    ],
    [null, { pause_behavior: null, pause_resumes_at: null }],
  ] as const;
  for (const [pauseCollection, row] of pauses) {
    later(60);
    await tell(act.updateSubscription(world, made.object.id, { pauseCollection }));
    expect(await subscriptionOf(made.object.id)).toMatchObject({ status: 'active', ...row });
  }
});

describe('the date of a service that nothing bills any more', () => {
  test('is cleared where sync wrote it last', async () => {
    const { service, subscribe } = await openCase();
    const [one, other] = [subscribe(), subscribe()];
    for (const made of [one, other]) await tell(made);
    later(60);
    await tell(act.cancelSubscription(world, one.object.id));
    const date = dateOf(other.object.items[0]?.currentPeriodEnd ?? 0);
    expect(await serviceOf(service.id)).toMatchObject({ next_billing_date: date });
    await tell(act.cancelSubscription(world, other.object.id));
    expect(await serviceOf(service.id)).toMatchObject({ next_billing_date: null, ends_on: null });
  });

  test('stays where somebody else did, before or after', async () => {
    const { service, subscribe } = await openCase();
    const made = subscribe();
    await tell(made);
    const next_billing_date = '2031-05-05';
    const { db } = server.runtime;
    await db.update(customerServices).set({ next_billing_date }).where(eq(customerServices.id, service.id));
    const untouched = await openCase();
    const ended = untouched.subscribe();
    act.cancelSubscription(world, ended.object.id);
    later(60);
    await tell(act.cancelSubscription(world, made.object.id));
    await run();
    expect(await serviceOf(service.id)).toMatchObject({ next_billing_date });
    expect(await serviceOf(untouched.service.id)).toMatchObject({ next_billing_date: '2020-01-01' });
  });
});

describe('an invoice', () => {
  const finalized = async (input: Partial<Parameters<typeof act.createInvoice>[1]> = {}) => {
    const { stripeCustomer } = await openCase();
    const made = act.createInvoice(world, {
      customer: stripeCustomer,
      lines: [{ amount: 9000 }],
      tax: 1710,
      ...input,
    });
    return {
      id: made.object.id,
      event: typed(act.finalizeInvoice(world, made.object.id).events, 'finalized'),
    };
  };

  test('that was voided owes nothing, told by a late event or found at night', async () => {
    const [told, found] = [await finalized(), await finalized()];
    await send(found.event);
    expect(await invoiceOf(found.id)).toMatchObject({ status: 'sent', amount_due: '107.100' });
    await send(told.event, (object) => ({ ...object, status: 'void' }));
    expect(await invoiceOf(told.id)).toMatchObject({ status: 'cancelled', amount_due: '0.000' });
    act.voidInvoice(world, found.id);
    later(60);
    await run();
    expect(await invoiceOf(found.id)).toMatchObject({ status: 'cancelled', amount_due: '0.000' });
  });

  test('has its total without tax as its subtotal, also where Stripe takes off a discount', async () => {
    const { id, event } = await finalized();
    const discounted = {
      subtotal: 10_000,
      total: 9520,
      total_excluding_tax: 8000,
      total_taxes: [{ amount: 1520 }],
    };
    await send(event, (object) => ({ ...object, ...discounted }));
    expect(await invoiceOf(id)).toMatchObject({ subtotal: '80.000', tax: '15.200', total: '95.200' });
  });

  test.each([
    ['a currency of four letters', { currency: 'euro' }, 'The currency "euro" is no code of three letters.'],
    [
      'an amount above twelve digits',
      { amount_remaining: 123_456_789_012_345 },
      'The amount 1234567890123.45 EUR has more than twelve digits.',
    ],
    [
      'an amount that no number holds',
      { amount_remaining: 1e300 },
      'The amount 1e+300 is no whole number of at most twelve digits.',
    ],
  ])('with %s is kept as failed, says why, and is tried again by staff alone', async (_, change, reason) => {
    const { id, event } = await finalized();
    const answer = await send(event, (object) => ({ ...object, ...change }));
    expect(answer).toMatchObject({ status: 500, body: { error: 'Internal error' } });
    const failed = { outcome: 'failed', failure_reason: reason };
    expect(await eventOf(event)).toMatchObject({ ...failed, attempts: 1 });
    expect(await invoiceOf(id)).toBeUndefined();
    await reconcile({ ...syncDeps(server.runtime), stripe: null }, { trigger: 'cli', startedBy: 'test' });
    expect(await eventOf(event)).toMatchObject({ ...failed, attempts: 1 });
    const grace = { type: 'staff' as const, id: 'grace', name: 'Grace' };
    expect(await replayForStaff(syncDeps(server.runtime), grace, event.id)).toBe('failed');
    expect(await eventOf(event)).toMatchObject({ ...failed, attempts: 2 });
  });

  test('that no column holds is one failure of the night, by its name, and another of its second is taken', async () => {
    const [bad, good] = [await finalized({ currency: 'euro' }), await finalized()];
    expect((await send(bad.event)).status).toBe(500);
    later(3600);
    expect(await run()).toMatchObject({ status: 'completed_with_errors', failures: 1 });
    expect(await invoiceOf(bad.id)).toBeUndefined();
    expect(await invoiceOf(good.id)).toMatchObject({ status: 'sent' });
  });
});

test('names in metadata count without the spaces around them', async () => {
  const { db } = server.runtime;
  const { service, metadata } = await openCase();
  const other = await createService(db, { customer_id: service.customer_id });
  const stripeCustomer = act.createCustomer(world).object.id;
  const made = act.createSubscription(world, {
    customer: stripeCustomer,
    metadata: { customer_number: ` ${metadata.customer_number}\t` },
    items: [
      { unitAmount: 990, metadata: { service_number: `\u00a0${service.service_number} ` } },
      { unitAmount: 990, metadata: { customer_service_id: ` ${other.id}\n` } },
    ],
  });
  await tell(made);
  expect((await subscriptionOf(made.object.id))?.customer_id).toBe(service.customer_id);
  const date = dateOf(made.object.items[0]?.currentPeriodEnd ?? 0);
  for (const { id } of [service, other])
    expect(await serviceOf(id)).toMatchObject({ next_billing_date: date });
});
