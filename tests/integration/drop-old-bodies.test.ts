import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { stripeEvents, subscriptions } from '@/db/schema';
import * as act from '@/lib/stripe-local/actions';
import { replayForStaff } from '@/lib/sync/inbox/replay-for-staff';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer, createSold } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { createStoredEvent } from '../support/stored-events';
import { linkOf, openTestStripe, type TestStripe } from '../support/stripe-world';

const base = useDatabase();
const GRACE = { type: 'staff', id: 'u1', name: 'grace@example.com' } as const;
const DAY = 86_400_000;
let runtime: TestRuntime;
let stripe: TestStripe;

beforeAll(() => {
  runtime = testRuntime(base.db, { env: { EVENT_RETENTION_DAYS: '40' } });
  stripe = openTestStripe(runtime);
});
beforeEach(() => base.db.delete(stripeEvents));

const night = () => reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: 'test' });
const later = (days: number) => runtime.setNow(new Date(runtime.now().getTime() + days * DAY));
const eventOf = async (id: string) =>
  (await base.db.select().from(stripeEvents).where(eq(stripeEvents.id, id)))[0];

test('bodies go after so many days, but not of what is tried again', async () => {
  const at = (days: number) => new Date(runtime.now().getTime() - days * DAY);
  for (const outcome of ['processed', 'stale', 'ignored', 'failed', 'unmatched'] as const) {
    await createStoredEvent(base.db, {
      id: `evt_${outcome}`,
      outcome,
      stripe_created: at(41),
      failure_reason: outcome === 'failed' ? 'The currency is none.' : null,
    });
  }
  await createStoredEvent(base.db, { id: 'evt_recent', stripe_created: at(39) });
  expect(await night()).toMatchObject({ status: 'completed' });
  const found = await base.db.select().from(stripeEvents);
  const kept = found.filter(({ payload }) => payload !== '').map(({ id }) => id);
  expect(kept.sort()).toEqual(['evt_failed', 'evt_recent', 'evt_unmatched']);
});

test('one run takes many, batch by batch', async () => {
  const old = new Date(runtime.now().getTime() - 100 * DAY);
  const made = Array.from({ length: 1203 }, (_, i) => ({
    id: `evt_many_${i}`,
    type: 'charge.succeeded',
    livemode: false,
    stripe_created: old,
    payload: '{}',
    outcome: 'ignored' as const,
  }));
  await base.db.insert(stripeEvents).values(made);
  await night();
  expect(await base.db.$count(stripeEvents, eq(stripeEvents.payload, ''))).toBe(1203);
});

test('an event without its body is not replayed', async () => {
  await createStoredEvent(base.db, { id: 'evt_bare', payload: '' });
  expect(await replayForStaff(syncDeps(runtime), GRACE, 'evt_bare')).toBe('dropped');
  expect(await eventOf('evt_bare')).toMatchObject({ outcome: 'processed', attempts: 1 });
});

test('a checkout is applied again by what is kept of it, when its customer turns out to be ours', async () => {
  const ours = await createCustomer(base.db);
  const { sold } = await createSold(base.db, { customer_id: ours.id });
  const session = act.createCheckoutSession(stripe.world, {
    customerEmail: 'payer@example.com',
    items: [{ unitAmount: 990 }],
    clientReferenceId: String(sold.id),
  });
  const { events } = act.completeCheckout(stripe.world, session.id);
  const completed = events.find(({ type }) => type === 'checkout.session.completed');
  const created = events.find(({ type }) => type === 'customer.subscription.created');
  if (!completed || !created) throw new Error('a checkout tells both');
  // Lost: nobody names the subscription of ours that was sold, until the checkout is applied again.
  await stripe.take(completed);
  await base.db.update(subscriptions).set({ checkout_reference: null });
  later(41);
  await night();
  expect(await eventOf(completed.id)).toMatchObject({
    payload: '',
    checkout: { reference: sold.id, paid: true, stripe_subscription_id: expect.stringMatching(/^sub_/) },
  });
  await stripe.take(created);

  const customer = String((await eventOf(completed.id))?.stripe_customer_id);
  const from = (await linkOf(runtime, customer))?.customer_id ?? 0;
  await linkStripeCustomer(syncDeps(runtime), GRACE, customer, { from, to: ours.id });
  const [adopted] = await base.db.select().from(subscriptions).where(eq(subscriptions.id, sold.id));
  expect(adopted?.stripe_subscription_id).toMatch(/^sub_/);
});
