import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '@/db/database';
import {
  customers,
  invoices,
  payments,
  reconciliationFailures,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { updatePayment } from '@/lib/payments/update-payment';
import { createStripeClient } from '@/lib/stripe/client';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { handleEvent, replayEvent } from '@/lib/sync/inbox/handle-event';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer, createService, createSold } from '../support/factories';
import { orders } from '../support/orders';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { watchedDatabase } from '../support/watched-database';

// What the simulation found, each in the smallest history that shows it.
const base = useDatabase();
let runtime: TestRuntime;
let world: World;
let stripeLocal: StripeLocal;

beforeAll(async () => {
  runtime = testRuntime(base.db);
  world = createWorld({ now: runtime.now, chance: seededChance(5) });
  stripeLocal = await startStripeLocal({ world, secretKey: 'sk_test_found' });
  runtime.stripe = createStripeClient('sk_test_found', stripeLocal.url, 10_000);
});
afterAll(() => stripeLocal?.close());
beforeEach(() => {
  later(10);
  runtime.env.linkByEmail = false;
});

const DAY = 86_400;
const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));

async function take(event: WorldEvent | undefined, options: { withKey?: boolean; db?: Database } = {}) {
  if (!event) throw new Error('nothing happened');
  const body = JSON.stringify(renderEvent(event, '2026-10-28.endive'));
  const parsed = toProviderEvent(JSON.parse(body));
  if (!parsed) throw new Error('the world renders events');
  const deps = { ...syncDeps(runtime), db: options.db ?? base.db };
  return handleEvent(options.withKey ? deps : { ...deps, stripe: null }, parsed, body);
}

/** The database of one delivery or run whose commits go through a function. */
function withCommits(through: (commit: () => Promise<unknown>) => Promise<unknown>): Database {
  return watchedDatabase(base.db, {
    statement: (text, run) => (text.includes('commit_plan') ? through(run) : run()),
  });
}

const run = () => reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: 'test' });
const typed = (events: WorldEvent[], type: string) => events.find((event) => event.type === type);
const linkOf = async (customer: string) =>
  (await base.db.select().from(stripeCustomers).where(eq(stripeCustomers.stripe_customer_id, customer)))[0];

async function serviceOf(item: { id: string } | undefined) {
  const ofItem = eq(subscriptionItems.stripe_subscription_item_id, item?.id ?? '');
  return (await base.db.select().from(subscriptionItems).where(ofItem))[0]?.customer_service_id;
}

/** A finalized invoice of a new customer, and its event. */
function finalized(input: Partial<Parameters<typeof act.createInvoice>[1]> = {}) {
  const customer = input.customer ?? act.createCustomer(world).object.id;
  const { object } = act.createInvoice(world, { lines: [{ amount: 9000 }], ...input, customer });
  const { events } = act.finalizeInvoice(world, object.id);
  return { id: object.id, customer, event: typed(events, 'invoice.finalized') };
}

/** A subscription's creation. */
function subscribed(customer: string, input: Partial<Parameters<typeof act.createSubscription>[1]> = {}) {
  const { object, events } = act.createSubscription(world, {
    customer,
    items: [{ unitAmount: 500 }],
    ...input,
  });
  return { id: object.id, items: object.items, event: typed(events, 'customer.subscription.created') };
}

describe('what is paid without Stripe', () => {
  const paymentOf = (id: string) => base.db.select().from(payments).where(eq(payments.payment_reference, id));

  test('is no payment of Stripe’s, although its invoice was known with nothing paid', async () => {
    const { id, event } = finalized();
    await take(event);
    later(5);
    await take(typed(act.payInvoice(world, id, { offStripe: true }).events, 'invoice.paid'));
    later(60);
    await run();
    expect(await paymentOf(id)).toEqual([]);
    const [invoice] = await base.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id));
    expect(invoice).toMatchObject({ status: 'paid', amount_off_stripe: '90.000' });
  });

  test('is taken off a payment once Stripe tells it, and not put on again', async () => {
    const { id, event } = finalized();
    await take(event);
    later(5);
    const paid = act.payInvoice(world, id, { offStripe: 3000 }).events;
    await take(typed(paid, 'invoice.paid'));
    await take(typed(paid, 'invoice.payment_succeeded'));
    expect(await paymentOf(id)).toMatchObject([{ amount: '90.000' }]); // the event does not tell
    later(60);
    await run();
    expect(await paymentOf(id)).toMatchObject([{ amount: '60.000', provider_amount: '60.000' }]);
    const copy = typed(paid, 'invoice.payment_succeeded');
    await take(copy && { ...copy, id: `${copy.id}_copy` });
    expect(await paymentOf(id)).toMatchObject([{ amount: '60.000' }]);
  });

  test('is taken off a payment that somebody wrote as Stripe reported it, and of no other', async () => {
    const writer = {
      actor: { type: 'cli', id: 'test', name: 'test' } as const,
      source: 'api' as const,
      now: runtime.now(),
      timeZone: 'UTC',
    };
    const ids = [];
    for (const amounts of [[90], [80, 90], [80]]) {
      const { id, event } = finalized();
      await take(event);
      later(5);
      const paid = act.payInvoice(world, id, { offStripe: 3000 }).events;
      await take(typed(paid, 'invoice.payment_succeeded'));
      const [payment] = await paymentOf(id);
      for (const amount of amounts) await updatePayment(base.db, payment?.id ?? 0, { amount }, writer);
      ids.push(id);
    }
    later(60);
    await run();
    const stored = (await Promise.all(ids.map(paymentOf))).flat().map(({ amount }) => amount);
    expect(stored).toEqual(['60.000', '60.000', '80.000']);
  });
});

