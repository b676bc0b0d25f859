import { desc, eq, inArray, sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { describe, expect, inject, test } from 'vitest';
import { type Database, rows } from '@/db/database';
import { customers, invoices, payments, subscriptionItems } from '@/db/schema';
import { eraseCustomer } from '@/lib/erasure/erase-customer';
import { type Commit, commit, commitTogether, isVersionConflict } from '@/lib/store/commit';
import { noKeys } from '@/lib/store/snapshot';
import { read } from '@/lib/store/store';
import { toProviderEvent } from '@/lib/stripe/event';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { Draft } from '@/lib/sync/decide/draft';
import { toStoredCheckout } from '@/lib/sync/decide/subscription/checkout';
import { decideDelivery, keysOfDelivery } from '@/lib/sync/inbox/handle-event';
import { Inquiry, readAndDecide, settingsOf } from '@/lib/sync/synchronize';
import { countLockWaits, readRow } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createStripeCustomer,
  createSubscription,
} from '../support/factories';
import * as act from '../support/stripe-actions';
import { renderEvent } from '../support/stripe-versions';
import { DAY, GRACE, typed, useSync } from '../support/sync';

const CONFLICT = { code: '40001' };
const sync = useSync();

/** Decides what a delivery changes, based on the current rows. Neither calls Stripe nor writes to the database. */
async function decide(payload: string): Promise<Commit> {
  const event = toProviderEvent(JSON.parse(payload));
  if (!event) throw new Error('this is not an event');
  const delivery = { event, payload, expectedMode: null, again: false };
  const question = {
    settings: settingsOf(sync.deps()),
    keys: keysOfDelivery(delivery),
    decide: (draft: Draft) => decideDelivery(draft, delivery),
  };
  const decided = await readAndDecide((keys) => read(sync.db, keys), question, new Inquiry());
  if ('wanted' in decided) throw new Error('Stripe cannot be asked here');
  const { plan, result } = decided;
  const bookedOn = () => ({ today: '2026-03-15', timeZone: 'UTC' });
  return { plan, events: result.entry ? [result.entry] : [], runId: null, bookedOn };
}

const decideOnPing = (id: string) =>
  decide(JSON.stringify({ id, type: 'ping', created: 1, data: { object: {} } }));
const toBody = (event: WorldEvent) => JSON.stringify(renderEvent(event, Stripe.API_VERSION));

test('committing a dispute is refused if its customer was erased after the decision', async () => {
  const { id } = await createCustomer(sync.db);
  const at = { customer_id: id, stripe_customer_id: 'cus_erased' };
  const invoice = await createInvoice(sync.db, { ...at, status: 'paid', stripe_invoice_id: 'in_erased' });
  await createStripeCustomer(sync.db, { ...at, linked_by: 'staff' });
  const of = { invoice_id: invoice.id, customer_id: id, stripe_payment_intent_id: 'pi_erased' };
  await createPayment(sync.db, of);
  const evidence = { customer_name: 'Erika' };
  const object = { id: 'dp_erased', object: 'dispute', payment_intent: 'pi_erased', evidence };
  const told = { id: 'evt_meanwhile', type: 'charge.dispute.created', created: 1, data: { object } };
  const decided = await decide(JSON.stringify(told));
  await sync.db.update(payments).set({ status: 'completed' }).where(eq(payments.customer_id, id));
  await eraseCustomer(sync.db, id, { actor: GRACE, now: sync.now(), timeZone: 'UTC' });
  await expect(commit(sync.db, decided)).rejects.toMatchObject(CONFLICT);
  expect(await sync.eventOf('evt_meanwhile')).toBeUndefined();
});

test('committing a billing date is refused if another subscription now also bills the service', async () => {
  const ours = await createCustomer(sync.db);
  const { service_number } = await createService(sync.db, { customer_id: ours.id });
  const metadata = { service_number };
  const { subscription: one } = await sync.subscribe(ours, [{ metadata }]);
  const { subscription: other } = await sync.subscribe(ours, [{}]);
  const billUntil = (days: number) => {
    const currentPeriodEnd = Math.floor(sync.now().getTime() / 1000) + days * DAY;
    return act.updateSubscription(sync.world, one.id, { currentPeriodEnd });
  };
  await sync.happen(() => billUntil(60));
  sync.later(60);
  const decided = await decide(toBody(typed(billUntil(2).events, 'customer.subscription.updated')));
  // `other` is billed until an earlier day than `one`, so linking it changes only the version of the service.
  await sync.happen((world) => act.updateSubscription(world, other.id, { metadata }));
  await expect(commit(sync.db, decided)).rejects.toMatchObject(CONFLICT);
});

