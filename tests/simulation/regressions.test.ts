import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '@/db/database';
import {
  customers,
  invoices,
  payments,
  reconciliationFailures,
  stripeEvents,
  subscriptions,
} from '@/db/schema';
import { updatePayment } from '@/lib/payments/update-payment';
import * as act from '@/lib/stripe-local/actions';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { createCustomer, createService, createSold } from '../support/factories';
import { DAY, typed, useSync } from '../support/sync';
import { watchedDatabase } from '../support/watched-database';

// Bugs that the simulation found about customers and money, each in the smallest history that shows it.
const sync = useSync({ withKey: true });

beforeEach(() => {
  sync.later(10);
  sync.runtime.env.linkByEmail = false;
});

/** Hands an event over without asking Stripe. */
const take = (event: WorldEvent) => sync.take(event, { withKey: false });

/** The database of one delivery or run whose commits go through a function. */
function withCommits(through: (commit: () => Promise<unknown>) => Promise<unknown>): Database {
  return watchedDatabase(sync.db, {
    statement: (text, run) => (text.includes('commit_plan') ? through(run) : run()),
  });
}

type Numbered = { customer_number: string };
const numberOf = ({ customer_number }: Numbered) => ({ metadata: { customer_number } });
const someone = () => createCustomer(sync.db);
const two = async () => [await someone(), await someone()] as const;
const three = async () => [...(await two()), await someone()] as const;
const newCustomer = (input: Parameters<typeof act.createCustomer>[1] = {}) =>
  act.createCustomer(sync.world, input).object.id;
const ownerOf = async (customer: string) => (await sync.linkOf(customer))?.customer_id;
/** Changes the customer's own number at Stripe, or removes it. */
const rename = (customer: string, to?: Numbered) =>
  act.updateCustomer(sync.world, customer, to ? numberOf(to) : { metadata: {} });
/** Stripe fails to return a customer so many times. */
const refuse = (customer: string, times = 1) =>
  sync.api.faults.add({
    when: ({ path }) => path === `/v1/customers/${customer}`,
    fault: { kind: 'status', status: 500, shouldRetry: false },
    times,
  });
/** @returns the paths that were requested since */
function watchRequests() {
  const before = sync.api.requestCount();
  return () => sync.api.requests.filter(({ index }) => index >= before).map(({ path }) => path);
}

/** A finalized invoice, of a new customer unless one is given, and its event. */
function finalized(input: Partial<Parameters<typeof act.createInvoice>[1]> = {}) {
  const customer = input.customer ?? newCustomer();
  const { id } = act.createInvoice(sync.world, { lines: [{ amount: 9000 }], ...input, customer }).object;
  return { id, event: typed(act.finalizeInvoice(sync.world, id).events, 'invoice.finalized') };
}

/** A new subscription, and its event. */
function subscribed(customer: string, input: Partial<Parameters<typeof act.createSubscription>[1]> = {}) {
  const items = [{ unitAmount: 500 }];
  const { object, events } = act.createSubscription(sync.world, { customer, items, ...input });
  return { id: object.id, items: object.items, event: typed(events, 'customer.subscription.created') };
}

type Checkout = Partial<Parameters<typeof act.createCheckoutSession>[1]>;
/** A completed checkout of one item, and its events. */
function bought(customer: string, input: Checkout = {}, payment: 'paid' | 'unpaid' = 'paid') {
  const items = [{ unitAmount: 500 }];
  const { id } = act.createCheckoutSession(sync.world, { customer, items, ...input });
  const { object, events } = act.completeCheckout(sync.world, id, { payment });
  return {
    subscription: object.subscription,
    completed: typed(events, 'checkout.session.completed'),
    created: typed(events, 'customer.subscription.created'),
  };
}
/** A sold subscription at the price of a checkout, and what becomes of it. */
async function sold(customer_id: number) {
  const { id } = (await createSold(sync.db, { customer_id, price: '5' })).sold;
  const row = async () => (await sync.db.select().from(subscriptions).where(eq(subscriptions.id, id)))[0];
  return { clientReferenceId: String(id), linked: async () => (await row())?.stripe_subscription_id };
}

