import { and, asc, desc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import {
  invoices,
  payments,
  paymentTombstones,
  reconciliationChanges,
  reconciliationFailures,
  reconciliationRuns,
  reconciliationSeen,
  subscriptions,
} from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { createStripeClient } from '@/lib/stripe/client';
import {
  cancelSubscription,
  createInvoice as createStripeInvoice,
  deleteDraftInvoice,
  failInvoicePayment,
  finalizeInvoice,
  payInvoice,
  renewSubscription,
  updateSubscription,
  voidInvoice,
} from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { LEASE_MS } from '@/lib/sync/reconcile/lease';
import { type ReconcileResult, reconcile } from '@/lib/sync/reconcile/reconcile';
import { acquireRun } from '@/lib/sync/reconcile/run';
import { syncDeps } from '@/lib/sync/sync-deps';
import { createTestDatabase } from '../support/database';
import { createInvoice } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { watchedDatabase } from '../support/watched-database';

const KEY = 'sk_test_local';
const START = new Date('2026-03-15T12:00:00Z');

let database: DatabaseHandle;
let runtime: TestRuntime;
let world: World;
let stripeLocal: StripeLocal;

beforeAll(async () => {
  database = await createTestDatabase();
  runtime = testRuntime(database.db, { now: START });
  await seedDatabase(database.db, { today: '2026-03-15', timeZone: 'UTC' });
  world = createWorld({ now: runtime.now, chance: seededChance(7) });
  await fillFromDatabase(world, database.db, { timeZone: 'UTC' });
  stripeLocal = await startStripeLocal({ world, secretKey: KEY });
  runtime.stripe = createStripeClient(KEY, stripeLocal.url, 10_000);
}, 120_000);

afterAll(async () => {
  await stripeLocal?.close();
  await database?.close();
});

async function run(deps = syncDeps(runtime)): Promise<ReconcileResult> {
  return reconcile(deps, { trigger: 'cli', startedBy: 'test' });
}

function changesOf(runId: number) {
  return database.db
    .select()
    .from(reconciliationChanges)
    .where(eq(reconciliationChanges.run_id, runId))
    .orderBy(asc(reconciliationChanges.id));
}

const invoiceOf = async (stripeId: string) =>
  (await database.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, stripeId)))[0];

/** Stripe's invoices of a status, newest first. */
const stripeInvoices = (status: string) =>
  [...world.invoices.values()].filter((invoice) => invoice.status === status);
const liveSubscriptions = () => [...world.subscriptions.values()].filter((s) => s.status === 'active');

/** Moves both clocks on; Stripe's states are dated by the second. */
const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));

