import { randomUUID } from 'node:crypto';
import { and, asc, eq, isNotNull, ne } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices, stripeEvents, subscriptionItems, subscriptions } from '@/db/schema';
import { createLogger } from '@/lib/log';
import { createStripeClient } from '@/lib/stripe/client';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { takeBack } from './take-back';

interface PaidBack {
  id: number;
  reference: string;
  invoiceId: number;
  customerId: number;
}

export interface StripeAccount {
  stripe: StripeLocal;
  /** What a server needs to ask it. */
  env: Record<string, string>;
  /** Of a payment that was not recorded. */
  failedEvent: string;
  /** Has an item for which no service is known, beside one with a service. */
  unlinked: { subscriptionId: number; itemId: number };
  /** Changed at Stripe, which nobody told us. */
  drifted: { subscriptionId: number };
  /** Payments that Stripe collected, of which it took some back; of `silent` nobody told us. */
  paidBack: Record<'disputed' | 'inPart' | 'silent', PaidBack>;
  /** Of the first subscription. */
  stripeCustomer: string;
  /** The number of a customer that has nothing to do with it. */
  otherCustomer: string;
}

type Happened = World['history'][number];

/** A Stripe that goes with the sample company, and what has come of its events so far. */
export async function fillStripe(db: Database): Promise<StripeAccount> {
  const world = createWorld({ now: () => new Date(), chance: seededChance(5) });
  await fillFromDatabase(world, db, { timeZone: 'UTC' });
  const [first, second, third] = await liveSubscriptions(db);
  if (!first || !second || !third) throw new Error('the sample company has subscriptions');

  const items = [...(world.subscriptions.get(first.stripeId)?.items ?? []), { unitAmount: 490 }];
  await takeAll(db, act.updateSubscription(world, first.stripeId, { items }).events);
  await takeAll(db, act.updateSubscription(world, second.stripeId, { cancelAtPeriodEnd: true }).events);
  const failed = await failPayment(db, world);
  await takeAll(db, act.createCustomer(world, { email: 'new@example.com' }).events);
  await keepUnmatched(db);
  act.updateSubscription(world, third.stripeId, { status: 'past_due' });

  const secretKey = `sk_test_${randomUUID()}`;
  const stripe = await startStripeLocal({ world, secretKey });
  const paidBack = await takeBack(world, {
    ...depsOf(db),
    stripe: createStripeClient(secretKey, stripe.url, 10_000),
  });
  return {
    stripe,
    env: { STRIPE_SECRET_KEY: secretKey, STRIPE_API_BASE: stripe.url },
    failedEvent: failed,
    unlinked: { subscriptionId: first.id, itemId: await unlinkedItem(db, first.id) },
    drifted: { subscriptionId: third.id },
    paidBack,
    stripeCustomer: first.stripeCustomer,
    otherCustomer: await otherCustomer(db, first.customerId),
  };
}

async function liveSubscriptions(db: Database) {
  const found = await db
    .select({
      id: subscriptions.id,
      customerId: subscriptions.customer_id,
      stripeId: subscriptions.stripe_subscription_id,
      stripeCustomer: subscriptions.stripe_customer_id,
    })
    .from(subscriptions)
    .where(and(eq(subscriptions.status, 'active'), isNotNull(subscriptions.stripe_subscription_id)))
    .orderBy(asc(subscriptions.id))
    .limit(3);
  return found.map(({ stripeId, stripeCustomer, ...row }) => ({
    ...row,
    stripeId: stripeId ?? '',
    stripeCustomer: stripeCustomer ?? '',
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
    const { event, payload } = rendered(happened);
    await handleEvent(depsOf(db), event, payload);
  }
}

/** An open invoice is paid; the event that tells of the payment could not be processed. */
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
  const { event, payload } = rendered(succeeded);
  await db.insert(stripeEvents).values({
    id: event.id,
    type: event.type,
    api_version: event.apiVersion,
    livemode: event.livemode,
    stripe_created: event.created,
    object_id: event.objectId,
    stripe_customer_id: event.stripeCustomerId,
    payload,
    outcome: 'failed',
    error_code: '40P01',
    attempts: 3,
  });
  return event.id;
}

/** An invoice event of a payload that names no customer. */
async function keepUnmatched(db: Database): Promise<void> {
  const created = Math.floor(Date.now() / 1000) - 3600;
  const body = {
    id: 'evt_withoutcustomer',
    object: 'event',
    api_version: '2019-05-16',
    created,
    livemode: false,
    type: 'invoice.finalized',
    data: { object: { id: 'in_withoutcustomer', object: 'invoice', customer: null, status: 'open' } },
  };
  const event = toProviderEvent(body);
  if (!event) throw new Error('this is an event');
  await handleEvent(depsOf(db), event, JSON.stringify(body));
}

function depsOf(db: Database) {
  return {
    db,
    stripe: null,
    now: () => new Date(),
    log: createLogger('silent'),
    timeZone: 'UTC',
    linkByEmail: false,
    mode: null,
    eventRetentionDays: 180,
    toolCallRetentionDays: 90,
  };
}

async function unlinkedItem(db: Database, subscriptionId: number): Promise<number> {
  const items = await db
    .select()
    .from(subscriptionItems)
    .where(eq(subscriptionItems.subscription_id, subscriptionId));
  const item = items.find(({ customer_service_id }) => customer_service_id === null);
  if (!item) throw new Error('the new item has no service');
  return item.id;
}

function rendered(happened: Happened) {
  const payload = JSON.stringify(renderEvent(happened, '2026-10-28.endive'));
  const event = toProviderEvent(JSON.parse(payload));
  if (!event) throw new Error('the world renders events');
  return { event, payload };
}
