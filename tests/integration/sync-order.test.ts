import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customers, invoices, payments, stripeCustomers, stripeEvents, subscriptions } from '@/db/schema';
import { createStripeClient } from '@/lib/stripe/client';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { handleEvent, replayEvent } from '@/lib/sync/inbox/handle-event';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';

const VERSIONS = ['2020-08-27', '2023-10-16', '2026-10-28.endive'];
const base = useDatabase();
let runtime: TestRuntime;
let world: World;
let stripeLocal: StripeLocal;

beforeAll(async () => {
  runtime = testRuntime(base.db);
  world = createWorld({ now: runtime.now, chance: seededChance(3) });
  stripeLocal = await startStripeLocal({ world, secretKey: 'sk_test_order' });
  runtime.stripe = createStripeClient('sk_test_order', stripeLocal.url, 10_000);
});
afterAll(() => stripeLocal?.close());

type Happened = World['history'][number];
const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));

/** Hands an event of the world to sync, as a delivery would. */
async function take(happened: Happened, options: { version?: string; withKey?: boolean } = {}) {
  const body = JSON.stringify(renderEvent(happened, options.version ?? '2026-10-28.endive'));
  const event = toProviderEvent(JSON.parse(body));
  if (!event) throw new Error('the world renders events');
  const deps = syncDeps(runtime);
  return handleEvent(options.withKey === false ? { ...deps, stripe: null } : deps, event, body);
}

/** Every order of a few things. */
function orders<T>(of: T[]): T[][] {
  return of.length < 2
    ? [of]
    : of.flatMap((one, i) => orders(of.toSpliced(i, 1)).map((rest) => [one, ...rest]));
}

const ofTypes = (events: Happened[], ...types: string[]) => events.filter(({ type }) => types.includes(type));
const invoiceOf = async (id: string) =>
  (await base.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id)))[0];
const subscriptionOf = async (id: string) =>
  (await base.db.select().from(subscriptions).where(eq(subscriptions.stripe_subscription_id, id)))[0];

describe.each([true, false])('with an API key: %s', (withKey) => {
  test('an invoice ends paid with one payment, in every order, in one second or apart, in every version', async () => {
    for (const apart of [0, 5]) {
      for (const order of orders([0, 1, 2])) {
        later(10);
        const customer = act.createCustomer(world).object.id;
        const { object } = act.createInvoice(world, { customer, lines: [{ amount: 1000 }] });
        const finalized = act.finalizeInvoice(world, object.id).events;
        later(apart);
        const paid = act.payInvoice(world, object.id).events;
        const events = [
          ...ofTypes(finalized, 'invoice.finalized'),
          ...ofTypes(paid, 'invoice.paid', 'invoice.payment_succeeded'),
        ];
        for (const [i, at] of order.entries()) {
          const event = events[at];
          if (event) await take(event, { withKey, version: VERSIONS[i % 3] ?? '' });
        }
        expect(await invoiceOf(object.id), `${apart} ${order}`).toMatchObject({
          status: 'paid',
          amount_paid: '10.000',
          amount_due: '0.000',
        });
        const made = await base.db.select().from(payments).where(eq(payments.payment_reference, object.id));
        expect(made).toMatchObject([{ amount: '10.000', source: 'stripe' }]);
      }
    }
  });

  test('a subscription ends as it was last, in every order', async () => {
    for (const apart of [0, 5]) {
      for (const order of orders([0, 1, 2])) {
        later(10);
        const customer = act.createCustomer(world).object.id;
        const created = act.createSubscription(world, { customer, items: [{ unitAmount: 500 }] });
        const id = created.object.id;
        later(apart);
        const first = act.updateSubscription(world, id, { cancelAtPeriodEnd: true });
        later(apart);
        const second = act.updateSubscription(world, id, { status: 'past_due' });
        const events = [
          ...ofTypes(created.events, 'customer.subscription.created'),
          ...ofTypes(first.events, 'customer.subscription.updated'),
          ...ofTypes(second.events, 'customer.subscription.updated'),
        ];
        for (const at of order) {
          const event = events[at];
          if (event) await take(event, { withKey });
        }
        expect(await subscriptionOf(id), `${apart} ${order}`).toMatchObject({
          status: 'past_due',
          cancel_at_period_end: true,
        });
      }
    }
  });

  test('a deleted subscription stays cancelled, in every order', async () => {
    for (const order of orders([0, 1])) {
      later(10);
      const customer = act.createCustomer(world).object.id;
      const created = act.createSubscription(world, { customer, items: [{ unitAmount: 500 }] });
      const deleted = act.cancelSubscription(world, created.object.id);
      const events = [
        ...ofTypes(created.events, 'customer.subscription.created'),
        ...ofTypes(deleted.events, 'customer.subscription.deleted'),
      ];
      for (const at of order) {
        const event = events[at];
        if (event) await take(event, { withKey });
      }
      expect(await subscriptionOf(created.object.id)).toMatchObject({
        status: 'cancelled',
        ended_at: expect.any(Date),
      });
    }
  });
});

