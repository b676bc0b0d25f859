import { eq, sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { beforeAll, expect, inject, test } from 'vitest';
import { invoices, payments, stripeCustomers, stripeEvents, subscriptionItems } from '@/db/schema';
import { eraseCustomer } from '@/lib/erasure/erase-customer';
import { lockInvoicesById } from '@/lib/payments/check-payment';
import { lockByReference } from '@/lib/payments/lock-payment';
import * as act from '@/lib/stripe-local/actions';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { toStoredCheckout } from '@/lib/sync/decide/checkout/kept-checkout';
import { Draft } from '@/lib/sync/decide/draft';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { commit, isVersionConflict } from '@/lib/sync/store/commit';
import { noKeys } from '@/lib/sync/store/keys';
import { read } from '@/lib/sync/store/read';
import { syncDeps } from '@/lib/sync/sync-deps';
import { Inquiry } from '@/lib/sync/sync-loop';
import { settingsOf } from '@/lib/sync/synchronize';
import { useDatabase } from '../support/database';
import { decideAlone } from '../support/decide-delivery';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createSubscription,
} from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { openTestStripe, subscribe, type TestStripe } from '../support/stripe-world';

const GRACE = { type: 'staff' as const, id: 'u1', name: 'grace@example.com' };
const CONFLICT = { code: '40001' };

const base = useDatabase();
let runtime: TestRuntime;
let stripe: TestStripe;

beforeAll(() => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
});

const decide = (payload: string) => decideAlone(runtime, payload);
const decideOnPing = (id: string) =>
  decide(JSON.stringify({ id, type: 'ping', created: 1, data: { object: {} } }));
const decideEvent = (event: Parameters<typeof renderEvent>[0]) =>
  decide(JSON.stringify(renderEvent(event, Stripe.API_VERSION)));

test('an event of a payment whose customer was erased meanwhile is decided on again', async () => {
  const { id } = await createCustomer(base.db);
  const invoice = await createInvoice(base.db, {
    customer_id: id,
    status: 'paid',
    stripe_invoice_id: 'in_erased',
    stripe_customer_id: 'cus_erased',
  });
  await base.db
    .insert(stripeCustomers)
    .values({ stripe_customer_id: 'cus_erased', customer_id: id, linked_by: 'staff' });
  await createPayment(base.db, {
    invoice_id: invoice.id,
    customer_id: id,
    stripe_payment_intent_id: 'pi_erased',
  });
  const evidence = { customer_name: 'Erika' };
  const dispute = { id: 'dp_erased', object: 'dispute', payment_intent: 'pi_erased', evidence };
  const told = { id: 'evt_meanwhile', type: 'charge.dispute.created', created: 1, data: { object: dispute } };
  const decided = await decide(JSON.stringify(told));
  await base.db.update(payments).set({ status: 'completed' }).where(eq(payments.customer_id, id));
  await eraseCustomer(base.db, id, { actor: GRACE, now: runtime.now() });
  await expect(commit(base.db, decided)).rejects.toMatchObject(CONFLICT);
  expect(await base.db.$count(stripeEvents, eq(stripeEvents.id, 'evt_meanwhile'))).toBe(0);
});

test('a subscription that surely bills a service from now on is noticed by who dates that service', async () => {
  const ours = await createCustomer(base.db);
  const service = await createService(base.db, { customer_id: ours.id, status: 'active' });
  const named = { metadata: { service_number: service.service_number } };
  const one = await subscribe(stripe, runtime, ours, [named]);
  const other = await subscribe(stripe, runtime, ours, [named]);
  // One is known by its e-mail address alone.
  await base.db
    .update(stripeCustomers)
    .set({ linked_by: 'email' })
    .where(eq(stripeCustomers.stripe_customer_id, one.stripeCustomerId));
  const { events } = act.cancelSubscription(stripe.world, other.subscription.id);
  const cancelled = events.find(({ type }) => type === 'customer.subscription.deleted');
  if (!cancelled) throw new Error('a cancelled subscription is reported');
  const decided = await decideEvent(cancelled);
  const to = { from: ours.id, to: ours.id };
  await linkStripeCustomer({ ...syncDeps(runtime), stripe: null }, GRACE, one.stripeCustomerId, to);
  await expect(commit(base.db, decided)).rejects.toMatchObject(CONFLICT);
});

