import { and, eq, inArray, isNotNull, sql, type Table } from 'drizzle-orm';
import Stripe from 'stripe';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { openPostgres } from '@/db/client';
import { type Database, pgErrorCode, rows } from '@/db/database';
import {
  invoices,
  payments,
  paymentTombstones,
  reconciliationFailures,
  reconciliationRuns,
  reconciliationSeen,
  staffTasks,
  subscriptions,
} from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { parseEnv } from '@/lib/env';
import { checkHealth, listAlerts } from '@/lib/health/check-health';
import { listTasks } from '@/lib/overview/list-tasks';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { createWorld } from '@/lib/stripe-local/world';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { type ReconcileOptions, reconcile } from '@/lib/sync/reconcile/reconcile';
import {
  acquireRun,
  checkpoint,
  LEASE_MS,
  LeaseLostError,
  listRunChanges,
  type Run,
} from '@/lib/sync/reconcile/run';
import { beginDryRun } from '@/lib/sync/reconcile/start';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { listStaffTasks } from '@/lib/tasks/staff-tasks';
import { dumpDatabase, emptyDatabase, readRow, readRows } from '../support/database';
import { withDatabase } from '../support/database-url';
import { createCustomer, createInvoice, createStoredEvent } from '../support/factories';
import * as act from '../support/stripe-actions';
import { renderEvent } from '../support/stripe-versions';
import { DAY, typed, useSync } from '../support/sync';

const sync = useSync({ withKey: true });
const LEASE = LEASE_MS / 1000 + 1;
const NOWHERE = { host: '127.0.0.1', port: 9, protocol: 'http', maxNetworkRetries: 0 } as const;
/** A Stripe client whose connections always fail. */
const deaf = new Stripe('sk_test_deaf', NOWHERE);

// Each test starts from the state that the previous test left. A run takes much longer with the sample data, so only the
// tests that need it use it.
beforeAll(async () => {
  await sync.subscribe(await createCustomer(sync.db), [{}]);
  for (let i = 0; i < 2; i += 1) await sync.collect();
  await sync.bill();
});

const runWith = (deps: Partial<SyncDeps>, options: Partial<ReconcileOptions> = {}) =>
  reconcile({ ...sync.deps(), ...deps }, { trigger: 'cli', startedBy: 'test', ...options });
const logOf = async (runId: number) =>
  (await listRunChanges(sync.db, runId, { page: 1, per_page: 200 })).data;
const runOf = (id: number) => readRow(sync.db, reconciliationRuns, id);
const overdue = (number: string) =>
  createInvoice(sync.db, { status: 'sent', due_date: '2026-03-14', number });
/** Starts a run that no process continues, and returns its id. */
async function dead(): Promise<number> {
  const run = await acquireRun(sync.db, sync.now(), { trigger: 'cron', startedBy: null }, sync.deps());
  return 'id' in run ? run.id : 0;
}

/** Returns Stripe's invoices with a status, in insertion order. */
const stripeInvoices = (status: string) =>
  [...sync.world.invoices.values()].filter((invoice) => invoice.status === status);
/** Returns the id of the first Stripe customer. */
const firstCustomer = () => [...sync.world.customers.values()][0]?.id ?? '';
const BROKEN = { kind: 'status', status: 500, shouldRetry: false } as const;

test('an object that failed in several runs is fetched only once by the next run', async () => {
  const id = stripeInvoices('paid')[0]?.id ?? '';
  for (const error_code of ['stripe_api', 'stripe_connection', 'unstorable']) {
    const { runId: run_id } = await sync.run();
    const failure = { run_id, object: 'invoice' as const, stripe_id: id, error_code };
    await sync.db.insert(reconciliationFailures).values(failure);
  }
  const isFetch = ({ path }: { path: string }) => path === `/v1/invoices/${id}`;
  const before = sync.api.requests.filter(isFetch).length;
  expect(await sync.run()).toMatchObject({ status: 'completed' });
  expect(sync.api.requests.filter(isFetch)).toHaveLength(before + 1);
});