test('committing the deletion of a subscription item is refused if the item has changed', async () => {
  const { stripeCustomerId } = await sync.subscribe(await createCustomer(sync.db), [{}]);
  const snapshot = await read(sync.db, { ...noKeys(), whole: [stripeCustomerId] });
  const [item] = snapshot.rows.items.values();
  if (!item) throw new Error('the subscription has an item');
  const decided = await decideOnPing('evt_deletes');
  decided.plan.items.deleted.push(item);
  await sync.db.update(subscriptionItems).set({ quantity: 2 }).where(eq(subscriptionItems.id, item.id));
  await expect(commit(sync.db, decided)).rejects.toMatchObject(CONFLICT);
  expect(await sync.db.$count(subscriptionItems, eq(subscriptionItems.id, item.id))).toBe(1);
});

describe('commits of several deliveries in one statement', () => {
  /** Finalizes an invoice and returns its undelivered event. By default, creates a Stripe customer for it. */
  function finalize(customer = act.createCustomer(sync.world, {}).object.id) {
    const { object: invoice } = act.createInvoice(sync.world, { customer, lines: [{ amount: 1900 }] });
    const event = typed(act.finalizeInvoice(sync.world, invoice.id).events, 'invoice.finalized');
    return { customer, invoice: invoice.id, event: event.id, payload: toBody(event) };
  }
  type Finalized = ReturnType<typeof finalize>;

  const decideAll = (made: Finalized[]) => Promise.all(made.map(({ payload }) => decide(payload)));
  /** Returns for each commit of a batch whether it was made. */
  const commitAll = async (decided: Commit[]) => (await commitTogether(sync.db, decided)).map(Boolean);
  const bodiesOf = (made: Finalized[]) =>
    Promise.all(made.map(async ({ event }) => (await sync.eventOf(event))?.payload));

  test('each invoice of a joint commit is stored with its own customer', async () => {
    const made = [finalize(), finalize(), finalize()];
    expect(await commitAll(await decideAll(made))).toEqual([true, true, true]);
    const owners = made.map(async ({ invoice }) => (await sync.invoiceOf(invoice))?.customer_id);
    const linked = made.map(async ({ customer }) => (await sync.linkOf(customer))?.customer_id);
    expect(await Promise.all(owners)).toEqual(await Promise.all(linked));
    expect(new Set(await Promise.all(owners)).size).toBe(3);
    expect(await bodiesOf(made)).toEqual(made.map(({ payload }) => payload));
  });

  test('the second of two commits for one Stripe customer in a batch is skipped', async () => {
    const first = finalize();
    const made = [first, finalize(first.customer), finalize()];
    expect(await commitAll(await decideAll(made))).toEqual([true, false, true]);
    expect(await bodiesOf(made)).toEqual([first.payload, undefined, made[2]?.payload]);
  });

  test('a batch of commits is refused if one was decided on an outdated row', async () => {
    const [one, outdated] = [finalize(), finalize()];
    const decided = await decideAll([one, outdated]);
    await sync.takeBody(outdated.payload);
    expect(await commitAll(decided)).toEqual([false, false]);
    expect(await bodiesOf([one])).toEqual([undefined]);
  });

  test('a commit that expects a free customer number is skipped if its batch creates a customer', async () => {
    const [one, other] = await decideAll([finalize(), finalize()]);
    if (!one || !other) throw new Error('both were decided');
    const expecting = { ...other, plan: { ...other.plan, absentNumbers: ['k99999'] } };
    expect(await commitAll([one, expecting])).toEqual([true, false]);
  });
});