test('an item that somebody has changed meanwhile is not deleted', async () => {
  const ours = await createCustomer(base.db);
  const { stripeCustomerId } = await subscribe(stripe, runtime, ours, [{}]);
  const snapshot = await read(base.db, { ...noKeys(), whole: [stripeCustomerId] });
  const [item] = snapshot.rows.items.values();
  if (!item) throw new Error('the subscription has an item');
  const decided = await decideOnPing('evt_deletes');
  decided.plan.items.deleted.push(item);
  await base.db.update(subscriptionItems).set({ quantity: 2 }).where(eq(subscriptionItems.id, item.id));
  await expect(commit(base.db, decided)).rejects.toMatchObject(CONFLICT);
  expect(await base.db.$count(subscriptionItems, eq(subscriptionItems.id, item.id))).toBe(1);
});

test.runIf(inject('postgres'))(
  'a number that is being given to a customer is not taken for nobody’s',
  async () => {
    const decided = await decideOnPing('evt_number');
    decided.plan.absentNumbers.push('k777001');
    let committed: Promise<unknown> = Promise.resolve();
    await base.db.transaction(async (tx) => {
      await createCustomer(tx, { customer_number: 'K777001' });
      await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('customer numbers', 0))`);
      committed = commit(base.db, decided).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 200));
    });
    expect(await committed).toMatchObject(CONFLICT);
  },
);

test.runIf(inject('postgres'))(
  'a payment that somebody is recording is waited for before sync writes one of its reference',
  async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const invoice = await createInvoice(base.db, { customer_id });
    const values = { customer_id, invoice_id: invoice.id, payment_reference: 'in_recorded' };
    const decided = await decideOnPing('evt_recorded');
    const paid = await createPayment(base.db, { customer_id, invoice_id: invoice.id });
    decided.plan.payments.inserted.push({ ...paid, ...values, id: -1, version: 0 });
    let committed: Promise<unknown> = Promise.resolve();
    await base.db.transaction(async (tx) => {
      // A deadlock would end this transaction, and not the commit.
      await tx.execute(sql`set local deadlock_timeout = '10ms'`);
      await lockByReference(tx, 'in_recorded', invoice.id);
      committed = commit(base.db, decided).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await createPayment(tx, values);
    });
    expect(await committed).toSatisfy(isVersionConflict);
  },
);

test.runIf(inject('postgres'))('invoices that are handed over are locked in their order, too', async () => {
  const { id: customer_id } = await createCustomer(base.db);
  const from = await createSubscription(base.db, { customer_id });
  const to = await createSubscription(base.db, { customer_id });
  const first = await createInvoice(base.db, { customer_id });
  const last = await createInvoice(base.db, { customer_id, subscription_id: from.id });
  const decided = await decideOnPing('evt_handed');
  decided.plan.handedOver.push({ from: from.id, to: to.id });
  decided.plan.invoices.updated.push({ ...first, number: 'R-1' });
  let committed: Promise<unknown> = Promise.resolve();
  await base.db.transaction(async (tx) => {
    // A deadlock would end this transaction, and not the commit.
    await tx.execute(sql`set local deadlock_timeout = '10ms'`);
    await lockInvoicesById(tx, [first.id]);
    committed = commit(base.db, decided);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await lockInvoicesById(tx, [first.id, last.id]);
  });
  await committed;
  const [handed] = await base.db.select().from(invoices).where(eq(invoices.id, last.id));
  expect(handed?.subscription_id).toBe(to.id);
});

test('what is kept of a checkout is applied to its own Stripe customer alone', () => {
  const checkout = { id: 'cs_1', stripe_subscription_id: 'sub_1', reference: null, paid: true };
  const kept = { ...checkout, completed_at: '2026-01-01T00:00:00Z', stripe_customer_id: 'cus_1' };
  const event = {
    id: 'evt_1',
    outcome: 'processed' as const,
    attempts: 1,
    payload: '',
    isStorable: true,
    checkout: kept,
  };
  expect(toStoredCheckout(event, 'cus_1')).toMatchObject({ id: 'cs_1', stripeSubscriptionId: 'sub_1' });
  expect(toStoredCheckout(event, 'cus_2')).toBeNull();
});

test('an answer of Stripe about a row without an owner holds for that version of the row alone', async () => {
  const snapshot = await read(base.db, noKeys());
  const inquiry = new Inquiry(true);
  const draftOf = () => new Draft(snapshot, settingsOf(syncDeps(runtime)), inquiry.answers);
  const asked = draftOf();
  asked.ask('refund', 're_1', '', 3);
  if (!asked.wanted) throw new Error('Stripe is to be asked');
  inquiry.add(asked.wanted, { state: 'gone' });
  expect(draftOf().ask('refund', 're_1', '', 3)).toEqual({ state: 'gone' });
  expect(draftOf().ask('refund', 're_1', '', 4)).toMatchObject({ state: 'unavailable' });
});