test('an invoice that could not be fetched is stored by a reconciliation run weeks later', async () => {
  const input = { customer: firstCustomer(), lines: [{ amount: 700 }] };
  const { id } = act.createInvoice(sync.world, input).object;
  act.finalizeInvoice(sync.world, id);
  act.failInvoicePayment(sync.world, id);
  // The run requests the invoice twice, because it retries failures, and both requests fail.
  sync.api.faults.add({ when: ({ path }) => path === `/v1/invoices/${id}`, times: 2, fault: BROKEN });
  expect(await sync.run()).toMatchObject({ status: 'completed_with_errors', failures: 1 });
  expect(await sync.invoiceOf(id)).toBeUndefined();
  sync.later(30 * DAY); // The lists of open invoices and of invoices since the last run still contain the invoice.
  expect(await sync.run()).toMatchObject({ status: 'completed', failures: 0 });
  const row = { status: 'overdue', payment_failed_at: expect.any(Date) };
  expect(await sync.invoiceOf(id)).toMatchObject(row);
});

test('a reconciliation run that cannot connect to Stripe fails, but still marks invoices as overdue', async () => {
  const local = await overdue('LOCAL-DOWN');
  const done = await runWith({ stripe: deaf });
  expect(done.status).toBe('failed');
  expect((await logOf(done.runId)).map((row) => row.entity_id)).toEqual([local.id]);
  const stored = { error_code: 'stripe_connection', lists_completed: false };
  expect(await runOf(done.runId)).toMatchObject(stored);
});

test('a reconciliation run repeats a page that Stripe refuses because of its rate limit', async () => {
  const pauses: number[] = [];
  const pause = async (ms: number) => pauses.push(ms);
  const when = ({ path }: { path: string }) => path === '/v1/invoices';
  sync.api.faults.add({ when, fault: { kind: 'status', status: 429 }, times: 2 });
  expect(await runWith({ pause })).toMatchObject({ status: 'completed', changes: 0 });
  sync.api.faults.add({ when, fault: { kind: 'status', status: 429 } });
  expect(await runWith({ pause })).toMatchObject({ status: 'failed' });
  sync.api.faults.clear();
  expect(pauses).toEqual([1000, 2000, 1000, 2000, 4000, 8000]);
});

test('a reconciliation run with the API key of another Stripe account fails before it asks about stored objects', async () => {
  const before = await sync.db.$count(invoices, isNotNull(invoices.provider_gone_at));
  // Only Stripe knows when it collected the rest of an invoice with a credit note, so this payment must stay missing.
  const [lost] = await readRows(sync.db, payments, eq(payments.source, 'stripe'));
  if (!lost) return expect.fail();
  const isIts = eq(invoices.id, lost.invoice_id);
  await sync.db.update(invoices).set({ amount_credited: '1' }).where(isIts);
  await sync.db.delete(payments).where(eq(payments.id, lost.id));
  const asked: string[] = [];
  const when = ({ path }: { path: string }) => asked.push(path) > 0;
  sync.api.faults.add({ when, fault: { kind: 'status', status: 404 } });
  const { status, runId, changes } = await runWith({});
  sync.api.faults.clear();
  expect([status, changes]).toEqual(['failed', 0]);
  expect(await runOf(runId)).toMatchObject({ error_code: 'other_account', lists_completed: false });
  expect(asked.every((path) => path.startsWith('/v1/customers/'))).toBe(true);
  expect(await sync.db.$count(invoices, isNotNull(invoices.provider_gone_at))).toBe(before);
  const failures = await readRows(sync.db, reconciliationFailures, eq(reconciliationFailures.run_id, runId));
  expect(failures).toMatchObject([{ stripe_id: lost.payment_reference, error_code: 'other_account' }]);
  await sync.db.update(invoices).set({ amount_credited: '0' }).where(isIts);
});

test('a reconciliation run without an API key skips Stripe', async () => {
  const done = await sync.run({ withKey: false });
  expect(done).toMatchObject({ status: 'completed', stripeSkipped: true });
});

test.each(['began', 'was continued'])(
  'a reconciliation run that %s without an API key has not read all lists',
  async (how) => {
    const request = { trigger: 'cron', startedBy: null } as const;
    const take = async (stripe: SyncDeps['stripe']) =>
      (await acquireRun(sync.db, sync.now(), request, { ...sync.deps(), stripe })) as Run;
    let run = await take(how === 'began' ? null : sync.deps().stripe);
    sync.later(LEASE);
    if (how === 'was continued') run = await take(null);
    await checkpoint(sync.db, run, sync.now(), { cursor: 'missing payments\n' });
    sync.later(LEASE);
    expect(await sync.run()).toMatchObject({ runId: run.id, status: 'completed', stripeSkipped: true });
    expect(await runOf(run.id)).toMatchObject({ lists_completed: false });
  },
);