describe('customers', () => {
  test('two Stripe customers of one new address are one customer, even where the address is reported late', async () => {
    runtime.env.linkByEmail = true;
    const email = 'late@example.com';
    const [a, b] = [0, 1].map(() => act.createCustomer(world, { email }).object.id);
    await take(subscribed(a ?? '').event); // tells no address
    await take(finalized({ customer: a ?? '' }).event);
    await take(finalized({ customer: b ?? '' }).event);
    expect((await linkOf(a ?? ''))?.customer_id).toBe((await linkOf(b ?? ''))?.customer_id);
  });

  test('a created customer is left to who came by its address, and removed with the last', async () => {
    runtime.env.linkByEmail = true;
    const [one, other] = [await createCustomer(base.db), await createCustomer(base.db)];
    const email = 'heir@example.com';
    const [a, b] = [0, 1].map(() => act.createCustomer(world, { email }).object.id);
    await take(finalized({ customer: a ?? '' }).event);
    await take(finalized({ customer: b ?? '' }).event);
    const created = (await linkOf(a ?? ''))?.customer_id ?? 0;
    await take(finalized({ customer: a ?? '', metadata: { customer_number: one.customer_number } }).event);
    expect(await linkOf(b ?? '')).toMatchObject({ customer_id: created, linked_by: 'created' });
    await take(finalized({ customer: b ?? '', metadata: { customer_number: other.customer_number } }).event);
    expect(await base.db.select().from(customers).where(eq(customers.id, created))).toEqual([]);
  });

  test('a number of nobody’s does not hide the next', async () => {
    const ours = await createCustomer(base.db);
    const customer = act.createCustomer(world, { metadata: { customer_number: 'NOBODY' } }).object.id;
    const event = finalized({ customer, metadata: { customer_number: ours.customer_number } }).event;
    await take(event, { withKey: true });
    expect(await linkOf(customer)).toMatchObject({ customer_id: ours.id, linked_by: 'number' });
  });

  test.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 2, 0]], [[2, 0, 1]]])(
    'of several numbers the subscription’s wins, then the earlier event’s, in the order %s',
    async (order) => {
      const ours: Awaited<ReturnType<typeof createCustomer>>[] = [];
      for (let i = 0; i < 3; i += 1) ours.push(await createCustomer(base.db));
      const number = (at: number) => ({ metadata: { customer_number: ours[at]?.customer_number ?? '' } });
      const customer = act.createCustomer(world).object.id;
      const events = [finalized({ customer, ...number(0) }).event];
      later(5);
      events.push(subscribed(customer, number(1)).event);
      later(5);
      events.push(subscribed(customer, number(2)).event);
      for (const at of order) await take(events[at]);
      expect(await linkOf(customer)).toMatchObject({ customer_id: ours[1]?.id, linked_by: 'number' });
      const rows = await base.db
        .select()
        .from(subscriptions)
        .where(eq(subscriptions.stripe_customer_id, customer));
      expect(new Set(rows.map((row) => row.customer_id))).toEqual(new Set([ours[1]?.id]));
      const stored = await base.db
        .select()
        .from(stripeEvents)
        .where(eq(stripeEvents.stripe_customer_id, customer));
      expect(stored.flatMap(({ warnings }) => warnings).join()).toContain(
        'customer number of another customer',
      );
    },
  );

  test('of several numbers that only lists tell the one of the older subscription wins, in each run', async () => {
    const elsewhere = await createService(base.db);
    const ours = [await createCustomer(base.db), await createCustomer(base.db)];
    const customer = act.createCustomer(world).object.id;
    // An item that names a service of somebody else's is looked at in each run.
    const items = [{ unitAmount: 500, metadata: { service_number: elsewhere.service_number } }];
    for (const { customer_number } of ours) {
      subscribed(customer, { items, metadata: { customer_number } });
      later(5);
    }
    await run();
    expect((await linkOf(customer))?.customer_id).toBe(ours[0]?.id);
    later(60);
    expect(await run()).toMatchObject({ changes: 0, failures: 0 });
    expect((await linkOf(customer))?.customer_id).toBe(ours[0]?.id);
  });

  test('a number that a list reported of a subscription is not lost to one that an invoice’s event tells', async () => {
    const [one, other] = [await createCustomer(base.db), await createCustomer(base.db)];
    const customer = act.createCustomer(world).object.id;
    subscribed(customer, { metadata: { customer_number: one.customer_number } });
    await run();
    await take(finalized({ customer, metadata: { customer_number: other.customer_number } }).event);
    expect((await linkOf(customer))?.customer_id).toBe(one.id);
  });

  test('a number that an event reported is not lost to one that a list tells of an older invoice', async () => {
    const [reported, other] = [await createCustomer(base.db), await createCustomer(base.db)];
    const customer = act.createCustomer(world).object.id;
    finalized({ customer, metadata: { customer_number: other.customer_number } });
    later(5);
    await take(finalized({ customer, metadata: { customer_number: reported.customer_number } }).event);
    await run();
    expect((await linkOf(customer))?.customer_id).toBe(reported.id);
  });

  test('of several numbers the earlier event’s wins, although Stripe could not be asked for its own', async () => {
    const [first, second] = [await createCustomer(base.db), await createCustomer(base.db)];
    const customer = act.createCustomer(world).object.id;
    const { id, event } = subscribed(customer, { metadata: { customer_number: first.customer_number } });
    later(5);
    const { events } = act.updateSubscription(world, id, {
      metadata: { customer_number: second.customer_number },
    });
    await take(typed(events, 'customer.subscription.updated'));
    stripeLocal.faults.add({ fault: { kind: 'status', status: 500, shouldRetry: false }, times: 1 });
    expect(await take(event, { withKey: true })).toBe('stale');
    expect((await linkOf(customer))?.customer_id).toBe(first.id);
    const own = await createCustomer(base.db);
    act.updateCustomer(world, customer, { metadata: { customer_number: own.customer_number } });
    later(60);
    await run(); // asks again
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
  });

  test('who could not be asked for is asked for at night, although an ended subscription stays ended', async () => {
    const [first, second] = [await createCustomer(base.db), await createCustomer(base.db)];
    const customer = act.createCustomer(world).object.id;
    const { id, event } = subscribed(customer, { metadata: { customer_number: first.customer_number } });
    await take(event);
    later(5);
    const metadata = { customer_number: second.customer_number };
    const updated = typed(
      act.updateSubscription(world, id, { metadata }).events,
      'customer.subscription.updated',
    );
    await take(typed(act.cancelSubscription(world, id).events, 'customer.subscription.deleted'));
    later(5);
    stripeLocal.faults.add({ fault: { kind: 'status', status: 500, shouldRetry: false }, times: 1 });
    const revival = updated && { ...updated, created: updated.created + 5 };
    expect(await take(revival, { withKey: true })).toBe('stale');
    const own = await createCustomer(base.db);
    act.updateCustomer(world, customer, { metadata: { customer_number: own.customer_number } });
    later(60);
    await run(); // asks again
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
  });

  test('a number that was the customer’s own once gives way to one that is reported now', async () => {
    const [own, other] = [await createCustomer(base.db), await createCustomer(base.db)];
    const customer = act.createCustomer(world, { metadata: { customer_number: own.customer_number } }).object
      .id;
    await take(finalized({ customer }).event, { withKey: true });
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
    const metadata = { customer_number: other.customer_number };
    await take(subscribed(customer, { metadata }).event, { withKey: true });
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
    act.updateCustomer(world, customer, { metadata: {} });
    await take(subscribed(customer, { metadata }).event, { withKey: true });
    expect((await linkOf(customer))?.customer_id).toBe(other.id);
  });

  const numberOf = ({ customer_number }: { customer_number: string }) => ({ metadata: { customer_number } });
  const someone = () => createCustomer(base.db);
  /** Stripe does not tell who it is, so often. */
  const refuse = (customer: string, times: number) =>
    stripeLocal.faults.add({
      when: ({ path }) => path === `/v1/customers/${customer}`,
      fault: { kind: 'status', status: 500, shouldRetry: false },
      times,
    });

  describe.each([
    ['', false],
    [', reported while Stripe failed', true],
  ])('of several numbers reported after the customer’s own is gone the first wins%s', (_, isFailing) => {
    test.each([[[1]], [[1, 2]], [[2, 1]], [[0, 1]], [[1, 0]]])('in the order %s', async (order) => {
      const reported = [await someone(), await someone(), await someone()] as const;
      const [own] = reported;
      const customer = act.createCustomer(world, numberOf(own)).object.id;
      await take(finalized({ customer }).event, { withKey: true });
      act.updateCustomer(world, customer, { metadata: {} });
      const events = reported.map((one) => {
        later(5);
        return subscribed(customer, numberOf(one)).event;
      });
      if (isFailing) refuse(customer, order.filter((at) => at > 0).length);
      for (const at of order) await take(events[at], { withKey: true });
      if (isFailing) expect((await linkOf(customer))?.customer_id).toBe(own.id);
      later(60);
      await run();
      const first = reported[Math.min(...order)];
      expect(await linkOf(customer)).toMatchObject({ customer_id: first?.id, recheck_at: null });
      later(60);
      expect(await run()).toMatchObject({ status: 'completed', changes: 0 });
    });
  });

  test('a number reported while the customer had the same of its own is not forgotten', async () => {
    const [first, second] = [await someone(), await someone()];
    const customer = act.createCustomer(world, numberOf(first)).object.id;
    await take(subscribed(customer, numberOf(first)).event, { withKey: true });
    act.updateCustomer(world, customer, { metadata: {} });
    later(5);
    await take(subscribed(customer, numberOf(second)).event, { withKey: true });
    expect(await linkOf(customer)).toMatchObject({ customer_id: first.id, number_source: 'subscription' });
  });

  test('a number reported before the customer had one of its own is not forgotten', async () => {
    const [own, first, second] = [await someone(), await someone(), await someone()];
    const customer = act.createCustomer(world).object.id;
    await take(subscribed(customer, numberOf(first)).event, { withKey: true });
    act.updateCustomer(world, customer, numberOf(own));
    later(5);
    await take(subscribed(customer, numberOf(second)).event, { withKey: true });
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
    act.updateCustomer(world, customer, { metadata: {} });
    later(5);
    await take(subscribed(customer, numberOf(second)).event, { withKey: true });
    expect((await linkOf(customer))?.customer_id).toBe(first.id);
  });

  test('a number of its own that nobody had and that is gone is no number of its own any more', async () => {
    const [linked, other] = [await someone(), await someone()];
    const number = `${linked.customer_number}-own`;
    const customer = act.createCustomer(world, { metadata: { customer_number: number } }).object.id;
    await take(subscribed(customer, numberOf(linked)).event, { withKey: true });
    later(5);
    const { id } = finalized({ customer, ...numberOf(other) });
    await run();
    const ofInvoice = eq(invoices.stripe_invoice_id, id);
    await base.db.update(invoices).set({ recheck_at: runtime.now() }).where(ofInvoice);
    later(60);
    refuse(customer, 3); // in the list, when the run asks for it, and when it asks for the invoice
    await run();
    await createCustomer(base.db, { customer_number: number });
    act.updateCustomer(world, customer, { metadata: {} });
    later(60);
    await run();
    expect((await linkOf(customer))?.customer_id).toBe(linked.id);
  });

  test('what Stripe reported of a customer before another answer came does not cover that', async () => {
    const [before, after, other] = [await someone(), await someone(), await someone()];
    const customer = act.createCustomer(world, numberOf(before)).object.id;
    refuse(customer, 1);
    await take(finalized({ customer }).event, { withKey: true });
    later(60);
    const { customers: api } = runtime.stripe ?? {};
    if (!api) throw new Error('the test has a client');
    const retrieve = vi.spyOn(api, 'retrieve').mockImplementationOnce(async (...asked) => {
      const answer = await api.retrieve(...asked);
      act.updateCustomer(world, customer, numberOf(after));
      await take(subscribed(customer, numberOf(other)).event, { withKey: true });
      return answer;
    });
    await run();
    expect(retrieve).toHaveBeenCalledTimes(4); // late, then by itself, by the event, and anew
    retrieve.mockRestore();
    expect(await linkOf(customer)).toMatchObject({ customer_id: after.id, recheck_at: null });
  });

  test('who is known again is not noted as failed any more, although the run was refused when it had it', async () => {
    const own = await someone();
    const customer = act.createCustomer(world, numberOf(own)).object.id;
    refuse(customer, 1);
    await take(finalized({ customer }).event, { withKey: true });
    let isRefused = false;
    const db = withCommits(async (commit) => {
      const done = await commit();
      if (isRefused || (await linkOf(customer))?.recheck_at) return done;
      isRefused = true;
      throw Object.assign(new Error('refused'), { code: 'XX000' });
    });
    later(60);
    await reconcile({ ...syncDeps(runtime), db }, { trigger: 'cli', startedBy: null });
    expect(isRefused).toBe(true);
    later(60);
    await run();
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
    const ofCustomer = eq(reconciliationFailures.stripe_id, customer);
    const failures = await base.db.select().from(reconciliationFailures).where(ofCustomer);
    expect(failures).toMatchObject([{ error_code: 'XX000', resolved_at: expect.any(Date) }]);
  });

  test('who is asked for is asked for once, although an earlier checkout names yet another', async () => {
    const [sold, other] = [await someone(), await someone()];
    const customer = act.createCustomer(world).object.id;
    const metadata = { customer_number: `${sold.customer_number}-new` };
    const { id } = act.createCheckoutSession(world, { customer, items: [{ unitAmount: 500 }], metadata });
    await take(typed(act.completeCheckout(world, id).events, 'checkout.session.completed'));
    await base.db.update(customers).set(metadata).where(eq(customers.id, sold.id));
    const before = stripeLocal.requests.length;
    later(5);
    await take(subscribed(customer, numberOf(other)).event, { withKey: true });
    expect(await linkOf(customer)).toMatchObject({ customer_id: other.id, recheck_at: null });
    expect(stripeLocal.requests.slice(before).map(({ path }) => path)).toEqual([`/v1/customers/${customer}`]);
  });

  test('who moves by a fetched object is asked for once, although an earlier checkout names another', async () => {
    const [own, sold] = [await someone(), await someone()];
    const customer = act.createCustomer(world).object.id;
    const items = [{ unitAmount: 500 }];
    const { id } = act.createCheckoutSession(world, { customer, items, ...numberOf(sold) });
    const { object, events } = act.completeCheckout(world, id);
    await take(typed(events, 'checkout.session.completed'), { withKey: true });
    await take(typed(events, 'customer.subscription.created'), { withKey: true });
    later(60);
    await run();
    act.updateCustomer(world, customer, numberOf(own));
    const ofSubscription = eq(subscriptions.stripe_subscription_id, object.subscription ?? '');
    await base.db.update(subscriptions).set({ recheck_at: runtime.now() }).where(ofSubscription);
    later(60);
    const before = stripeLocal.requests.length;
    await run();
    expect(await linkOf(customer)).toMatchObject({ customer_id: own.id, recheck_at: null });
    const asked = stripeLocal.requests
      .slice(before)
      .filter(({ path }) => path === `/v1/customers/${customer}`);
    expect(asked).toHaveLength(1);
  });

  test('who moves by an address is asked for once, although an earlier checkout names a number', async () => {
    runtime.env.linkByEmail = true;
    const sold = await someone();
    const customer = act.createCustomer(world).object.id;
    const metadata = { customer_number: `${sold.customer_number}-new` };
    const { id } = act.createCheckoutSession(world, { customer, items: [{ unitAmount: 500 }], metadata });
    await take(typed(act.completeCheckout(world, id).events, 'checkout.session.completed'));
    await base.db.update(customers).set(metadata).where(eq(customers.id, sold.id));
    const email = 'moved.by.address@example.com';
    await createCustomer(base.db, { email });
    act.updateCustomer(world, customer, { email });
    later(5);
    const before = stripeLocal.requests.length;
    await take(finalized({ customer }).event, { withKey: true });
    expect(stripeLocal.requests.slice(before).map(({ path }) => path)).toEqual([`/v1/customers/${customer}`]);
    expect(await linkOf(customer)).toMatchObject({ customer_id: sold.id, recheck_at: null });
  });

  test('a decision that is made again takes no answer that is older than the link', async () => {
    const [before, after, other] = [await someone(), await someone(), await someone()];
    const customer = act.createCustomer(world, numberOf(before)).object.id;
    await take(finalized({ customer }).event); // created, and Stripe was not asked
    later(5);
    const named = () => finalized({ customer, ...numberOf(other) }).event;
    const [late, meanwhile] = [named(), named()];
    let begun = 0;
    const db = withCommits(async (commit) => {
      begun += 1;
      if (begun > 1) return commit();
      // It has Stripe's answer, but is late with what it decided.
      act.updateCustomer(world, customer, numberOf(after));
      await take(meanwhile, { withKey: true });
      return commit();
    });
    expect(await take(late, { withKey: true, db })).toBe('processed');
    expect((await linkOf(customer))?.customer_id).toBe(after.id);
  });

  test('an event that names no number is not asked about, although one could not be settled', async () => {
    const [own, other] = [await someone(), await someone()];
    const customer = act.createCustomer(world, numberOf(own)).object.id;
    await take(finalized({ customer }).event, { withKey: true });
    refuse(customer, 1);
    await take(subscribed(customer, numberOf(other)).event, { withKey: true });
    const before = stripeLocal.requests.length;
    for (const { event } of [finalized({ customer }), subscribed(customer)]) {
      await take(event, { withKey: true });
      const [stored] = await base.db
        .select()
        .from(stripeEvents)
        .where(eq(stripeEvents.id, event?.id ?? ''));
      expect(stored?.warnings).toEqual([]);
    }
    expect(stripeLocal.requests).toHaveLength(before);
  });

  test('the customer’s own number follows what an object brings that is fetched', async () => {
    const [one, other] = [await createCustomer(base.db), await createCustomer(base.db)];
    const metadata = ({ customer_number }: typeof one) => ({ metadata: { customer_number } });
    const customer = act.createCustomer(world, metadata(one)).object.id;
    const { id, event } = subscribed(customer);
    await take(event, { withKey: true });
    expect((await linkOf(customer))?.customer_id).toBe(one.id);
    act.updateCustomer(world, customer, metadata(other));
    const ofSubscription = eq(subscriptions.stripe_subscription_id, id);
    await base.db.update(subscriptions).set({ recheck_at: runtime.now() }).where(ofSubscription);
    later(60);
    await run();
    expect(await linkOf(customer)).toMatchObject({ customer_id: other.id, number_source: 'customer' });
    const [row] = await base.db.select().from(subscriptions).where(ofSubscription);
    expect(row).toMatchObject({ customer_id: other.id, recheck_at: null });
  });

  test('the customer’s own number is asked for again where another one is reported first', async () => {
    const [own, other] = [await createCustomer(base.db), await createCustomer(base.db)];
    const customer = act.createCustomer(world).object.id;
    await take(finalized({ customer }).event, { withKey: true });
    expect((await linkOf(customer))?.linked_by).toBe('created');
    act.updateCustomer(world, customer, { metadata: { customer_number: own.customer_number } });
    const metadata = { customer_number: other.customer_number };
    await take(subscribed(customer, { metadata }).event, { withKey: true });
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
  });

  test('of several numbers the customer’s own wins', async () => {
    const [own, other] = [await createCustomer(base.db), await createCustomer(base.db)];
    const customer = act.createCustomer(world).object.id;
    await take(subscribed(customer, { metadata: { customer_number: other.customer_number } }).event);
    act.updateCustomer(world, customer, { metadata: { customer_number: own.customer_number } });
    const again = subscribed(customer, { metadata: { customer_number: own.customer_number } }).event;
    await take(again, { withKey: true });
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
  });

  test('who could not be asked for is asked for at night, although later events came', async () => {
    const own = await createCustomer(base.db);
    const customer = act.createCustomer(world, { metadata: { customer_number: own.customer_number } }).object
      .id;
    const { id, event } = subscribed(customer);
    stripeLocal.faults.add({ fault: { kind: 'status', status: 500, shouldRetry: false }, times: 1 });
    await take(event, { withKey: true });
    expect((await linkOf(customer))?.linked_by).toBe('created');
    later(5);
    const { events } = act.updateSubscription(world, id, { cancelAtPeriodEnd: true });
    await take(typed(events, 'customer.subscription.updated'), { withKey: true });
    later(60);
    await run();
    expect(await linkOf(customer)).toMatchObject({ customer_id: own.id, linked_by: 'number' });
  });

  test('who could not be asked for is asked for at night, although the invoice that named it is gone', async () => {
    const own = await createCustomer(base.db);
    const metadata = { customer_number: own.customer_number };
    const customer = act.createCustomer(world, { metadata }).object.id;
    const draft = act.createInvoice(world, { customer, lines: [{ amount: 9000 }] }).object;
    stripeLocal.faults.add({
      when: ({ path }) => path === `/v1/customers/${customer}`,
      fault: { kind: 'status', status: 500, shouldRetry: false },
      times: 2, // while the drafts are listed, and when the run asks again
    });
    expect(await run()).toMatchObject({ status: 'completed_with_errors', failures: 1 });
    expect((await linkOf(customer))?.linked_by).toBe('created');
    act.deleteDraftInvoice(world, draft.id);
    later(60);
    expect(await run()).toMatchObject({ status: 'completed', failures: 0 });
    expect(await linkOf(customer)).toMatchObject({
      customer_id: own.id,
      linked_by: 'number',
      recheck_at: null,
    });
    const ofCustomer = eq(reconciliationFailures.stripe_id, customer);
    const [failure] = await base.db.select().from(reconciliationFailures).where(ofCustomer);
    expect(failure?.resolved_at).toEqual(runtime.now());
  });

  test('who could not be asked for at a checkout that is not paid yet is asked for at night', async () => {
    const own = await createCustomer(base.db);
    const metadata = { customer_number: own.customer_number };
    const customer = act.createCustomer(world, { metadata }).object.id;
    const { id } = act.createCheckoutSession(world, { customer, items: [{ unitAmount: 500 }] });
    const { events } = act.completeCheckout(world, id, { payment: 'unpaid' });
    stripeLocal.faults.add({ fault: { kind: 'status', status: 500, shouldRetry: false }, times: 1 });
    await take(typed(events, 'checkout.session.completed'), { withKey: true });
    await take(typed(events, 'customer.subscription.created'), { withKey: true });
    later(60);
    await run();
    expect(await linkOf(customer)).toMatchObject({ customer_id: own.id, linked_by: 'number' });
  });

  test('who could not be asked for has a lost checkout’s subscription linked in the run that asks', async () => {
    const own = await createCustomer(base.db);
    const { sold } = await createSold(base.db, { customer_id: own.id, price: '5' });
    const metadata = { customer_number: own.customer_number };
    const customer = act.createCustomer(world, { metadata }).object.id;
    const reference = { clientReferenceId: String(sold.id) };
    const { id } = act.createCheckoutSession(world, {
      customer,
      items: [{ unitAmount: 500 }],
      ...reference,
    });
    const { object, events } = act.completeCheckout(world, id);
    stripeLocal.faults.add({ fault: { kind: 'status', status: 500, shouldRetry: false }, times: 1 });
    await take(typed(events, 'customer.subscription.created'), { withKey: true });
    expect((await linkOf(customer))?.linked_by).toBe('created');
    later(60);
    await run();
    const [row] = await base.db.select().from(subscriptions).where(eq(subscriptions.id, sold.id));
    expect(row?.stripe_subscription_id).toBe(object.subscription);
  });

  test.each([
    ['a credited invoice', (id: string) => act.createCreditNote(world, { invoice: id, amount: 9000 }).events],
    ['an invoice paid long after its date', (id: string) => act.payInvoice(world, id).events],
  ])(
    '%s that shows who its customer is has a lost checkout’s subscription linked in that run',
    async (_, settle) => {
      const own = await createCustomer(base.db);
      const { sold } = await createSold(base.db, { customer_id: own.id, price: '5' });
      const customer = act.createCustomer(world).object.id;
      const items = [{ unitAmount: 500 }];
      const { id } = act.createCheckoutSession(world, {
        customer,
        items,
        clientReferenceId: String(sold.id),
      });
      const { object, events } = act.completeCheckout(world, id);
      await take(typed(events, 'customer.subscription.created'), { withKey: true });
      const invoice = finalized({ customer });
      await take(invoice.event);
      await run();
      later(10 * DAY);
      await run();
      later(10 * DAY);
      act.updateCustomer(world, customer, { metadata: { customer_number: own.customer_number } });
      await take(typed(settle(invoice.id), 'invoice.paid'));
      later(60);
      await run();
      expect(await linkOf(customer)).toMatchObject({ customer_id: own.id, linked_by: 'number' });
      const [row] = await base.db.select().from(subscriptions).where(eq(subscriptions.id, sold.id));
      expect(row?.stripe_subscription_id).toBe(object.subscription);
    },
  );

  test('a checkout that is looked at again and moves its customer has earlier ones looked at once more', async () => {
    const [own, other] = [await createCustomer(base.db), await createCustomer(base.db)];
    const { sold } = await createSold(base.db, { customer_id: own.id, price: '5' });
    const customer = act.createCustomer(world).object.id;
    const buys = (input: { clientReferenceId?: string; metadata?: Record<string, string> }) => {
      const { id } = act.createCheckoutSession(world, { customer, items: [{ unitAmount: 500 }], ...input });
      return act.completeCheckout(world, id);
    };
    const { object, events } = buys({ clientReferenceId: String(sold.id) });
    await take(typed(events, 'customer.subscription.created'));
    await take(typed(events, 'checkout.session.completed'));
    later(5);
    const metadata = { customer_number: `${own.customer_number}-new` };
    await take(typed(buys({ metadata }).events, 'checkout.session.completed'));
    await base.db.update(customers).set(metadata).where(eq(customers.id, own.id));
    later(5);
    await take(finalized({ customer, metadata: { customer_number: other.customer_number } }).event);
    expect((await linkOf(customer))?.customer_id).toBe(own.id);
    const [row] = await base.db.select().from(subscriptions).where(eq(subscriptions.id, sold.id));
    expect(row?.stripe_subscription_id).toBe(object.subscription);
  });

  test('an item that was read before its customer was known is linked when it is', async () => {
    const service = await createService(base.db);
    const [own] = await base.db.select().from(customers).where(eq(customers.id, service.customer_id));
    const customer = act.createCustomer(world).object.id;
    const metadata = { service_number: service.service_number };
    const { items, event } = subscribed(customer, { items: [{ unitAmount: 500, metadata }] });
    await take(event);
    await take(finalized({ customer, metadata: { customer_number: own?.customer_number ?? '' } }).event);
    expect(await serviceOf(items[0])).toBe(service.id);
  });

  test('an item that only a list reported is linked when its customer is known', async () => {
    const service = await createService(base.db);
    const [own] = await base.db.select().from(customers).where(eq(customers.id, service.customer_id));
    const customer = act.createCustomer(world).object.id;
    const metadata = { service_number: service.service_number };
    const { items } = subscribed(customer, { items: [{ unitAmount: 500, metadata }] });
    later(60);
    await run();
    await take(finalized({ customer, metadata: { customer_number: own?.customer_number ?? '' } }).event);
    expect(await serviceOf(items[0])).toBe(service.id);
  });
});