describe('an amount paid outside of Stripe', () => {
  const paymentsOf = (id: string) =>
    sync.db.select().from(payments).where(eq(payments.payment_reference, id));

  test('an amount paid outside of Stripe is not recorded as a payment of Stripe', async () => {
    const { id, event } = finalized();
    await take(event);
    sync.later(5);
    await take(typed(act.payInvoice(sync.world, id, { offStripe: true }).events, 'invoice.paid'));
    await sync.run();
    expect(await paymentsOf(id)).toEqual([]);
    expect(await sync.invoiceOf(id)).toMatchObject({ status: 'paid', amount_off_stripe: '90.000' });
  });

  test('an amount paid outside of Stripe is taken off its payment once, and not put on again', async () => {
    const { id, event } = finalized();
    await take(event);
    sync.later(5);
    const { events } = act.payInvoice(sync.world, id, { offStripe: 3000 });
    const succeeded = typed(events, 'invoice.payment_succeeded');
    await take(typed(events, 'invoice.paid'));
    await take(succeeded);
    expect(await paymentsOf(id)).toMatchObject([{ amount: '90.000' }]); // the event does not tell
    await sync.run();
    expect(await paymentsOf(id)).toMatchObject([{ amount: '60.000', provider_amount: '60.000' }]);
    await take({ ...succeeded, id: `${succeeded.id}_copy` });
    expect(await paymentsOf(id)).toMatchObject([{ amount: '60.000' }]);
  });

  test.each([
    [[90], '60.000'],
    [[80, 90], '60.000'],
    [[80], '80.000'],
  ])(
    'a payment of 90 changed to %j here becomes %s after 30 of it were paid outside',
    async (amounts, end) => {
      const { id, event } = finalized();
      await take(event);
      sync.later(5);
      const { events } = act.payInvoice(sync.world, id, { offStripe: 3000 });
      await take(typed(events, 'invoice.payment_succeeded'));
      const [payment] = await paymentsOf(id);
      for (const amount of amounts) await updatePayment(sync.db, payment?.id ?? 0, { amount }, sync.writer());
      await sync.run();
      expect(await paymentsOf(id)).toMatchObject([{ amount: end }]);
    },
  );
});

describe('customers by e-mail address', () => {
  test('two Stripe customers with one new address share a customer, even if an event tells it late', async () => {
    sync.runtime.env.linkByEmail = true;
    const [a, b] = [newCustomer({ email: 'late@example.com' }), newCustomer({ email: 'late@example.com' })];
    await take(subscribed(a).event); // without an address
    await take(finalized({ customer: a }).event);
    await take(finalized({ customer: b }).event);
    expect(await ownerOf(a)).toBe(await ownerOf(b));
  });

  test('a created customer stays with the other Stripe customer of its address, and is removed with the last', async () => {
    sync.runtime.env.linkByEmail = true;
    const [one, other] = await two();
    const [a, b] = [newCustomer({ email: 'heir@example.com' }), newCustomer({ email: 'heir@example.com' })];
    await take(finalized({ customer: a }).event);
    await take(finalized({ customer: b }).event);
    const created = (await ownerOf(a)) ?? 0;
    await take(finalized({ customer: a, ...numberOf(one) }).event);
    expect(await sync.linkOf(b)).toMatchObject({ customer_id: created, linked_by: 'created' });
    await take(finalized({ customer: b, ...numberOf(other) }).event);
    expect(await sync.db.select().from(customers).where(eq(customers.id, created))).toEqual([]);
  });
});