test('a reconciliation run reads from the last complete run that the clock has reached', async () => {
  const { runId } = await sync.run();
  const { started_at } = await runOf(runId);
  await sync.db.insert(reconciliationRuns).values({
    ...{ trigger: 'cron', status: 'completed', lists_completed: true },
    ...{ started_at: new Date('2100-01-01'), heartbeat_at: new Date('2100-01-01') },
  });
  try {
    const next = await sync.run();
    const window_from = new Date(started_at.getTime() - 3 * 86_400_000);
    expect(await runOf(next.runId)).toMatchObject({ window_from });
  } finally {
    await sync.db.delete(reconciliationRuns).where(eq(reconciliationRuns.started_at, new Date('2100-01-01')));
  }
});

describe('the time zone of the Stripe account', () => {
  const alertsIn = async (timeZone: string) => {
    const { alerts } = await listAlerts(sync.db, sync.now(), { ...parseEnv({}), timeZone });
    return alerts.filter(({ code }) => code === 'time_zone_differs');
  };

  test('a Stripe account in another time zone than APP_TIMEZONE raises an alert until both agree', async () => {
    sync.world.timeZone = 'America/New_York';
    const { runId, status, changes } = await sync.run();
    expect([status, changes]).toEqual(['completed', 1]);
    expect(await logOf(runId)).toMatchObject([
      { entity: 'account', stripe_id: 'acct_local', before: 'UTC', after: 'America/New_York' },
    ]);
    const differs = /time zone America\/New_York, but dates here are in UTC, .* Set APP_TIMEZONE/;
    const told = { code: 'time_zone_differs', message: expect.stringMatching(differs), run_id: runId };
    expect(await alertsIn('UTC')).toEqual([told]);
    expect(await alertsIn('America/New_York')).toEqual([]);
    expect((await checkHealth({ ...sync.runtime, now: sync.now })).status).toBe('ok');
    expect(await listTasks(sync.db, sync.now(), sync.runtime.env)).toContainEqual(told);
    sync.world.timeZone = 'Etc/UTC';
    await sync.run();
    expect(await alertsIn('UTC')).toEqual([]);
  });

  test.each([
    ['may not be read with the API key', 'America/New_York', { kind: 'status', status: 403 }],
    ['is answered with an HTML page', 'America/New_York', { kind: 'garbage' }],
    ['is unknown', 'Mars/Phobos', null],
    ['is empty', '', null],
  ] as const)(
    'a reconciliation run completes without an alert if the Stripe account’s time zone %s',
    async (_, timeZone, fault) => {
      sync.world.timeZone = timeZone;
      if (fault) sync.api.faults.add({ when: ({ path }) => path === '/v1/account', fault });
      expect(await sync.run()).toMatchObject({ status: 'completed', changes: 0, failures: 0 });
      expect(await alertsIn('UTC')).toEqual([]);
      sync.api.faults.clear();
      sync.world.timeZone = 'Etc/UTC';
    },
  );
});