describe.runIf(inject('postgres'))('commits concurrent with other transactions, on a server', () => {
  /** Starts a commit while a transaction is open, and waits until the commit waits for a lock. */
  async function whileOpen(decided: Commit, before: Work, after: Work = async () => {}) {
    let committed: Promise<unknown> = Promise.resolve();
    await sync.db.transaction(async (tx) => {
      // In a deadlock, PostgreSQL must cancel this transaction and not the commit.
      await tx.execute(sql`set local deadlock_timeout = '10ms'`);
      await before(tx);
      committed = commit(sync.db, decided).catch((error: unknown) => error);
      await expect.poll(() => countLockWaits(sync.db)).toBeGreaterThan(0);
      await after(tx);
    });
    return committed;
  }
  type Work = (tx: Database) => Promise<unknown>;

  /** Locks invoices as every write of a payment does. */
  const lockInvoices = (tx: Database, ...ids: number[]) =>
    tx.select().from(invoices).where(inArray(invoices.id, ids)).orderBy(invoices.id).for('no key update');

  test('a commit is refused if another transaction takes a customer number expected to be free', async () => {
    const decided = await decideOnPing('evt_number');
    decided.plan.absentNumbers.push('k777001');
    const committed = await whileOpen(decided, async (tx) => {
      await createCustomer(tx, { customer_number: 'K777001' });
      await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('customer numbers', 0))`);
    });
    expect(committed).toMatchObject(CONFLICT);
  });

  test('a commit is refused if a concurrent transaction records a payment with the same reference', async () => {
    const paid = await createPayment(sync.db);
    const { customer_id, invoice_id } = paid;
    const payment_reference = 'in_recorded';
    const decided = await decideOnPing('evt_recorded');
    decided.plan.payments.inserted.push({ ...paid, payment_reference, id: -1, version: 0 });
    const committed = await whileOpen(
      decided,
      (tx) => lockInvoices(tx, invoice_id),
      (tx) => createPayment(tx, { customer_id, invoice_id, payment_reference }),
    );
    expect(committed).toSatisfy(isVersionConflict);
  });

  test('a commit locks invoices in ascending order of their ids', async () => {
    const from = await createSubscription(sync.db);
    const { customer_id } = from;
    const to = await createSubscription(sync.db, { customer_id });
    const first = await createInvoice(sync.db, { customer_id });
    const last = await createInvoice(sync.db, { customer_id, subscription_id: from.id });
    const decided = await decideOnPing('evt_handed');
    decided.plan.handedOver.push({ from: from.id, to: to.id });
    decided.plan.invoices.updated.push({ ...first, number: 'R-1' });
    const committed = await whileOpen(
      decided,
      (tx) => lockInvoices(tx, first.id),
      (tx) => lockInvoices(tx, first.id, last.id),
    );
    expect(committed).not.toBeInstanceOf(Error);
    expect(await readRow(sync.db, invoices, last.id)).toMatchObject({ subscription_id: to.id });
  });

  const create = () =>
    sync.db.execute(sql`select insert_created_customer(
      jsonb_build_object('id', nextval(pg_get_serial_sequence('customers', 'id'))), null)`);

  test('customers created concurrently get consecutive numbers', async () => {
    const before = await sync.db.$count(customers);
    await Promise.all(Array.from({ length: 600 }, create));
    const [found] = await rows<{ count: number; span: number }>(
      sync.db,
      sql`select count(*)::int as count, (max(serial) - min(serial) + 1)::int as span
        from (select substr(customer_number, 2)::int as serial from customers order by id offset ${before}) made`,
    );
    expect(found).toEqual({ count: 600, span: 600 });
  });

  test('a new customer does not get a number that another transaction has locked', async () => {
    const [next] = await rows<{ number: string }>(sync.db, sql`select next_customer_number() as number`);
    const number = String(next?.number);
    await sync.db.transaction(async (tx) => {
      // A commit takes this lock when it expects the number to be free.
      await tx.execute(
        sql`select pg_advisory_xact_lock_shared(hashtextextended('customer ' || ${number.toLowerCase()}, 0))`,
      );
      await create();
    });
    const [latest] = await sync.db.select().from(customers).orderBy(desc(customers.id)).limit(1);
    expect(latest?.customer_number).toBe(`K${Number(number.slice(1)) + 1}`);
  });
});

test('a stored checkout is not applied to another Stripe customer', () => {
  const bought = { id: 'cs_1', stripe_subscription_id: 'sub_1', reference: null, paid: true };
  const checkout = { ...bought, completed_at: '2026-01-01T00:00:00Z', stripe_customer_id: 'cus_1' };
  const inbox = { outcome: 'processed' as const, attempts: 1, payload: '', isStorable: true };
  const event = { id: 'evt_1', ...inbox, checkout };
  expect(toStoredCheckout(event, 'cus_1')).toMatchObject({ id: 'cs_1', stripeSubscriptionId: 'sub_1' });
  expect(toStoredCheckout(event, 'cus_2')).toBeNull();
});

test('a cached answer from Stripe is discarded when the row’s version changes', async () => {
  const snapshot = await read(sync.db, noKeys());
  const inquiry = new Inquiry(null);
  const draftOf = () => new Draft(snapshot, settingsOf(sync.deps()), inquiry.answers);
  const asked = draftOf();
  asked.ask('refund', 're_1', '', 3);
  if (!asked.wanted) throw new Error('the draft asks Stripe');
  inquiry.add(asked.wanted, { state: 'gone' });
  expect(draftOf().ask('refund', 're_1', '', 3)).toEqual({ state: 'gone' });
  expect(draftOf().ask('refund', 're_1', '', 4)).toMatchObject({ state: 'unavailable' });
});