describe('the daily job against a Stripe that holds what we hold', () => {
  test('the first run reads all of history and changes nothing', async () => {
    const first = await run();
    expect(await changesOf(first.runId)).toEqual([]);
    expect(first).toMatchObject({ status: 'completed', changes: 0, failures: 0, stripeSkipped: false });
    expect(first.checked).toBeGreaterThan(1900);
    expect(await database.db.select().from(reconciliationSeen)).toEqual([]);
  });

  test('20 silent changes there are logged and repaired, exactly those, and then nothing', async () => {
    later(3600);
    const open = stripeInvoices('open').filter((invoice) => !invoice.attempted);
    const live = liveSubscriptions();
    const drafts = stripeInvoices('draft');
    const touched = new Set<string>();
    const take = <T extends { id: string }>(from: T[]): string => {
      const found = from.find((object) => !touched.has(object.id));
      if (!found) throw new Error('the world holds too little');
      touched.add(found.id);
      return found.id;
    };
    const changes: string[] = [];
    const begun = world.history.length;
    const change = (what: string, id: string) => changes.push(`${what} ${id}`);
    const renewed: string[] = [];
    for (let i = 0; i < 4; i += 1) change('paid', payInvoice(world, take(open)).object.id);
    for (let i = 0; i < 2; i += 1) change('voided', voidInvoice(world, take(open)).object.id);
    for (let i = 0; i < 2; i += 1) change('failed', failInvoicePayment(world, take(open)).object.id);
    for (let i = 0; i < 1; i += 1) change('finalized', finalizeInvoice(world, take(drafts)).object.id);
    change('draft deleted', deleteDraftInvoice(world, take(drafts)).object.id);
    for (let i = 0; i < 4; i += 1) change('cancelled', cancelSubscription(world, take(live)).object.id);
    for (let i = 0; i < 3; i += 1) {
      const id = take(live);
      updateSubscription(world, id, { cancelAtPeriodEnd: true });
      change('ends', id);
    }
    for (let i = 0; i < 2; i += 1) {
      const id = take(live);
      renewSubscription(world, id);
      renewed.push(id);
      change('renewed', id);
    }
    const customer = [...world.customers.values()][0];
    const created = createStripeInvoice(world, { customer: customer?.id ?? '', lines: [{ amount: 4900 }] });
    change('created', created.object.id);
    expect(changes).toHaveLength(20);

    later(60);
    const second = await run();
    const logged = await changesOf(second.runId);
    expect(second).toMatchObject({ status: 'completed', failures: 0, changes: logged.length });
    // Whatever changed here changed there: the world's own history names it, or the subscription it is in.
    const happened = world.history.slice(begun).map(({ about }) => about.id);
    const items = renewed.flatMap((id) => world.subscriptions.get(id)?.items.map((item) => item.id) ?? []);
    const expected = new Set([...happened, ...items]);
    const strangers = logged.filter(
      (row) => row.entity !== 'customer_service' && !expected.has(row.stripe_id ?? ''),
    );
    expect(strangers).toEqual([]);
    const seen = new Set(logged.map((row) => row.stripe_id));
    for (const id of [...touched, created.object.id]) expect(seen, `${id} ${changes}`).toContain(id);

    for (const entry of changes) {
      const [, what, id] = /^(.*) (\S+)$/.exec(entry) ?? [];
      const fields = logged.filter((row) => row.stripe_id === id).map((row) => `${row.entity}.${row.field}`);
      if (what === 'paid') {
        expect(fields).toEqual(
          expect.arrayContaining(['invoice.status', 'invoice.paid_at', 'payment.created']),
        );
        expect(await invoiceOf(id ?? '')).toMatchObject({ status: 'paid' });
      }
      if (what === 'voided') expect((await invoiceOf(id ?? ''))?.status).toBe('cancelled');
      if (what === 'failed') expect((await invoiceOf(id ?? ''))?.status).toBe('overdue');
      if (what === 'draft deleted') {
        expect(await invoiceOf(id ?? '')).toMatchObject({
          status: 'cancelled',
          provider_gone_at: expect.any(Date),
        });
      }
      if (what === 'ends') {
        expect(fields).toEqual(['subscription.cancel_at_period_end', 'subscription.cancel_at']);
      }
      if (what === 'renewed') expect(fields).toContain('subscription.next_billing_date');
      if (what === 'created') expect(fields).toEqual(['invoice.created']);
    }

    later(60);
    const third = await run();
    expect(await changesOf(third.runId)).toEqual([]);
    expect(third).toMatchObject({ status: 'completed', changes: 0, failures: 0 });
  });

  test('a second run asks for little: what is open, what is recent', async () => {
    const before = stripeLocal.requestCount();
    await run();
    expect(stripeLocal.requestCount() - before).toBeLessThan(40);
  });

  test('our own drift is repaired, and a tombstone is respected', async () => {
    const [sub] = await database.db
      .select()
      .from(subscriptions)
      .where(and(eq(subscriptions.status, 'active'), isNotNull(subscriptions.stripe_subscription_id)));
    await database.db
      .update(subscriptions)
      .set({ next_billing_date: '2020-01-01' })
      .where(eq(subscriptions.id, sub?.id ?? 0));
    const stripePayments = await database.db
      .select()
      .from(payments)
      .where(eq(payments.source, 'stripe'))
      .limit(2);
    const [lost, buried] = stripePayments.map((payment) => payment.payment_reference);
    await database.db.insert(paymentTombstones).values({ reference: buried ?? '' });
    await database.db.delete(payments).where(inArray(payments.payment_reference, [lost ?? '', buried ?? '']));
    later(60);
    const repaired = await changesOf((await run()).runId);
    expect(repaired.map((row) => `${row.entity}.${row.field} ${row.before} → ${row.after}`).sort()).toEqual([
      expect.stringMatching(/^payment.created null → /),
      `subscription.next_billing_date 2020-01-01 → ${sub?.next_billing_date}`,
    ]);
    expect(repaired.find((row) => row.entity === 'payment')?.stripe_id).toBe(lost);
  });

  test('invoices of our own past their due date become overdue', async () => {
    const local = await createInvoice(database.db, {
      status: 'sent',
      due_date: '2026-03-14',
      number: 'LOCAL-DUE',
    });
    const done = await run();
    expect(await changesOf(done.runId)).toMatchObject([
      { entity_id: local.id, field: 'status', before: 'sent', after: 'overdue' },
    ]);
  });

  test('an object that fails is kept for the next run and stops nothing', async () => {
    const paid = payInvoice(world, stripeInvoices('open').filter((i) => !i.attempted)[0]?.id ?? '').object.id;
    later(60);
    stripeLocal.faults.add({
      when: ({ path }) => path === `/v1/invoices/${paid}`,
      times: 6, // the SDK tries three times, and so does the recheck at the end of the run
      fault: { kind: 'status', status: 500 },
    });
    const done = await run();
    expect(done).toMatchObject({ status: 'completed_with_errors', failures: 1 });
    const [failure] = await database.db
      .select()
      .from(reconciliationFailures)
      .where(isNull(reconciliationFailures.resolved_at));
    expect(failure).toMatchObject({ object: 'invoice', stripe_id: paid, error_code: 'stripe_api' });
    later(60);
    expect(await run()).toMatchObject({ status: 'completed', failures: 0 });
    expect((await invoiceOf(paid))?.status).toBe('paid');
    const open = await database.db
      .select()
      .from(reconciliationFailures)
      .where(isNull(reconciliationFailures.resolved_at));
    expect(open).toEqual([]);
  });

  test('an object that failed night after night is fetched once a night', async () => {
    const id = stripeInvoices('paid')[0]?.id ?? '';
    for (const error_code of ['stripe_api', 'stripe_connection', 'unstorable']) {
      const earlier = await run();
      await database.db
        .insert(reconciliationFailures)
        .values({ run_id: earlier.runId, object: 'invoice', stripe_id: id, error_code });
    }
    later(60);
    let asked = 0;
    stripeLocal.faults.add({
      when: ({ path }) => {
        asked += Number(path === `/v1/invoices/${id}`);
        return false;
      },
      fault: { kind: 'status', status: 500 },
    });
    expect(await run()).toMatchObject({ status: 'completed' });
    stripeLocal.faults.clear();
    expect(asked).toBe(1);
  });

  test('a Stripe that does not answer fails the run, but not our own part of it', async () => {
    const local = await createInvoice(database.db, {
      status: 'sent',
      due_date: '2026-03-14',
      number: 'LOCAL-DOWN',
    });
    const down = createStripeClient(KEY, 'http://127.0.0.1:9', 10_000);
    const done = await run({ ...syncDeps(runtime), stripe: down });
    expect(done.status).toBe('failed');
    expect((await changesOf(done.runId)).map((row) => row.entity_id)).toEqual([local.id]);
    const [stored] = await database.db
      .select()
      .from(reconciliationRuns)
      .where(eq(reconciliationRuns.id, done.runId));
    expect(stored).toMatchObject({ error_code: 'stripe_connection', lists_completed: false });
  });

  test('without an API key Stripe is left out, and the run says so', async () => {
    expect(await run({ ...syncDeps(runtime), stripe: null })).toMatchObject({
      status: 'completed',
      stripeSkipped: true,
    });
  });
});