describe('of several customer numbers', () => {
  test('an unknown own number does not hide the number of an invoice', async () => {
    const ours = await someone();
    const customer = newCustomer({ metadata: { customer_number: 'NOBODY' } });
    await sync.take(finalized({ customer, ...numberOf(ours) }).event);
    expect(await sync.linkOf(customer)).toMatchObject({ customer_id: ours.id, linked_by: 'number' });
  });

  test.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 2, 0]], [[2, 0, 1]]])(
    'the number of the earliest subscription wins in the order %s',
    async (order) => {
      const ours = await three();
      const customer = newCustomer();
      const events = [finalized({ customer, ...numberOf(ours[0]) }).event];
      for (const at of [1, 2] as const) {
        sync.later(5);
        events.push(subscribed(customer, numberOf(ours[at])).event);
      }
      for (const at of order) await take(events[at] as WorldEvent);
      expect(await sync.linkOf(customer)).toMatchObject({ customer_id: ours[1].id, linked_by: 'number' });
      const ofCustomer = eq(subscriptions.stripe_customer_id, customer);
      const rows = await sync.db.select().from(subscriptions).where(ofCustomer);
      expect(new Set(rows.map((row) => row.customer_id))).toEqual(new Set([ours[1].id]));
      const stored = await sync.db
        .select()
        .from(stripeEvents)
        .where(eq(stripeEvents.stripe_customer_id, customer));
      const warnings = stored.flatMap(({ warnings }) => warnings).join();
      expect(warnings).toContain('customer number of another customer');
    },
  );

  test('the number of the older subscription wins in each run that only lists tell', async () => {
    const elsewhere = await createService(sync.db);
    const ours = await two();
    const customer = newCustomer();
    // An item that names a service of another customer is looked at in each run.
    const items = [{ unitAmount: 500, metadata: { service_number: elsewhere.service_number } }];
    for (const one of ours) {
      subscribed(customer, { items, ...numberOf(one) });
      sync.later(5);
    }
    await sync.run();
    expect(await ownerOf(customer)).toBe(ours[0].id);
    expect(await sync.run()).toMatchObject({ changes: 0, failures: 0 });
    expect(await ownerOf(customer)).toBe(ours[0].id);
  });

  test('the number of a listed subscription wins over that of an invoice’s event', async () => {
    const [one, other] = await two();
    const customer = newCustomer();
    subscribed(customer, numberOf(one));
    await sync.run();
    await take(finalized({ customer, ...numberOf(other) }).event);
    expect(await ownerOf(customer)).toBe(one.id);
  });

  test('the number of an event wins over that of an older invoice in a list', async () => {
    const [reported, other] = await two();
    const customer = newCustomer();
    finalized({ customer, ...numberOf(other) });
    sync.later(5);
    await take(finalized({ customer, ...numberOf(reported) }).event);
    await sync.run();
    expect(await ownerOf(customer)).toBe(reported.id);
  });

  test('the customer’s own number wins over a reported one, even if it is set later', async () => {
    const [own, other] = await two();
    const customer = newCustomer();
    await take(subscribed(customer, numberOf(other)).event);
    rename(customer, own);
    await sync.take(subscribed(customer, numberOf(own)).event);
    expect(await ownerOf(customer)).toBe(own.id);
  });

  test('the customer’s own number is asked for again when another one is reported', async () => {
    const [own, other] = await two();
    const customer = newCustomer();
    await sync.take(finalized({ customer }).event);
    expect((await sync.linkOf(customer))?.linked_by).toBe('created');
    rename(customer, own);
    await sync.take(subscribed(customer, numberOf(other)).event);
    expect(await ownerOf(customer)).toBe(own.id);
  });

  test('a removed own number gives way to one that is reported now', async () => {
    const [own, other] = await two();
    const customer = newCustomer(numberOf(own));
    await sync.take(finalized({ customer }).event);
    await sync.take(subscribed(customer, numberOf(other)).event);
    expect(await ownerOf(customer)).toBe(own.id);
    rename(customer);
    await sync.take(subscribed(customer, numberOf(other)).event);
    expect(await ownerOf(customer)).toBe(other.id);
  });

  describe.each([
    ['', false],
    [' while Stripe failed', true],
  ])('numbers reported after the own one was removed%s', (_, isFailing) => {
    test.each([[[1]], [[1, 2]], [[2, 1]], [[0, 1]], [[1, 0]]])(
      'the first of the numbers reported after the own one was removed wins in the order %s',
      async (order) => {
        const reported = await three();
        const [own] = reported;
        const customer = newCustomer(numberOf(own));
        await sync.take(finalized({ customer }).event);
        rename(customer);
        const events = reported.map((one) => {
          sync.later(5);
          return subscribed(customer, numberOf(one)).event;
        });
        if (isFailing) refuse(customer, order.filter((at) => at > 0).length);
        for (const at of order) await sync.take(events[at]);
        if (isFailing) expect(await ownerOf(customer)).toBe(own.id);
        await sync.run();
        const first = reported[Math.min(...order)];
        expect(await sync.linkOf(customer)).toMatchObject({ customer_id: first?.id, recheck_at: null });
        expect(await sync.run()).toMatchObject({ status: 'completed', changes: 0 });
      },
    );
  });

  test('a number reported while the customer had the same own number is remembered', async () => {
    const [first, second] = await two();
    const customer = newCustomer(numberOf(first));
    await sync.take(subscribed(customer, numberOf(first)).event);
    rename(customer);
    sync.later(5);
    await sync.take(subscribed(customer, numberOf(second)).event);
    const link = { customer_id: first.id, number_source: 'subscription' };
    expect(await sync.linkOf(customer)).toMatchObject(link);
  });

  test('a number reported before the customer had an own number is remembered', async () => {
    const [own, first, second] = await three();
    const customer = newCustomer();
    await sync.take(subscribed(customer, numberOf(first)).event);
    for (const [to, owner] of [
      [own, own],
      [undefined, first],
    ] as const) {
      rename(customer, to);
      sync.later(5);
      await sync.take(subscribed(customer, numberOf(second)).event);
      expect(await ownerOf(customer)).toBe(owner.id);
    }
  });

  test('an own number that is unknown and then removed does not link later', async () => {
    const [linked, other] = await two();
    const number = `${linked.customer_number}-own`;
    const customer = newCustomer({ metadata: { customer_number: number } });
    await sync.take(subscribed(customer, numberOf(linked)).event);
    sync.later(5);
    const { id } = finalized({ customer, ...numberOf(other) });
    await sync.run();
    const ofInvoice = eq(invoices.stripe_invoice_id, id);
    await sync.db.update(invoices).set({ recheck_at: sync.now() }).where(ofInvoice);
    refuse(customer, 3); // in the list, when the run asks for it, and when it asks for the invoice
    await sync.run();
    await createCustomer(sync.db, { customer_number: number });
    rename(customer);
    await sync.run();
    expect(await ownerOf(customer)).toBe(linked.id);
  });

  test('the own number follows the customer that a fetched object brings', async () => {
    const [one, other] = await two();
    const customer = newCustomer(numberOf(one));
    const { id, event } = subscribed(customer);
    await sync.take(event);
    expect(await ownerOf(customer)).toBe(one.id);
    rename(customer, other);
    const ofSubscription = eq(subscriptions.stripe_subscription_id, id);
    await sync.db.update(subscriptions).set({ recheck_at: sync.now() }).where(ofSubscription);
    await sync.run();
    const link = { customer_id: other.id, number_source: 'customer' };
    expect(await sync.linkOf(customer)).toMatchObject(link);
    expect(await sync.subscriptionOf(id)).toMatchObject({ customer_id: other.id, recheck_at: null });
  });
});