describe('with an API key', () => {
  test('an unknown customer is fetched, so that its own number files it at once', async () => {
    later(10);
    const ours = await createCustomer(base.db, { customer_number: 'C-90001' });
    const customer = act.createCustomer(world, { metadata: { customer_number: 'C-90001' } }).object.id;
    const { object } = act.createInvoice(world, { customer, lines: [{ amount: 1000 }] });
    const [finalized] = ofTypes(act.finalizeInvoice(world, object.id).events, 'invoice.finalized');
    if (finalized) await take(finalized);
    expect((await invoiceOf(object.id))?.customer_id).toBe(ours.id);
    const [link] = await base.db
      .select()
      .from(stripeCustomers)
      .where(eq(stripeCustomers.stripe_customer_id, customer));
    expect(link?.linked_by).toBe('number');
  });

  test('a Stripe that fails leaves the payload to decide, and the customer to the daily job', async () => {
    later(10);
    stripeLocal.faults.add({ fault: { kind: 'status', status: 500 }, times: 3 });
    const customer = act.createCustomer(world, { email: 'down@example.com' }).object.id;
    const { object } = act.createInvoice(world, { customer, lines: [{ amount: 1000 }] });
    const [finalized] = ofTypes(act.finalizeInvoice(world, object.id).events, 'invoice.finalized');
    if (finalized) expect(await take(finalized)).toBe('processed');
    expect(await invoiceOf(object.id)).toMatchObject({ status: 'sent', recheck_at: null });
    const ofCustomer = eq(stripeCustomers.stripe_customer_id, customer);
    const [link] = await base.db.select().from(stripeCustomers).where(ofCustomer);
    expect(link).toMatchObject({ linked_by: 'created', recheck_at: runtime.now() });
    stripeLocal.faults.clear();
  });

  test('one customer by e-mail is that one, where that links; of two nobody knows', async () => {
    runtime.env.linkByEmail = true;
    const one = await createCustomer(base.db, { email: 'One@example.com' });
    await createCustomer(base.db, { email: 'two@example.com' });
    await createCustomer(base.db, { email: 'two@example.com' });
    const filed = async (email: string) => {
      later(10);
      const customer = act.createCustomer(world, { email }).object.id;
      const created = act.createSubscription(world, { customer, items: [{ unitAmount: 500 }] });
      const [event] = ofTypes(created.events, 'customer.subscription.created');
      if (event) await take(event);
      return subscriptionOf(created.object.id);
    };
    expect((await filed('one@EXAMPLE.com'))?.customer_id).toBe(one.id);
    const made = await filed('two@example.com');
    const [created] = await base.db
      .select()
      .from(customers)
      .where(eq(customers.id, made?.customer_id ?? 0));
    expect(created?.customer_number).toMatch(/^K\d+$/);
    runtime.env.linkByEmail = false;
  });

  test('an address whose lower case the database does not write as we do holds nobody up', async () => {
    runtime.env.linkByEmail = true;
    const customer = act.createCustomer(world, { email: 'İnfo@example.com' }).object.id;
    for (const _ of [1, 2]) {
      later(10);
      const { object } = act.createInvoice(world, { customer, lines: [{ amount: 1000 }] });
      const [finalized] = ofTypes(act.finalizeInvoice(world, object.id).events, 'invoice.finalized');
      if (finalized) expect(await take(finalized)).toBe('processed');
    }
    runtime.env.linkByEmail = false;
  });

  test('a replay applies an event once more and changes nothing', async () => {
    const [processed] = await base.db
      .select()
      .from(stripeEvents)
      .where(eq(stripeEvents.type, 'invoice.payment_succeeded'))
      .limit(1);
    const before = await base.db.select().from(payments);
    await replayEvent(syncDeps(runtime), processed?.id ?? '');
    expect(await base.db.select().from(payments)).toEqual(before);
    await expect(replayEvent(syncDeps(runtime), 'evt_unknown')).rejects.toMatchObject({ code: 'not_found' });
  });
});