describe('a single run at a time', () => {
  test('a reconciliation run that reaches its deadline within a page is continued with the other objects of the page', async () => {
    const made = [1, 2, 3].map(() => {
      const customer = act.createCustomer(sync.world).object.id;
      return act.createInvoice(sync.world, { customer, lines: [{ amount: 990 }] }).object.id;
    });
    const stored = () => sync.db.$count(invoices, inArray(invoices.stripe_invoice_id, made));
    let isLate = false;
    const when = ({ path }: { path: string }) => {
      isLate ||= path.startsWith('/v1/customers/');
      return false;
    };
    sync.api.faults.add({ when, fault: BROKEN });
    const now = () => new Date(sync.now().getTime() + (isLate ? 1000 : 0));
    const deadline = new Date(sync.now().getTime() + 500);
    const { status, runId } = await runWith({ now }, { deadline, isAccountKnown: true });
    sync.api.faults.clear();
    expect([status, await stored()]).toEqual(['stopped', 1]);
    expect(await sync.run()).toMatchObject({ status: 'completed', runId });
    expect(await stored()).toBe(3);
  });

  /** Starts a run that its deadline stops after the steps for subscriptions and invoices, before the refunds. */
  async function stopBehindLists(deps: Partial<SyncDeps> = {}): Promise<number> {
    let isLate = false;
    const now = () => new Date(sync.now().getTime() + (isLate ? 1000 : 0));
    const onProgress: ReconcileOptions['onProgress'] = ({ step }) => {
      isLate = step === 'missing payments';
    };
    const deadline = new Date(sync.now().getTime() + 500);
    const { status, runId } = await runWith({ ...deps, now }, { deadline, onProgress });
    expect(status).toBe('stopped');
    return runId;
  }

  test('a reconciliation run in which a step failed ends as failed when it is continued', async () => {
    const runId = await stopBehindLists({ stripe: deaf });
    expect(await sync.run()).toMatchObject({ status: 'failed', runId });
    const failed = { status: 'failed', lists_completed: false, error_code: 'stripe_connection' };
    expect(await runOf(runId)).toMatchObject(failed);
  });

  test('a reconciliation run that is denied the invoice list fails, but still reads refunds', async () => {
    const { id = '' } = stripeInvoices('paid').find(({ charge }) => charge !== null) ?? {};
    act.refundPayment(sync.world, { invoice: id });
    const when = ({ path }: { path: string }) => path === '/v1/invoices';
    sync.api.faults.add({ when, fault: { kind: 'status', status: 403 } });
    const runId = await stopBehindLists();
    sync.api.faults.clear();
    expect(await sync.run()).toMatchObject({ status: 'failed', runId });
    expect(await sync.paymentOf(id)).toMatchObject({ status: 'refunded' });
    const code = expect.stringMatching(/^stripe_/);
    const denied = { lists_completed: false, error_code: code, denied_code: code };
    expect(await runOf(runId)).toMatchObject(denied);
    await sync.bringInSync();
  });

  test('a reconciliation run whose process died is continued once its lease has expired', async () => {
    const runId = await dead();
    expect(await sync.run()).toMatchObject({ status: 'running', alreadyRunning: true });
    sync.later(LEASE);
    expect(await sync.run()).toMatchObject({ status: 'completed', runId });
  });

  test('a reconciliation run keeps its lease while Stripe answers the questions about one object slowly', async () => {
    const customer = act.createCustomer(sync.world).object.id;
    // Stripe's list contains only ten lines of an invoice.
    act.createInvoice(sync.world, { customer, lines: Array.from({ length: 11 }, () => ({ amount: 990 })) });
    const others: ReturnType<typeof runWith>[] = [];
    const when = ({ path }: { path: string }) => {
      if (!/customers|lines/.test(path)) return false;
      sync.later(LEASE - 60);
      others.push(runWith({}));
      return false;
    };
    sync.api.faults.add({ when, fault: BROKEN });
    expect(await sync.run()).toMatchObject({ status: 'completed' });
    sync.api.faults.clear();
    const running = { status: 'running', alreadyRunning: true };
    expect(await Promise.all(others)).toMatchObject([running, running]);
  });

  test('an event keeps its stored error if its retry loses the lease of the reconciliation run', async () => {
    const customer = act.createCustomer(sync.world).object.id; // Sync does not know it, so the retry asks Stripe.
    const { object } = act.createInvoice(sync.world, { customer, lines: [{ amount: 990 }] });
    const { events } = act.finalizeInvoice(sync.world, object.id);
    const { id, ...finalized } = typed(events, 'invoice.finalized');
    const payload = JSON.stringify(renderEvent({ id, ...finalized }, '2026-10-28.endive'));
    await createStoredEvent(sync.db, { id, payload, outcome: 'failed', error_code: '40P01' });
    const afterQuestion = () => Promise.reject(new LeaseLostError('taken over'));
    await expect(replayEvent({ ...sync.deps(), afterQuestion }, id)).rejects.toThrow(LeaseLostError);
    expect(await sync.eventOf(id)).toMatchObject({ outcome: 'failed', error_code: '40P01', attempts: 1 });
    await sync.bringInSync();
  });

  test('a reconciliation run whose process died hours ago is ended as abandoned', async () => {
    const died = await dead();
    await sync.db.insert(reconciliationSeen).values({ run_id: died, stripe_id: 'in_seen' });
    sync.later(7 * 3600);
    const fresh = await sync.run();
    expect(fresh).toMatchObject({ status: 'completed' });
    expect(fresh.runId).not.toBe(died);
    expect(await runOf(died)).toMatchObject({ status: 'failed', error_code: 'abandoned' });
    expect(await sync.db.select().from(reconciliationSeen)).toEqual([]);
  });

  test('a process that loses its reconciliation run to another process does not finish the run', async () => {
    const { db } = sync;
    const running = eq(reconciliationRuns.status, 'running');
    const count = async (table: Table) => {
      const isLast = table === reconciliationFailures;
      if (isLast) await db.update(reconciliationRuns).set({ heartbeat_at: sync.now() }).where(running);
      return db.$count(table);
    };
    const taken = new Proxy(db, {
      get: (from, name) => (name === '$count' ? count : Reflect.get(from, name, from)),
    });
    // Start the run one second earlier, so that the heartbeats of the two processes differ.
    const at = new Date(sync.now().getTime() - 1000);
    const result = await runWith({ db: taken, now: () => at });
    expect(result).toMatchObject({ status: 'running', alreadyRunning: true });
    sync.later(LEASE);
    expect(await sync.run()).toMatchObject({ status: 'completed', runId: result.runId });
  });

  test('the database refuses a second reconciliation run with the status running', async () => {
    const values = { trigger: 'cli' as const, started_at: sync.now(), heartbeat_at: sync.now() };
    await sync.db.insert(reconciliationRuns).values(values);
    await expect(sync.db.insert(reconciliationRuns).values(values)).rejects.toThrow();
    await sync.db.delete(reconciliationRuns).where(eq(reconciliationRuns.status, 'running'));
  });
});

