import { eq } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type Stripe from 'stripe';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Database } from '@/db/database';
import {
  customerServices,
  invoices,
  payments,
  reconciliationChanges,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { type Actor, commandActor } from '@/lib/audit/audit-log';
import { seededChance } from '@/lib/chance';
import { createStripeClient } from '@/lib/runtime';
import { toProviderEvent } from '@/lib/stripe/event';
import { type Collected, isCollected } from '@/lib/stripe-local/charges';
import type { ItemInput, WorldEvent } from '@/lib/stripe-local/model';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { type EventOutcome, handleEvent } from '@/lib/sync/inbox/handle-event';
import { type ReconcileResult, reconcile } from '@/lib/sync/reconcile/reconcile';
import { type SyncDeps, syncDeps } from '@/lib/sync/sync-deps';
import type { Api } from './api';
import { readRows, useDatabase } from './database';
import { type TestRuntime, testRuntime } from './runtime';
import * as act from './stripe-actions';
import { type StripeLocal, startStripeLocal } from './stripe-server';
import { renderEvent } from './stripe-versions';

const KEY = 'sk_test_local';
const NEWEST = '2026-10-28.endive';
export const DAY = 86_400;
export const GRACE: Actor = { type: 'staff', id: 'u1', name: 'grace@example.com' };

/** Returns the first event of a type. @throws Error if there is none */
export function typed(events: WorldEvent[], type: string): WorldEvent {
  const found = events.find((event) => event.type === type);
  if (!found) throw new Error(`${type} did not happen`);
  return found;
}

interface SyncOptions {
  /** A server with the webhook. Sync then uses the server's database and runtime instead of its own. */
  server?: Api;
  env?: Record<string, string>;
  now?: Date;
  /** Whether sync has an API key and may ask Stripe from the start. */
  withKey?: boolean;
}

interface TakeOptions {
  /** Another connection to the database. */
  db?: Database;
  /** Whether sync may ask Stripe. The default is the option of `useSync`, and true for a reconciliation. */
  withKey?: boolean;
}

interface Opened {
  runtime: TestRuntime;
  world: World;
  api: StripeLocal;
  client: Stripe;
}

/**
 * Provides the environment of sync tests: a database, a runtime with a fixed clock, and a Stripe account with an API.
 */
export function useSync({ server, env, now, withKey = false }: SyncOptions = {}) {
  const base = server ? null : useDatabase();
  let opened: Opened | undefined;
  const get = () => {
    if (!opened) throw new Error('sync is open only inside tests');
    return opened;
  };

  beforeAll(async () => {
    const runtime =
      server?.runtime ?? testRuntime(base?.db as Database, { ...(env && { env }), ...(now && { now }) });
    const { timeZone } = runtime.env;
    const world = createWorld({ now: runtime.now, chance: seededChance(11), timeZone });
    const api = await startStripeLocal({ world, secretKey: KEY });
    const client = createStripeClient(KEY, api.url, 10_000);
    if (withKey) runtime.stripe = client;
    opened = { runtime, world, api, client };
  });
  afterAll(() => opened?.api.close());

  /** Returns a function that reads the row with a value in a unique column, if there is one. */
  const find =
    <Table extends PgTable>(table: Table, column: PgColumn) =>
    async (value: string | number): Promise<Table['$inferSelect'] | undefined> =>
      (await sync.db.select().from<PgTable>(table).where(eq(column, value)))[0];

  const sync = {
    get db(): Database {
      return get().runtime.db;
    },
    get runtime(): TestRuntime {
      return get().runtime;
    },
    /** The Stripe account. */
    get world(): World {
      return get().world;
    },
    /** The account's API over HTTP, with its injected faults and its request log. */
    get api(): StripeLocal {
      return get().api;
    },
    get client(): Stripe {
      return get().client;
    },
    now: () => get().runtime.now(),
    deps({ db, withKey: asks }: TakeOptions = {}): SyncDeps {
      const { runtime, client } = get();
      const deps = syncDeps(db ? { ...runtime, db } : runtime);
      return asks === undefined ? deps : { ...deps, stripe: asks ? client : null };
    },
    /** Moves the clocks of sync and of Stripe forward. */
    later(seconds: number): void {
      const { runtime } = get();
      runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));
    },

    /** Passes a payload to sync in this process, like a verified delivery. */
    async takeBody(payload: string, options: TakeOptions = {}): Promise<EventOutcome> {
      const event = toProviderEvent(JSON.parse(payload));
      if (!event) throw new Error('this is not an event');
      return handleEvent(sync.deps(options), event, payload);
    },
    /** Passes an event of the account to sync, rendered for an API version. */
    async take(event: WorldEvent | undefined, options: TakeOptions & { version?: string | undefined } = {}) {
      if (!event) throw new Error('this event did not happen');
      return sync.takeBody(JSON.stringify(renderEvent(event, options.version ?? NEWEST)), options);
    },
    /** Runs an action at Stripe a minute later and passes every resulting event to sync. */
    async happen<T extends { events: WorldEvent[] }>(action: (world: World) => T): Promise<T> {
      sync.later(60);
      const done = action(get().world);
      for (const event of done.events) await sync.take(event);
      return done;
    },
    /** Creates and finalizes an invoice, by default for 119 EUR, and passes all events to sync. @returns its id */
    async bill(input: Partial<Parameters<typeof act.createInvoice>[1]> = {}): Promise<string> {
      const customer = input.customer ?? (await sync.happen((world) => act.createCustomer(world))).object.id;
      const { object } = await sync.happen((world) =>
        act.createInvoice(world, { lines: [{ amount: 11_900 }], ...input, customer }),
      );
      await sync.happen((world) => act.finalizeInvoice(world, object.id));
      return object.id;
    },
    /** Creates an invoice for 119 EUR that Stripe collected, and its payment. */
    async collect() {
      const invoice = await sync.bill();
      await sync.happen((world) => act.payInvoice(world, invoice));
      const payment = await sync.paymentOf(invoice);
      if (!payment) throw new Error(`${invoice} has no payment`);
      return { invoice, payment };
    },
    /** Collects a payment at Stripe that belongs to no invoice, as a copy of an earlier payment. */
    collectAlone(id: string): Collected {
      const { paymentIntents } = get().world;
      const like = [...paymentIntents.values()].find(isCollected);
      if (!like) throw new Error('nothing was collected yet');
      const alone = { ...like, id, latestCharge: id.replace('pi_', 'ch_'), invoice: null };
      paymentIntents.put(alone);
      return alone;
    },

    /** Reconciles with Stripe a minute later. */
    async run(options: TakeOptions = {}): Promise<ReconcileResult> {
      sync.later(60);
      return reconcile(sync.deps({ withKey: true, ...options }), {
        ...{ trigger: 'cli', startedBy: 'test', isAccountKnown: true },
      });
    },
    /** Reconciles with Stripe a day and a minute later. */
    night: () => {
      sync.later(DAY);
      return sync.run();
    },
    /** Returns the changes of a run: entity, field, before, after, outcome. */
    async changesOf({ runId }: Pick<ReconcileResult, 'runId'>) {
      const found = await readRows(sync.db, reconciliationChanges, eq(reconciliationChanges.run_id, runId));
      return found.map((one) => [one.entity, one.field, one.before, one.after, one.outcome]);
    },
    /** Reconciles twice. Expects no failures first, and then no changes. @returns the changes of the first run */
    async bringInSync() {
      const first = await sync.run();
      const second = await sync.run();
      expect([first.failures, await sync.changesOf(second)]).toEqual([0, []]);
      return sync.changesOf(first);
    },

    /** Creates a Stripe customer that is linked by number, and its subscription with items at 9.90 EUR each. */
    async subscribe(ours: { id: number; customer_number: string }, items: Partial<ItemInput>[]) {
      const metadata = { customer_number: ours.customer_number };
      const { object: customer } = await sync.happen((world) => act.createCustomer(world, { metadata }));
      const stripeCustomerId = customer.id;
      const link = { customer_id: ours.id, linked_by: 'number' as const };
      const row = { stripe_customer_id: stripeCustomerId, ...link };
      await sync.db.insert(stripeCustomers).values(row).onConflictDoNothing();
      const priced = items.map((item) => ({ unitAmount: 990, ...item }));
      const input = { customer: stripeCustomerId, items: priced };
      const { object } = await sync.happen((world) => act.createSubscription(world, input));
      return { stripeCustomerId, subscription: object };
    },

    /** Returns the actor, source and time of a write that does not come from sync. */
    writer: () => ({
      ...{ actor: commandActor('test'), source: 'api' as const, now: sync.now(), timeZone: 'UTC' },
    }),

    invoiceOf: find(invoices, invoices.stripe_invoice_id),
    paymentOf: find(payments, payments.payment_reference),
    subscriptionOf: find(subscriptions, subscriptions.stripe_subscription_id),
    itemOf: find(subscriptionItems, subscriptionItems.stripe_subscription_item_id),
    serviceOf: find(customerServices, customerServices.id),
    linkOf: find(stripeCustomers, stripeCustomers.stripe_customer_id),
    eventOf: find(stripeEvents, stripeEvents.id),
  };
  return sync;
}