describe('a customer that Stripe failed to return', () => {
  test('the earlier number wins although Stripe failed, until the customer is asked for at night', async () => {
    const [first, second, own] = await three();
    const customer = newCustomer();
    const { id, event } = subscribed(customer, numberOf(first));
    sync.later(5);
    const { events } = act.updateSubscription(sync.world, id, numberOf(second));
    await take(typed(events, 'customer.subscription.updated'));
    refuse(customer);
    expect(await sync.take(event)).toBe('stale');
    expect(await ownerOf(customer)).toBe(first.id);
    rename(customer, own);
    await sync.run();
    expect(await ownerOf(customer)).toBe(own.id);
  });

  test('a customer of an ended subscription is asked for at night', async () => {
    const [first, second, own] = await three();
    const customer = newCustomer();
    const { id, event } = subscribed(customer, numberOf(first));
    await take(event);
    sync.later(5);
    const { events } = act.updateSubscription(sync.world, id, numberOf(second));
    const updated = typed(events, 'customer.subscription.updated');
    await take(typed(act.cancelSubscription(sync.world, id).events, 'customer.subscription.deleted'));
    sync.later(5);
    refuse(customer);
    expect(await sync.take({ ...updated, created: updated.created + 5 })).toBe('stale');
    rename(customer, own);
    await sync.run();
    expect(await ownerOf(customer)).toBe(own.id);
  });

  test.each<[string, (customer: string) => Promise<unknown>]>([
    [
      'after later events',
      async (customer) => {
        const { id, event } = subscribed(customer);
        await sync.take(event);
        expect((await sync.linkOf(customer))?.linked_by).toBe('created');
        sync.later(5);
        const { events } = act.updateSubscription(sync.world, id, { cancelAtPeriodEnd: true });
        await sync.take(typed(events, 'customer.subscription.updated'));
      },
    ],
    [
      'after a checkout that is not paid yet',
      async (customer) => {
        const { completed, created } = bought(customer, {}, 'unpaid');
        await sync.take(completed);
        await sync.take(created);
      },
    ],
  ])('a customer that Stripe failed to return is asked for at night %s', async (_, happen) => {
    const own = await someone();
    const customer = newCustomer(numberOf(own));
    refuse(customer);
    await happen(customer);
    await sync.run();
    expect(await sync.linkOf(customer)).toMatchObject({ customer_id: own.id, linked_by: 'number' });
  });

  test('a customer is asked for at night although the draft that named it is deleted', async () => {
    const own = await someone();
    const customer = newCustomer(numberOf(own));
    const draft = act.createInvoice(sync.world, { customer, lines: [{ amount: 9000 }] }).object;
    refuse(customer, 2); // while the drafts are listed, and when the run asks again
    expect(await sync.run()).toMatchObject({ status: 'completed_with_errors', failures: 1 });
    expect((await sync.linkOf(customer))?.linked_by).toBe('created');
    act.deleteDraftInvoice(sync.world, draft.id);
    expect(await sync.run()).toMatchObject({ status: 'completed', failures: 0 });
    const link = { customer_id: own.id, linked_by: 'number', recheck_at: null };
    expect(await sync.linkOf(customer)).toMatchObject(link);
    expect(await failuresOf(customer)).toMatchObject([{ resolved_at: sync.now() }]);
  });

  test('a customer that is known again is not a failure, although the run was refused after that', async () => {
    const own = await someone();
    const customer = newCustomer(numberOf(own));
    refuse(customer);
    await sync.take(finalized({ customer }).event);
    let isRefused = false;
    const db = withCommits(async (commit) => {
      const done = await commit();
      if (isRefused || (await sync.linkOf(customer))?.recheck_at) return done;
      isRefused = true;
      throw Object.assign(new Error('refused'), { code: 'XX000' });
    });
    await sync.run({ db });
    expect(isRefused).toBe(true);
    await sync.run();
    expect(await ownerOf(customer)).toBe(own.id);
    const resolved = { error_code: 'XX000', resolved_at: expect.any(Date) };
    expect(await failuresOf(customer)).toMatchObject([resolved]);
  });

  const failuresOf = (id: string) =>
    sync.db.select().from(reconciliationFailures).where(eq(reconciliationFailures.stripe_id, id));

  test('an event without a number does not ask for a customer again', async () => {
    const [own, other] = await two();
    const customer = newCustomer(numberOf(own));
    await sync.take(finalized({ customer }).event);
    refuse(customer);
    await sync.take(subscribed(customer, numberOf(other)).event);
    const requested = watchRequests();
    for (const { event } of [finalized({ customer }), subscribed(customer)]) {
      await sync.take(event);
      expect((await sync.eventOf(event.id))?.warnings).toEqual([]);
    }
    expect(requested()).toEqual([]);
  });
});