describe('a changed APP_TIMEZONE', () => {
  const runIn = (timeZone: string) => runWith({ timeZone, stripe: null });
  const tasks = async () =>
    (await listStaffTasks(sync.db, { kind: 'time_zone_changed' })).map(({ message }) => message);
  const told = (from: string, to: string, run: number) =>
    expect.stringContaining(
      `APP_TIMEZONE was changed from ${from} to ${to} after reconciliation run ${run}. `,
    );

  test('a reconciliation run creates one task each time that APP_TIMEZONE changes to a zone with other days', async () => {
    const { runId } = await runIn('UTC');
    expect(await runOf(runId)).toMatchObject({ time_zone: 'UTC' });
    await runIn('Etc/GMT');
    expect(await tasks()).toEqual([]);
    const { runId: last } = await runIn('UTC');
    const changed = await runIn('America/New_York');
    expect(await runOf(changed.runId)).toMatchObject({ time_zone: 'America/New_York' });
    const first = told('UTC', 'America/New_York', last);
    expect(await tasks()).toEqual([first]);
    const { runId: third } = await runIn('America/New_York');
    expect(await tasks()).toHaveLength(1);
    await runIn('UTC');
    expect(await tasks()).toEqual([told('America/New_York', 'UTC', third), first]);
  });

  test('a reconciliation run compares APP_TIMEZONE with the last finished run, not with an abandoned one', async () => {
    await sync.db.delete(staffTasks);
    const abandoned = eq(reconciliationRuns.id, await dead());
    await sync.db.update(reconciliationRuns).set({ time_zone: 'Asia/Tokyo' }).where(abandoned);
    sync.later(7 * 3600);
    await runIn('Asia/Tokyo');
    expect(await tasks()).toEqual([expect.stringContaining('from UTC to Asia/Tokyo')]);
    await runIn('UTC');
    await sync.db.delete(staffTasks);
  });
});