describe('what cannot be done at once', () => {
  test('150 overdue invoices are more than one page', async () => {
    for (let i = 0; i < 150; i += 1) {
      await createInvoice(database.db, { status: 'sent', due_date: '2026-03-14', number: `LATE-${i}` });
    }
    const done = await run();
    expect(await changesOf(done.runId)).toHaveLength(150);
  });

  test('a new invoice that fails at first has no row here, and is still taken by the next run', async () => {
    const [customer] = [...world.customers.values()];
    const { object } = createStripeInvoice(world, { customer: customer?.id ?? '', lines: [{ amount: 700 }] });
    finalizeInvoice(world, object.id);
    failInvoicePayment(world, object.id);
    stripeLocal.faults.add({
      when: ({ path }) => path === `/v1/invoices/${object.id}`,
      times: 6,
      fault: { kind: 'status', status: 503 },
    });
    later(60);
    expect(await run()).toMatchObject({ status: 'completed_with_errors', failures: 1 });
    expect(await invoiceOf(object.id)).toBeUndefined();
    later(30 * 86_400); // long past every window
    expect(await run()).toMatchObject({ status: 'completed', failures: 0 });
    expect(await invoiceOf(object.id)).toMatchObject({
      status: 'overdue',
      payment_failed_at: expect.any(Date),
    });
  });

  test('a run that dies within a page goes through all of that page again', async () => {
    const open = stripeInvoices('open').filter((invoice) => !invoice.attempted);
    const paid = [open[0], open[1]].map((invoice) => payInvoice(world, invoice?.id ?? '').object.id);
    later(60);
    const deps = syncDeps(runtime);
    let applied = 0;
    // The connection is lost at the second object that is changed.
    const dying = watchedDatabase(deps.db, {
      async statement(text, run) {
        if (text.includes('commit_plan') && ++applied === 2) {
          throw Object.assign(new Error('gone'), { code: '57P01' });
        }
        return run();
      },
    });
    await expect(run({ ...deps, db: dying })).rejects.toThrow('gone');
    later(LEASE_MS / 1000 + 1);
    expect(await run()).toMatchObject({ status: 'completed', failures: 0 });
    for (const id of paid) expect((await invoiceOf(id))?.status).toBe('paid');
  });

  test('what died long ago is ended, not resumed', async () => {
    const died = await acquireRun(database.db, runtime.now(), { trigger: 'cron', startedBy: null }, true);
    later(7 * 3600);
    const fresh = await run();
    expect(fresh).toMatchObject({ status: 'completed' });
    const diedId = 'id' in died ? died.id : 0;
    expect(fresh.runId).not.toBe(diedId);
    const [ended] = await database.db
      .select()
      .from(reconciliationRuns)
      .where(eq(reconciliationRuns.id, diedId));
    expect(ended).toMatchObject({ status: 'failed', error_code: 'abandoned' });
  });
});