describe('answers of Stripe that race', () => {
  test('an answer is not used after another answer about its customer has arrived', async () => {
    await sync.run(); // asks for the customers that earlier tests left
    const [before, after, other] = await three();
    const customer = newCustomer(numberOf(before));
    refuse(customer);
    await sync.take(finalized({ customer }).event);
    const { customers: api } = sync.client;
    const retrieve = vi.spyOn(api, 'retrieve').mockImplementationOnce(async (...asked) => {
      const answer = await api.retrieve(...asked);
      rename(customer, after);
      await sync.take(subscribed(customer, numberOf(other)).event);
      return answer;
    });
    await sync.run();
    expect(retrieve).toHaveBeenCalledTimes(4); // late, then by itself, by the event, and anew
    retrieve.mockRestore();
    expect(await sync.linkOf(customer)).toMatchObject({ customer_id: after.id, recheck_at: null });
  });

  test('a decision that is made again uses no answer older than the link', async () => {
    const [before, after, other] = await three();
    const customer = newCustomer(numberOf(before));
    await take(finalized({ customer }).event);
    sync.later(5);
    const named = () => finalized({ customer, ...numberOf(other) }).event;
    const [late, meanwhile] = [named(), named()];
    let begun = 0;
    const db = withCommits(async (commit) => {
      begun += 1;
      if (begun > 1) return commit();
      // It has Stripe's answer, but is late with its decision.
      rename(customer, after);
      await sync.take(meanwhile);
      return commit();
    });
    expect(await sync.take(late, { db })).toBe('processed');
    expect(await ownerOf(customer)).toBe(after.id);
  });
});