describe('reconciliation of the sample data', () => {
  beforeAll(async () => {
    sync.runtime.setNow(new Date('2026-03-15T12:00:00Z'));
    await emptyDatabase(sync.db);
    Object.assign(sync.world, createWorld(sync.world));
    await seedDatabase(sync.db, { today: '2026-03-15', timeZone: 'UTC' });
    await fillFromDatabase(sync.world, sync.db, { timeZone: 'UTC' });
  });

  /** Returns open invoices without a payment attempt. */
  const unpaid = () => stripeInvoices('open').filter((invoice) => !invoice.attempted);
  const live = () => [...sync.world.subscriptions.values()].filter((one) => one.status === 'active');

  test('the first reconciliation run changes nothing if Stripe and the database have the same records', async () => {
    const first = await sync.run();
    expect(await sync.changesOf(first)).toEqual([]);
    expect(first).toMatchObject({ status: 'completed', changes: 0, failures: 0, stripeSkipped: false });
    expect(first.checked).toBeGreaterThan(1900);
    expect(await sync.db.select().from(reconciliationSeen)).toEqual([]);
  });

  test('a reconciliation run applies 20 changes at Stripe that had no event, and the next run changes nothing and sends fewer than 40 requests', async () => {
    const { world } = sync;
    sync.later(3600);
    const [open, active, drafts] = [unpaid(), live(), stripeInvoices('draft')];
    const begun = world.history.length;
    const changed: [string, string][] = [];
    const change = (what: string, count: number, from: { id: string }[], make: (id: string) => unknown) => {
      for (const { id } of from.splice(0, count)) {
        make(id);
        changed.push([what, id]);
      }
    };
    change('paid', 4, open, (id) => act.payInvoice(world, id));
    change('voided', 2, open, (id) => act.voidInvoice(world, id));
    change('failed', 2, open, (id) => act.failInvoicePayment(world, id));
    change('finalized', 1, drafts, (id) => act.finalizeInvoice(world, id));
    change('draft deleted', 1, drafts, (id) => act.deleteDraftInvoice(world, id));
    change('cancelled', 4, active, (id) => act.cancelSubscription(world, id));
    change('ends', 3, active, (id) => act.updateSubscription(world, id, { cancelAtPeriodEnd: true }));
    const renewed = active.slice(0, 2).flatMap(({ items }) => items.map(({ id }) => id));
    change('renewed', 2, active, (id) => act.renewSubscription(world, id));
    const input = { customer: firstCustomer(), lines: [{ amount: 4900 }] };
    changed.push(['created', act.createInvoice(world, input).object.id]);
    expect(changed).toHaveLength(20);

    const second = await sync.run();
    const logged = await logOf(second.runId);
    expect(second).toMatchObject({ status: 'completed', failures: 0, changes: logged.length });
    // Each changed object is in the history of the simulated Stripe, or is an item of a renewed subscription.
    const expected = new Set([...world.history.slice(begun).map(({ about }) => about.id), ...renewed]);
    const ofStripe = logged.filter(({ entity }) => entity !== 'customer_service');
    expect(ofStripe.filter(({ stripe_id }) => !expected.has(stripe_id ?? ''))).toEqual([]);

    for (const [what, id] of changed) {
      const fields = logged.filter((row) => row.stripe_id === id).map((row) => `${row.entity}.${row.field}`);
      expect(fields, `${what} ${id}`).toEqual(FIELDS[what] ?? expect.arrayContaining([expect.any(String)]));
      const row = ROWS[what];
      if (row) expect(await sync.invoiceOf(id), what).toMatchObject(row);
    }

    const before = sync.api.requestCount();
    const third = await sync.run();
    expect(sync.api.requestCount() - before).toBeLessThan(40);
    expect(await sync.changesOf(third)).toEqual([]);
    expect(third).toMatchObject({ status: 'completed', changes: 0, failures: 0 });
  });

  const FIELDS: Record<string, unknown> = {
    paid: expect.arrayContaining(['invoice.status', 'invoice.paid_at', 'payment.created']),
    ends: ['subscription.cancel_at_period_end', 'subscription.cancel_at'],
    renewed: expect.arrayContaining(['subscription.next_billing_date']),
    created: ['invoice.created'],
  };
  const ROWS: Record<string, object> = {
    paid: { status: 'paid' },
    voided: { status: 'cancelled' },
    failed: { status: 'overdue' },
    'draft deleted': { status: 'cancelled', provider_gone_at: expect.any(Date) },
  };

  test('a reconciliation run restores a changed billing date, and a missing payment unless staff deleted it', async () => {
    const isLive = and(eq(subscriptions.status, 'active'), isNotNull(subscriptions.stripe_subscription_id));
    const [sub] = await readRows(sync.db, subscriptions, isLive);
    const outdated = { next_billing_date: '2020-01-01' };
    await sync.db
      .update(subscriptions)
      .set(outdated)
      .where(eq(subscriptions.id, sub?.id ?? 0));
    const found = await readRows(sync.db, payments, eq(payments.source, 'stripe'));
    const [lost = '', deleted = ''] = found.map((payment) => payment.payment_reference);
    await sync.db.insert(paymentTombstones).values({ reference: deleted });
    await sync.db.delete(payments).where(inArray(payments.payment_reference, [lost, deleted]));
    const repaired = await logOf((await sync.run()).runId);
    expect(repaired.map((row) => `${row.entity}.${row.field} ${row.before} → ${row.after}`).sort()).toEqual([
      expect.stringMatching(/^payment.created null → /),
      `subscription.next_billing_date 2020-01-01 → ${sub?.next_billing_date}`,
    ]);
    expect(repaired.find((row) => row.entity === 'payment')?.stripe_id).toBe(lost);
  });

  test('one reconciliation run marks 150 invoices as overdue', async () => {
    const { id: customer_id } = await createCustomer(sync.db);
    const late = { customer_id, status: 'sent', invoice_date: '2026-03-01', due_date: '2026-03-14' } as const;
    const sums = { subtotal: '100', tax: '19', total: '119', amount_due: '119' };
    const made = Array.from({ length: 150 }, (_, i) => ({ ...late, ...sums, number: `LATE-${i}` }));
    await sync.db.insert(invoices).values(made);
    const changed = Array(150).fill(['invoice', 'status', 'sent', 'overdue', 'fixed']);
    expect(await sync.changesOf(await sync.run())).toEqual(changed);
  });

  test('a reconciliation run that reaches its deadline is continued by later calls', async () => {
    let steps = 0;
    // This clock passes the deadline at every seventh call.
    const now = () => new Date(sync.now().getTime() + (steps++ % 7 === 6 ? 1000 : 0));
    const deadline = new Date(sync.now().getTime() + 500);
    const { status, runId } = await runWith({ now }, { deadline });
    expect(status).toBe('stopped');
    let last = { status, runId };
    for (let calls = 1; last.status === 'stopped' && calls < 100; calls += 1) {
      last = await runWith({ now }, { deadline });
      expect(last.runId).toBe(runId);
    }
    expect(await runOf(runId)).toMatchObject({ status: 'completed', phase: 'done', cursor: null });
  });

  async function perform(db: Database) {
    const result = await runWith({ db });
    const { data } = await listRunChanges(db, result.runId, { page: 1, per_page: 100 });
    const changes = data.map((one) => [
      one.entity,
      one.entity_id,
      one.field,
      one.before,
      one.after,
      one.outcome,
    ]);
    return { result: { ...result, runId: 0 }, changes };
  }

  /** Opens a connection for a dry run. An embedded database has only one connection, so `end` resets it. */
  async function openScratch(): Promise<{ db: Database; end(): Promise<void> }> {
    const server = inject('postgres');
    const { db } = sync;
    if (!server) {
      return {
        db,
        async end() {
          await db.execute(sql`discard temp`);
          await db.execute(sql`discard plans`); // Cached plans refer to the temporary tables.
          await db.execute(sql`set default_transaction_read_only = off`);
        },
      };
    }
    const [row] = await rows<{ name: string }>(db, sql`select current_database()::text as name`);
    const handle = openPostgres(withDatabase(server.url, row?.name ?? ''), { scratch: true });
    return { db: handle.db, end: handle.close };
  }

  test('a dry run of the reconciliation reports the changes of the next run without writing', async () => {
    for (const [i, { id }] of unpaid().slice(0, 6).entries()) {
      if (i % 2 === 0) act.payInvoice(sync.world, id);
      else act.voidInvoice(sync.world, id);
    }
    for (const { id } of live().slice(0, 4)) act.cancelSubscription(sync.world, id);
    sync.later(60);
    const before = await dumpDatabase(sync.db);
    const scratch = await openScratch();
    const performDry = async () => {
      await beginDryRun({ db: scratch.db, now: sync.now });
      const told = await perform(scratch.db);
      // Tables without a temporary copy cannot be written.
      const outside = await scratch.db.execute(sql`update audit_log set action = action`).catch(pgErrorCode);
      expect(outside).toBe('25006'); // The error is the SQLSTATE read_only_sql_transaction.
      return told;
    };
    const told = await performDry().finally(scratch.end);
    expect(await dumpDatabase(sync.db)).toEqual(before);

    const done = await perform(sync.db);
    expect(told.changes.length).toBeGreaterThan(10);
    expect(told).toEqual(done);
  });
});
