import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect } from 'vitest';
import { invoices, payments, reconciliationChanges, refunds } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { type Collected, isCollected } from '@/lib/stripe-local/charges';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { type ReconcileResult, reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from './database';
import { type TestRuntime, testRuntime } from './runtime';
import { openTestStripe, type TestStripe } from './stripe-world';

const KEY = 'sk_test_local';
export const DAY = 86_400;

/** A Stripe whose events about money that comes back reach nobody, and a daily job that looks for it. */
export function useSilentStripe() {
  const base = useDatabase();
  let runtime: TestRuntime;
  let stripe: TestStripe;
  let server: StripeLocal;

  beforeAll(async () => {
    runtime = testRuntime(base.db, { now: new Date('2026-03-15T12:00:00Z') });
    stripe = openTestStripe(runtime);
    server = await startStripeLocal({ world: stripe.world, secretKey: KEY });
    runtime.stripe = createStripeClient(KEY, server.url, 10_000);
  });
  afterAll(() => server?.close());

  const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));
  const run = (): Promise<ReconcileResult> => {
    later(60);
    return reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: 'test' });
  };
  const changesOf = async ({ runId }: ReconcileResult) => {
    const found = await base.db
      .select()
      .from(reconciliationChanges)
      .where(eq(reconciliationChanges.run_id, runId))
      .orderBy(asc(reconciliationChanges.id));
    return found.map(({ entity, field, before, after, outcome }) => [entity, field, before, after, outcome]);
  };

  return {
    get db() {
      return base.db;
    },
    get world() {
      return stripe.world;
    },
    get faults() {
      return server.faults;
    },
    deps: () => syncDeps(runtime),
    now: () => runtime.now(),
    happen: <T extends Parameters<TestStripe['happen']>[0]>(action: T) => stripe.happen(action),
    later,
    run,

    /** An invoice of 119 € that is open. */
    async open(): Promise<string> {
      const customer = await stripe.happen((world) => act.createCustomer(world, {}));
      const { object } = await stripe.happen((world) =>
        act.createInvoice(world, {
          customer: customer.object.id,
          lines: [{ amount: 11_900, description: 'Hosting' }],
        }),
      );
      await stripe.happen((world) => act.finalizeInvoice(world, object.id));
      return object.id;
    },

    /** An invoice of 119 € that Stripe collected, as its events told, and a run after that. */
    async paid(): Promise<string> {
      const id = await this.open();
      await stripe.happen((world) => act.payInvoice(world, id));
      await run();
      return id;
    },

    /** One run brings all in sync, and another changes nothing. @returns what changed */
    async bringInSync() {
      const first = await run();
      const changes = await changesOf(first);
      const second = await run();
      expect([first.failures, await changesOf(second)]).toEqual([0, []]);
      return changes;
    },

    async paymentOf(invoice: string) {
      const [row] = await base.db.select().from(payments).where(eq(payments.payment_reference, invoice));
      if (!row) throw new Error(`${invoice} has no payment`);
      return row;
    },

    async invoiceOf(id: string) {
      const [row] = await base.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id));
      if (!row) throw new Error(`there is no ${id}`);
      return row;
    },

    refundsOf: (paymentId: number) =>
      base.db
        .select({
          stripe_refund_id: refunds.stripe_refund_id,
          amount: refunds.amount,
          status: refunds.status,
          source: refunds.source,
        })
        .from(refunds)
        .where(eq(refunds.payment_id, paymentId))
        .orderBy(asc(refunds.id)),

    /** Whoever writes through the API. */
    writer: () => ({
      actor: commandActor('test'),
      source: 'api' as const,
      now: runtime.now(),
      timeZone: 'UTC',
    }),

    /** Something that Stripe collected for no invoice, like another payment. */
    collectAlone(id: string): Collected {
      const { world } = stripe;
      const like = [...world.paymentIntents.values()].find(isCollected);
      if (!like) throw new Error('nothing was collected yet');
      const alone = { ...like, id, latestCharge: id.replace('pi_', 'ch_'), invoice: null };
      world.paymentIntents.put(alone);
      return alone;
    },
  };
}