type Patch = Parameters<typeof act.updateSubscription>[2];

test.each([
  {
    what: 'and has an item more',
    patches: (items: ReturnType<typeof subscribed>['items']): Patch[] => [
      { cancelAtPeriodEnd: true },
      { status: 'past_due' },
      { status: 'active' },
      { items: [...items, { unitAmount: 700 }] },
    ],
    row: { status: 'active', cancel_at_period_end: true },
    items: 2,
  },
  {
    // The missing one may show what was taken while it was missing.
    what: 'and back again, and is renewed',
    patches: (): Patch[] => [
      { currentPeriodEnd: Date.parse('2030-01-10T12:00:00Z') / 1000 },
      { status: 'past_due' },
      { status: 'active' },
      { status: 'past_due' },
      { currentPeriodEnd: Date.parse('2030-02-10T12:00:00Z') / 1000 },
    ],
    row: { status: 'past_due', next_billing_date: '2030-02-10' },
    items: 1,
  },
])(
  'a subscription ends as it was last, in every order, that came back within a second $what',
  async ({ patches, row: expected, items: count }) => {
    const numbers = Array.from(patches([]), (_, i) => i);
    for (const order of orders(numbers)) {
      later(10);
      const { id, items, event } = subscribed(act.createCustomer(world).object.id);
      await take(event);
      later(5);
      const events = patches(items).flatMap((patch) => act.updateSubscription(world, id, patch).events);
      for (const at of order) await take(events[at]);
      const [row] = await base.db
        .select()
        .from(subscriptions)
        .where(eq(subscriptions.stripe_subscription_id, id));
      expect(row, String(order)).toMatchObject(expected);
      const stored = await base.db
        .select()
        .from(subscriptionItems)
        .where(eq(subscriptionItems.subscription_id, row?.id ?? 0));
      expect(stored, String(order)).toHaveLength(count);
    }
  },
);