describe('one run at a time', () => {
  test('of two at once one runs, and the other names it', async () => {
    const [a, b] = await Promise.all([run(), run()]);
    expect([a.status, b.status].sort()).toEqual(['completed', 'running']);
    expect(a.runId).toBe(b.runId);
  });

  test('a run that reaches its deadline goes on with the next call', async () => {
    const deps = syncDeps(runtime);
    let steps = 0;
    const statuses: string[] = [];
    for (let i = 0; i < 100; i += 1) {
      // A clock that passes the deadline at every second page.
      const result = await reconcile(
        { ...deps, now: () => new Date(runtime.now().getTime() + (steps++ % 7 === 6 ? 1000 : 0)) },
        { trigger: 'cron', startedBy: null, deadline: new Date(runtime.now().getTime() + 500) },
      );
      statuses.push(result.status);
      if (result.status !== 'stopped') break;
    }
    expect(statuses.at(-1)).toBe('completed');
    const [last] = await database.db
      .select()
      .from(reconciliationRuns)
      .orderBy(desc(reconciliationRuns.id))
      .limit(1);
    expect(last).toMatchObject({ status: 'completed', phase: 'done', cursor: null });
  });

  test('a run that has failed stays so when it goes on with the next call', async () => {
    const deaf = createStripeClient(KEY, 'http://127.0.0.1:9', 1000);
    let isLate = false;
    const stopped = await reconcile(
      {
        ...syncDeps(runtime),
        stripe: deaf,
        now: () => new Date(runtime.now().getTime() + (isLate ? 1000 : 0)),
      },
      {
        trigger: 'cron',
        startedBy: null,
        deadline: new Date(runtime.now().getTime() + 500),
        onProgress: ({ step }) => {
          isLate = step === 'missing payments';
        },
      },
    );
    expect(stopped.status).toBe('stopped');
    expect(await run()).toMatchObject({ status: 'failed', runId: stopped.runId });
    const [last] = await database.db
      .select()
      .from(reconciliationRuns)
      .where(eq(reconciliationRuns.id, stopped.runId));
    expect(last).toMatchObject({ status: 'failed', lists_completed: false, error_code: 'stripe_connection' });
  });

  test('a run whose process died is taken up once its lease has run out', async () => {
    const died = await acquireRun(database.db, runtime.now(), { trigger: 'cron', startedBy: null }, true);
    expect(await run()).toMatchObject({ status: 'running', alreadyRunning: true });
    later(LEASE_MS / 1000 + 1);
    const resumed = await run();
    expect(resumed).toMatchObject({ status: 'completed', runId: 'id' in died ? died.id : 0 });
  });

  test('a run that is taken over at its very end is the other one’s to finish', async () => {
    await database.db.execute(
      sql`create function keep_running() returns trigger language plpgsql as 'begin return null; end'`,
    );
    await database.db.execute(sql`create trigger taken_over before update on reconciliation_runs for each row
      when (new.status <> 'running') execute function keep_running()`);
    expect(await run()).toMatchObject({ status: 'running', alreadyRunning: true });
    await database.db.execute(sql`drop function keep_running cascade`);
    later(LEASE_MS / 1000 + 1);
    expect(await run()).toMatchObject({ status: 'completed' });
  });

  test('the database itself refuses a second running run', async () => {
    const values = { trigger: 'cli' as const, started_at: START, heartbeat_at: START };
    await database.db.insert(reconciliationRuns).values(values);
    await expect(database.db.insert(reconciliationRuns).values(values)).rejects.toThrow();
    await database.db.execute(sql`delete from reconciliation_runs where status = 'running'`);
  });
});