describe('a customer with an earlier checkout', () => {
  /** A checkout that names a number which a customer gets only afterwards. */
  async function earlierCheckout(customer: string) {
    const later = await someone();
    const metadata = { customer_number: `${later.customer_number}-new` };
    await take(bought(customer, { metadata }).completed);
    await sync.db.update(customers).set(metadata).where(eq(customers.id, later.id));
    sync.later(5);
    return later;
  }

  test('a customer is asked for once although an earlier checkout names another number', async () => {
    const other = await someone();
    const customer = newCustomer();
    await earlierCheckout(customer);
    const requested = watchRequests();
    await sync.take(subscribed(customer, numberOf(other)).event);
    expect(await sync.linkOf(customer)).toMatchObject({ customer_id: other.id, recheck_at: null });
    expect(requested()).toEqual([`/v1/customers/${customer}`]);
  });

  test('a customer that moves by its address is asked for once although an earlier checkout names a number', async () => {
    sync.runtime.env.linkByEmail = true;
    const customer = newCustomer();
    const later = await earlierCheckout(customer);
    const email = 'moved.by.address@example.com';
    await createCustomer(sync.db, { email });
    act.updateCustomer(sync.world, customer, { email });
    const requested = watchRequests();
    await sync.take(finalized({ customer }).event);
    expect(requested()).toEqual([`/v1/customers/${customer}`]);
    expect(await sync.linkOf(customer)).toMatchObject({ customer_id: later.id, recheck_at: null });
  });

  test('a customer that moves by a fetched object is asked for once although an earlier checkout names another', async () => {
    const [own, named] = await two();
    const customer = newCustomer();
    const { subscription, completed, created } = bought(customer, numberOf(named));
    await sync.take(completed);
    await sync.take(created);
    await sync.run();
    rename(customer, own);
    const ofSubscription = eq(subscriptions.stripe_subscription_id, subscription ?? '');
    await sync.db.update(subscriptions).set({ recheck_at: sync.now() }).where(ofSubscription);
    const requested = watchRequests();
    await sync.run();
    expect(await sync.linkOf(customer)).toMatchObject({ customer_id: own.id, recheck_at: null });
    expect(requested().filter((path) => path === `/v1/customers/${customer}`)).toHaveLength(1);
  });

  test('a checkout that moves its customer has the earlier checkouts applied again', async () => {
    const [own, other] = await two();
    const { clientReferenceId, linked } = await sold(own.id);
    const customer = newCustomer();
    const { subscription, completed, created } = bought(customer, { clientReferenceId });
    await take(created);
    await take(completed);
    sync.later(5);
    const metadata = { customer_number: `${own.customer_number}-new` };
    await take(bought(customer, { metadata }).completed);
    await sync.db.update(customers).set(metadata).where(eq(customers.id, own.id));
    sync.later(5);
    await take(finalized({ customer, ...numberOf(other) }).event);
    expect(await ownerOf(customer)).toBe(own.id);
    expect(await linked()).toBe(subscription);
  });

  test('a lost checkout’s subscription is linked in the run that learns of its customer', async () => {
    const own = await someone();
    const { clientReferenceId, linked } = await sold(own.id);
    const customer = newCustomer(numberOf(own));
    const { subscription, created } = bought(customer, { clientReferenceId });
    refuse(customer);
    await sync.take(created);
    expect((await sync.linkOf(customer))?.linked_by).toBe('created');
    await sync.run();
    expect(await linked()).toBe(subscription);
  });

  test.each([
    ['a credited invoice', (invoice: string) => act.createCreditNote(sync.world, { invoice, amount: 9000 })],
    ['an invoice paid long after its date', (id: string) => act.payInvoice(sync.world, id)],
  ])(
    'a lost checkout’s subscription is linked in the run in which %s shows its customer',
    async (_, settle) => {
      const own = await someone();
      const { clientReferenceId, linked } = await sold(own.id);
      const customer = newCustomer();
      const { subscription, created } = bought(customer, { clientReferenceId });
      await sync.take(created);
      const { id, event } = finalized({ customer });
      await take(event);
      await sync.run();
      sync.later(10 * DAY);
      await sync.run();
      sync.later(10 * DAY);
      rename(customer, own);
      await take(typed(settle(id).events, 'invoice.paid'));
      await sync.run();
      expect(await sync.linkOf(customer)).toMatchObject({ customer_id: own.id, linked_by: 'number' });
      expect(await linked()).toBe(subscription);
    },
  );
});

test.each([
  ['an event', false],
  ['a list', true],
])('an item that %s told before its customer was known is linked when it is', async (_, isListed) => {
  const service = await createService(sync.db);
  const [own] = await sync.db.select().from(customers).where(eq(customers.id, service.customer_id));
  const customer = newCustomer();
  const metadata = { service_number: service.service_number };
  const { items, event } = subscribed(customer, { items: [{ unitAmount: 500, metadata }] });
  await (isListed ? sync.run() : take(event));
  await take(finalized({ customer, ...(own && numberOf(own)) }).event);
  expect((await sync.itemOf(items[0]?.id ?? ''))?.customer_service_id).toBe(service.id);
});

test('a failure of an event is resolved by the run after its delivery', async () => {
  const { event } = finalized();
  await take(event);
  const { runId: run_id } = await sync.run();
  const failure = { run_id, object: 'event' as const, stripe_id: event.id, error_code: '53100' };
  await sync.db.insert(reconciliationFailures).values(failure);
  await sync.run();
  const ofEvent = eq(reconciliationFailures.stripe_id, event.id);
  const [stored] = await sync.db.select().from(reconciliationFailures).where(ofEvent);
  expect(stored?.resolved_at).toEqual(sync.now());
});