test('what an event of another type shows of a second is not taken, in every order', async () => {
  for (const order of orders([0, 1, 2])) {
    later(10);
    const { id, event } = finalized();
    const failed = typed(act.failInvoicePayment(world, id).events, 'invoice.payment_failed');
    const other = typed(act.markUncollectible(world, id).events, 'invoice.marked_uncollectible');
    for (const at of order) await take([event, failed, other][at]);
    const [invoice] = await base.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id));
    expect(invoice, String(order)).toMatchObject({ status: 'overdue', uncollectible: false });
  }
});

test.each([[[0, 1]], [[1, 0]]])(
  'a second is told by all its events, though they were ignored for their mode and replayed, in the order %s',
  async (order) => {
    const { id, event } = subscribed(act.createCustomer(world).object.id);
    await take(event);
    later(5);
    const patches = [{ cancelAtPeriodEnd: true }, { cancelAtPeriodEnd: false, metadata: { a: 'b' } }];
    const deps = { ...syncDeps(runtime), stripe: null };
    const ids: string[] = [];
    for (const patch of patches) {
      const [reported] = act.updateSubscription(world, id, patch).events;
      const body = JSON.stringify(renderEvent(reported as WorldEvent, '2026-10-28.endive'));
      const parsed = toProviderEvent(JSON.parse(body));
      if (!parsed) throw new Error('the world renders events');
      ids.push(parsed.id);
      expect(await handleEvent({ ...deps, mode: 'live' }, parsed, body)).toBe('ignored');
    }
    expect(await replayEvent({ ...deps, mode: 'live' }, ids[0] ?? '')).toBe('ignored');
    for (const at of order) expect(await replayEvent(deps, ids[at] ?? '')).toBe('processed');
    const ofSubscription = eq(subscriptions.stripe_subscription_id, id);
    const [row] = await base.db.select().from(subscriptions).where(ofSubscription);
    expect(row?.cancel_at_period_end).toBe(false);
  },
);

