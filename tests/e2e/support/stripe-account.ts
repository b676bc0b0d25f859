import { and, asc, desc, eq, isNotNull, ne } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices, payments, subscriptionItems, subscriptions } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { seededChance } from '@/lib/chance';
import { createStripeClient } from '@/lib/runtime';
import { toProviderEvent } from '@/lib/stripe/event';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { checkWithStripe } from '@/lib/sync/staff/check-with-stripe';
import { syncDeps } from '@/lib/sync/sync-deps';
import { createStoredEvent } from '../../support/factories';
import { testRuntime } from '../../support/runtime';
import * as act from '../../support/stripe-actions';
import { renderEvent } from '../../support/stripe-versions';
import { TIME_ZONE } from './company';

/** Facts about the Stripe account, such as ids of objects that the tests need. */
export type StripeAccount = Awaited<ReturnType<typeof fillStripe>>['account'];

type Happened = World['history'][number];

const NEWEST = '2026-10-28.endive';

/**
 * Creates a local Stripe account that matches the sample company, then changes objects in it. Processes only some of the
 * resulting events, so that the database differs from Stripe.
 */
export async function fillStripe(db: Database) {
  const world = createWorld({ now: () => new Date(), chance: seededChance(5), timeZone: TIME_ZONE });
  await fillFromDatabase(world, db, { timeZone: TIME_ZONE });
  const [first, second, third, fourth] = await liveSubscriptions(db);
  if (!first || !second || !third || !fourth) throw new Error('the sample company has subscriptions');

  const items = [...(world.subscriptions.get(first.stripeId)?.items ?? []), { unitAmount: 490 }];
  await takeAll(db, act.updateSubscription(world, first.stripeId, { items }).events);
  await takeAll(db, act.updateSubscription(world, second.stripeId, { cancelAtPeriodEnd: true }).events);
  const failedEvent = await failPayment(db, world);
  await takeAll(db, act.createCustomer(world, { email: 'new@example.com' }).events);
  await keepUnmatched(db);
  for (const { stripeId } of [third, fourth]) act.updateSubscription(world, stripeId, { status: 'past_due' });
  const account = {
    /** Id of a failed event, whose payment is not recorded. */
    failedEvent,
    /** A subscription, and an item of it that is not linked to a service. */
    unlinked: { subscriptionId: first.id, itemId: await unlinkedItem(db, first.id) },
    /** Subscriptions that changed at Stripe, and whose events the database did not receive. */
    drifted: { checked: third.id, reconciled: fourth.id },
    /** Payments that were disputed or refunded in part. The refund of `silent` is not recorded yet. */
    paidBack: await takeBack(db, world),
    /** The Stripe customer of the first subscription. */
    stripeCustomer: first.stripeCustomer,
    /** The number of an unrelated customer. */
    otherCustomer: await otherCustomer(db, first.customerId),
  };
  return { world, account };
}

async function liveSubscriptions(db: Database) {
  const found = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.status, 'active'), isNotNull(subscriptions.stripe_subscription_id)))
    .orderBy(asc(subscriptions.id))
    .limit(4);
  return found.map(({ id, customer_id, stripe_subscription_id, stripe_customer_id }) => ({
    ...{ id, customerId: customer_id },
    ...{ stripeId: stripe_subscription_id ?? '', stripeCustomer: stripe_customer_id ?? '' },
  }));
}

async function otherCustomer(db: Database, than: number): Promise<string> {
  const [other] = await db
    .select({ number: customers.customer_number })
    .from(customers)
    .where(and(ne(customers.id, than), eq(customers.status, 'active')))
    .orderBy(asc(customers.id))
    .limit(1);
  return other?.number ?? '';
}

async function takeAll(db: Database, events: Happened[]): Promise<void> {
  for (const happened of events) {
    const payload = JSON.stringify(renderEvent(happened, NEWEST));
    await handleEvent(depsOf(db), toEvent(payload), payload);
  }
}