test('a run that could not take an event is told when a delivery has', async () => {
  const { event } = finalized();
  await take(event);
  const { runId } = await run();
  await base.db
    .insert(reconciliationFailures)
    .values({ run_id: runId, object: 'event', stripe_id: event?.id ?? '', error_code: '53100' });
  later(60);
  await run();
  const ofEvent = eq(reconciliationFailures.stripe_id, event?.id ?? '');
  const [failure] = await base.db.select().from(reconciliationFailures).where(ofEvent);
  expect(failure?.resolved_at).toEqual(runtime.now());
});

/** Which subscription has an item here. */
async function holderOf(itemId = ''): Promise<string | null | undefined> {
  const [held] = await base.db
    .select({ subscription: subscriptions.stripe_subscription_id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptionItems.stripe_subscription_item_id, itemId));
  return held?.subscription;
}

test('an item that moved within a second stays where Stripe has it, whichever is told last', async () => {
  const customer = act.createCustomer(world).object.id;
  const to = subscribed(customer);
  const from = subscribed(customer, { items: [{ unitAmount: 500 }, { unitAmount: 700 }] });
  const [moved, ...rest] = from.items;
  const leaves = act.updateSubscription(world, from.id, { items: rest }).events;
  const arrives = act.updateSubscription(world, to.id, { items: [...to.items, { ...moved }] }).events;
  for (const event of [to.event, arrives[0], from.event, leaves[0]]) await take(event, { withKey: true });
  expect(await holderOf(moved?.id)).toBe(to.id);
});

test('what a later event does not show of more than ten items is no proof that an item is still there', async () => {
  const customer = act.createCustomer(world).object.id;
  const from = subscribed(customer, { items: Array.from({ length: 12 }, () => ({ unitAmount: 500 })) });
  const to = subscribed(customer);
  for (const { event } of [to, from]) await take(event, { withKey: true });
  later(5);
  const moved = from.items.at(-1);
  const rest = from.items.filter((one) => one !== moved);
  act.updateSubscription(world, from.id, { items: rest });
  const arrives = act.updateSubscription(world, to.id, { items: [...to.items, { ...moved }] }).events;
  later(5);
  const renamed = act.updateSubscription(world, from.id, { metadata: { plan: 'other' } }).events;
  for (const [event] of [renamed, arrives]) await take(event, { withKey: false });
  expect(await holderOf(moved?.id)).toBe(to.id);
});

test('so does one that is none of the first ten there, which is all that a subscription shows', async () => {
  const customer = act.createCustomer(world).object.id;
  const to = subscribed(customer, { items: Array.from({ length: 11 }, () => ({ unitAmount: 500 })) });
  const from = subscribed(customer, {
    items: [{ unitAmount: 500 }, { unitAmount: 700 }, { unitAmount: 900 }],
  });
  for (const { event } of [to, from]) await take(event, { withKey: true });
  later(5);
  const [first, second, third] = from.items;
  const leaves = act.updateSubscription(world, from.id, { items: [{ ...second }, { ...third }] }).events;
  const gets = act.updateSubscription(world, to.id, { items: [...to.items, { ...first }] }).events;
  const leavesToo = act.updateSubscription(world, from.id, { items: [{ ...third }] }).events;
  const all = [...to.items, { ...first }, { ...second }];
  const getsToo = act.updateSubscription(world, to.id, { items: all }).events;
  for (const [event] of [gets, getsToo, leaves, leavesToo]) await take(event, { withKey: true });
  expect([await holderOf(first?.id), await holderOf(second?.id)]).toEqual([to.id, to.id]);
});