/** Pays an open invoice, and stores the event of the payment as failed. @returns the id of the event */
async function failPayment(db: Database, world: World): Promise<string> {
  const [open] = await db
    .select({ stripeId: invoices.stripe_invoice_id })
    .from(invoices)
    .where(and(eq(invoices.status, 'sent'), isNotNull(invoices.stripe_invoice_id)))
    .orderBy(asc(invoices.id))
    .limit(1);
  const { events } = act.payInvoice(world, open?.stripeId ?? '');
  const succeeded = events.find(({ type }) => type === 'invoice.payment_succeeded');
  if (!succeeded) throw new Error('a paid invoice says so');
  await takeAll(
    db,
    events.filter((event) => event !== succeeded),
  );
  const payload = JSON.stringify(renderEvent(succeeded, NEWEST));
  const event = toEvent(payload);
  await createStoredEvent(db, {
    ...{ id: event.id, type: event.type, api_version: event.apiVersion, stripe_created: event.created },
    ...{ object_id: event.objectId, stripe_customer_id: event.stripeCustomerId, payload },
    ...{ outcome: 'failed', error_code: '40P01', attempts: 3 },
  });
  return event.id;
}

/** Disputes one payment and refunds two in part. A check with Stripe records the dispute and the first refund. */
async function takeBack(db: Database, world: World) {
  const found = await db
    .select()
    .from(payments)
    .where(
      and(
        eq(payments.status, 'completed'),
        eq(payments.currency, 'eur'),
        isNotNull(payments.stripe_payment_intent_id),
      ),
    )
    .orderBy(desc(payments.payment_date), desc(payments.id))
    .limit(3);
  const [disputed, inPart, silent] = found.map((row) => ({
    ...{ id: row.id, invoiceId: row.invoice_id, customerId: row.customer_id },
    ...{ reference: row.payment_reference, paymentIntent: row.stripe_payment_intent_id ?? '' },
  }));
  if (!disputed || !inPart || !silent) throw new Error('Stripe collected some of the payments');
  act.openDispute(world, disputed);
  act.refundPayment(world, { ...inPart, amount: 100, reason: 'requested_by_customer' });
  const stripe = await startStripeLocal({ world, secretKey: 'sk_test_fill' });
  const deps = { ...depsOf(db), stripe: createStripeClient('sk_test_fill', stripe.url, 10_000) };
  for (const { id } of [disputed, inPart]) {
    await checkWithStripe(deps, commandActor('test'), 'payment', id);
  }
  await stripe.close();
  act.refundPayment(world, { ...silent, amount: 150 });
  return { disputed, inPart, silent };
}

/** Stores an invoice event whose payload contains no customer. */
async function keepUnmatched(db: Database): Promise<void> {
  const payload = JSON.stringify({
    ...{ id: 'evt_withoutcustomer', object: 'event', api_version: '2019-05-16', livemode: false },
    ...{ created: Math.floor(Date.now() / 1000) - 3600, type: 'invoice.finalized' },
    data: { object: { id: 'in_withoutcustomer', object: 'invoice', customer: null, status: 'open' } },
  });
  await handleEvent(depsOf(db), toEvent(payload), payload);
}

const depsOf = (db: Database) => ({
  ...syncDeps(testRuntime(db, { env: { APP_TIMEZONE: TIME_ZONE } })),
  now: () => new Date(),
});

async function unlinkedItem(db: Database, subscriptionId: number): Promise<number> {
  const items = await db
    .select()
    .from(subscriptionItems)
    .where(eq(subscriptionItems.subscription_id, subscriptionId));
  const item = items.find(({ customer_service_id }) => customer_service_id === null);
  if (!item) throw new Error('the new item has no service');
  return item.id;
}

function toEvent(payload: string) {
  const event = toProviderEvent(JSON.parse(payload));
  if (!event) throw new Error('this is no event');
  return event;
}
