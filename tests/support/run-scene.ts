import { and, eq, isNull } from 'drizzle-orm';
import Stripe from 'stripe';
import { beforeAll, expect } from 'vitest';
import { pgErrorCode } from '@/db/database';
import {
  invoices,
  payments,
  reconciliationChanges,
  reconciliationFailures,
  reconciliationRuns,
  subscriptions,
} from '@/db/schema';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { epochNow } from '@/lib/stripe-local/world';
import { type ReconcileResult, reconcile } from '@/lib/sync/reconcile/reconcile';
import { LEASE_MS } from '@/lib/sync/reconcile/run';
import { readRow, readRows } from './database';
import * as create from './factories';
import * as faults from './faults';
import * as act from './stripe-actions';
import type { RequestLogEntry, Fault as StripeFault } from './stripe-server';
import { renderEvent } from './stripe-versions';
import { DAY, typed, useSync } from './sync';

/** The page size at Stripe, small enough that a small account has several pages. */
const PAGE = 5;

/** Returns the id of the object that a request concerns, or undefined for a page of a list of many objects. */
export const subjectOf = ({ path, query }: RequestLogEntry): string | undefined =>
  /^\/v1\/\w+\/(\w+_\w+)$/.exec(path)?.[1] ?? query.customer ?? query.subscription ?? query.invoice;

/**
 * Sets up a database and a Stripe account that have drifted apart, and performs a run that brings them in sync. Each
 * test performs the run again, usually with a fault, and expects the same rows.
 */
export function useRunScene() {
  const sync = useSync({ withKey: true });
  let faulty: faults.FaultyDatabase;
  let restore: () => Promise<void>;
  /** The start of the run. The comparison of rows does not distinguish times within the hour after it. */
  let begin: Date;
  let truth: faults.ComparableRows;
  let passed: string[];
  let requests: RequestLogEntry[];
  let undisturbed: ReconcileResult;

  const run = (db = sync.db, stripe = sync.runtime.stripe) =>
    reconcile(
      { ...sync.deps(), db, stripe, pause: async () => {} },
      { trigger: 'cli', startedBy: 'test', isAccountKnown: true },
    );
  const meaning = async () => faults.toComparableRows(await faults.readRows(sync.db), begin);

  beforeAll(async () => {
    faulty = faults.openFaulty(sync.db);
    sync.runtime.stripe = openClient();
    await drift();
    sync.later(DAY);
    begin = sync.now();
    restore = await faults.keepScene(sync.db);
    faulty.arm();
    const asked = sync.api.requests.length;
    undisturbed = await run(faulty.db);
    passed = faulty.passed();
    requests = sync.api.requests.slice(asked);
    truth = await meaning();
  });

  /** Opens a client with small pages, and without retries by default. */
  function openClient({ timeout = 10_000, maxNetworkRetries = 0 } = {}): Stripe {
    const httpClient = Stripe.createNodeHttpClient();
    const request = httpClient.makeRequest.bind(httpClient);
    httpClient.makeRequest = (host, port, path, ...more) =>
      request(host, port, path.replace('limit=100', `limit=${PAGE}`), ...more);
    const { port } = sync.api;
    const at = { host: '127.0.0.1', port, protocol: 'http' as const };
    return new Stripe('sk_test_local', { ...at, httpClient, telemetry: false, maxNetworkRetries, timeout });
  }

  /** Creates rows by events and a first run, then changes our tables and Stripe so that they differ. */
  async function drift(): Promise<void> {
    const { db, world } = sync;
    const ours = await create.createCustomer(db);
    const metadata = { customer_number: ours.customer_number };
    const customer = act.createCustomer(world, { metadata }).object.id;
    const subscribed = await subscribe(ours.id, customer);
    const [renewed = '', cancelled = '', ending = '', own = '', failed = '', large = ''] = subscribed;
    const { open, drafts, paid } = await invoice(customer);
    expect(await run()).toMatchObject({ status: 'completed', failures: 0 });
    sync.later(10 * DAY); // The next run no longer lists these objects as new.

    act.renewSubscription(world, renewed);
    act.cancelSubscription(world, cancelled);
    act.updateSubscription(world, ending, { cancelAtPeriodEnd: true });
    const items = world.subscriptions.get(large)?.items ?? [];
    act.updateSubscription(world, large, { items: items.map((item) => ({ ...item, quantity: 2 })) });
    const isOwn = eq(subscriptions.stripe_subscription_id, own);
    await db.update(subscriptions).set({ next_billing_date: '2020-01-01' }).where(isOwn);
    act.payInvoice(world, open[0] ?? '');
    act.payInvoice(world, open[1] ?? '', { offStripe: 1000 });
    act.voidInvoice(world, open[2] ?? '');
    const failedEvents = act.failInvoicePayment(world, open[3] ?? '').events;
    act.markUncollectible(world, open[4] ?? '');
    act.updateInvoice(world, open[5] ?? '', { dueDate: epochNow(world) + 40 * DAY });
    act.payInvoicePart(world, open[5] ?? '', 1200);
    act.deleteDraftInvoice(world, drafts[0] ?? '');
    act.finalizeInvoice(world, drafts[1] ?? '');
    await forget(paid, open[6] ?? '', failed);
    await newcomers();
    // These objects do not exist at Stripe.
    await create.createSubscription(db, { customer_id: ours.id, stripe_subscription_id: 'sub_gone' });
    await create.createInvoice(db, { customer_id: ours.id, stripe_invoice_id: 'in_gone', number: 'GONE' });
    await sell(ours.id, customer);
    await keepFailed(typed(failedEvents, 'invoice.payment_failed'));
    await create.createInvoice(db, { status: 'sent', due_date: '2026-03-01', number: 'OWN-DUE' });
  }

  /**
   * Creates six subscriptions and delivers their events. The items of the first two name services. The last has more
   * items than an event contains.
   */
  async function subscribe(customer_id: number, customer: string): Promise<string[]> {
    const made: string[] = [];
    for (let i = 0; i < 6; i += 1) {
      const service = await create.createService(sync.db, { customer_id, next_billing_date: '2026-01-01' });
      const metadata = { service_number: service.service_number };
      const item = { unitAmount: 990, ...(i < 2 && { metadata }) };
      const items = Array.from({ length: i === 5 ? 12 : 1 }, () => item);
      const { object, events } = act.createSubscription(sync.world, { customer, items });
      for (const event of events) await sync.take(event);
      made.push(object.id);
    }
    return made;
  }

  /** Creates drafts, open invoices and a paid invoice. Delivers the finalization of the open ones, and the payment. */
  async function invoice(customer: string) {
    const { world } = sync;
    const draft = (amount: number) => act.createInvoice(world, { customer, lines: [{ amount }] }).object.id;
    const drafts = [draft(1000), draft(2000)];
    const open = Array.from({ length: 7 }, (_, i) => draft(5000 + i));
    for (const id of open) await sync.take(typed(act.finalizeInvoice(world, id).events, 'invoice.finalized'));
    const paid = draft(9000);
    act.finalizeInvoice(world, paid);
    sync.later(5);
    const { events } = act.payInvoice(world, paid);
    await sync.take(typed(events, 'invoice.paid'));
    await sync.take(typed(events, 'invoice.payment_succeeded'));
    return { drafts, open, paid };
  }

  /** Deletes a payment, marks an invoice for a recheck, and records an earlier failure of a subscription. */
  async function forget(paid: string, doubtful: string, failed: string): Promise<void> {
    const { db } = sync;
    await db.delete(payments).where(eq(payments.payment_reference, paid));
    const inDoubt = eq(invoices.stripe_invoice_id, doubtful);
    await db.update(invoices).set({ recheck_at: sync.now() }).where(inDoubt);
    const [earlier] = await readRows(db, reconciliationRuns);
    const failure = { object: 'subscription', stripe_id: failed, error_code: 'stripe_api' } as const;
    await db.insert(reconciliationFailures).values({ run_id: earlier?.id ?? 0, ...failure });
  }

  /**
   * Creates three new Stripe customers: one with the e-mail address of a customer, one that is unknown, and one that
   * names a customer number. Delivers an event of the last, whose first lookup at Stripe fails.
   */
  async function newcomers(): Promise<void> {
    const { db, world } = sync;
    const known = await create.createCustomer(db);
    const byEmail = act.createCustomer(world, { email: known.email }).object.id;
    act.createSubscription(world, { customer: byEmail, items: [{ unitAmount: 700 }] });
    const stranger = act.createCustomer(world, { name: 'Eve', email: 'eve@example.com' }).object.id;
    const { id } = act.createInvoice(world, { customer: stranger, lines: [{ amount: 4900 }] }).object;
    act.finalizeInvoice(world, id);
    const named = await create.createCustomer(db);
    const metadata = { customer_number: named.customer_number };
    const customer = act.createCustomer(world, { metadata }).object.id;
    const stub = act.createSubscription(world, { customer, items: [{ unitAmount: 300 }] }).object.id;
    const first = act.invoiceSubscription(world, stub).object.invoice.id;
    sync.api.faults.add({ fault: { kind: 'status', status: 500 }, times: 1 });
    await sync.take(typed(act.finalizeInvoice(world, first).events, 'invoice.finalized'));
  }

  /** Sells a subscription whose checkout completes without a delivered event. */
  async function sell(customer_id: number, customer: string): Promise<void> {
    const { sold } = await create.createSold(sync.db, { customer_id });
    const input = { customer, items: [{ unitAmount: 500 }], clientReferenceId: String(sold.id) };
    act.completeCheckout(sync.world, act.createCheckoutSession(sync.world, input).id);
  }

  /** Stores an event as failed. */
  async function keepFailed(event: WorldEvent): Promise<void> {
    const { id, type, created, about } = event;
    const payload = JSON.stringify(renderEvent(event, '2026-10-28.endive'));
    const stripe_customer_id = 'customer' in about ? about.customer : null;
    await create.createStoredEvent(sync.db, {
      ...{ id, type, payload, stripe_created: new Date(created * 1000), object_id: about.id },
      ...{ stripe_customer_id, outcome: 'failed', error_code: '55P03' },
    });
  }

  /** Restores the scene to its state before the undisturbed run. */
  async function rewind(): Promise<void> {
    sync.api.faults.clear();
    await restore();
    sync.runtime.setNow(begin);
  }

  /**
   * Expects a run to lead to the expected rows, and its result to match its log.
   *
   * @param changes whether the logged changes must match, too; they may differ for an object that is retried
   */
  async function expectTruth(result: ReconcileResult, where: string, { changes = true } = {}): Promise<void> {
    expect(result, where).toMatchObject({ status: 'completed', failures: 0 });
    const ofRun = eq(reconciliationChanges.run_id, result.runId);
    expect(result.changes, where).toBe(await sync.db.$count(reconciliationChanges, ofRun));
    const found = faults.differences(truth, await meaning());
    const left = changes ? found : found.filter((row) => !row.includes(' reconciliation_changes '));
    expect(left, where).toEqual([]);
  }

  const runOf = (id: number) => readRow(sync.db, reconciliationRuns, id);
  const failuresOf = (runId: number) =>
    sync.db
      .select({ id: reconciliationFailures.stripe_id, code: reconciliationFailures.error_code })
      .from(reconciliationFailures)
      .where(and(eq(reconciliationFailures.run_id, runId), isNull(reconciliationFailures.resolved_at)));

  /** Expects the tables to contain the status of a run and its failures. */
  async function expectNoted({ runId, status, failures }: ReconcileResult, where: string): Promise<void> {
    const row = await runOf(runId);
    expect(row, where).toMatchObject({ status, failures_count: failures });
    expect(await failuresOf(runId), where).toHaveLength(failures);
    if (status === 'failed') expect(row.error_code, where).toMatch(/^\w+$/);
    else expect(row.error_code, where).toBeNull();
    if (status === 'completed_with_errors') expect(failures, where).toBeGreaterThan(0);
    if (status === 'completed') expect(failures, where).toBe(0);
  }

  /** Performs a run whose process dies at a statement. */
  async function die(at: number, where: string): Promise<void> {
    await rewind();
    faulty.arm({ at, how: faults.DEAD });
    await expect(run(faulty.db), where).rejects.toThrow();
    expect(faulty.happened(), where).toBe(true);
  }

  /**
   * Leaves out the differences in reconciliation's own tables and those about the subject. If the subject is a Stripe
   * customer, also leaves out those about its subscriptions and invoices.
   */
  function ofOthers(found: string[], subject: string): string[] {
    const all = [...sync.world.subscriptions.values(), ...sync.world.invoices.values()];
    const own = [subject, ...all.filter(({ customer }) => customer === subject).map(({ id }) => id)];
    const isOwn = (row: string) => own.some((id) => row.includes(id));
    // If a Stripe customer cannot be read, rows without a Stripe id can also differ, such as the customer's own row.
    const isUnnamed = (row: string) => subject.startsWith('cus_') && !/"(cus|sub|si|in|evt)_/.test(row);
    return found.filter((row) => !/^. reconciliation_/.test(row) && !isOwn(row) && !isUnnamed(row));
  }

  return {
    /** Returns the statements and ends of transactions of the undisturbed run. */
    passed: () => passed,
    /** Returns the requests to Stripe of the undisturbed run. */
    requests: () => requests,
    isCheckpoint: (at: number) => passed[at]?.startsWith('update "reconciliation_runs"'),

    /** Repeats the undisturbed run, and expects the same rows. */
    async playUndisturbed(): Promise<void> {
      expect(undisturbed).toMatchObject({ status: 'completed', failures: 0 });
      expect(undisturbed.changes).toBeGreaterThan(30);
      await rewind();
      await expectTruth(await run(), 'undisturbed');
      // All other runs must end with the same rows, so checking once that another run changes nothing is enough.
      sync.later(60);
      expect(await run()).toMatchObject({ status: 'completed', changes: 0, failures: 0 });
    },

    /** Performs a run that dies, and another run that takes over once the lease has expired. */
    async playDeath(at: number): Promise<void> {
      const where = `dead at ${at}: ${passed[at]?.slice(0, 200)}`;
      await die(at, where);
      sync.later(LEASE_MS / 1000 + 1);
      await expectTruth(await run(), where);
    },

    /** Performs a run in which the database refuses one statement, and another run once the lease has expired. */
    async playRefusal(at: number, how: string): Promise<void> {
      const where = `${how} at ${at}: ${passed[at]?.slice(0, 200)}`;
      await rewind();
      faulty.arm({ at, how });
      const result = await run(faulty.db).catch((error: unknown) => {
        expect(pgErrorCode(error), where).toBe(how);
        return null;
      });
      expect(faulty.happened(), where).toBe(true);
      if (result) await expectNoted(result, where);
      if (result?.status === 'completed') await expectTruth(result, where, { changes: false });
      // A run that could not record its end still has the status `running`.
      sync.later(LEASE_MS / 1000 + 1);
      await expectTruth(await run(), where, { changes: false });
    },

    /**
     * Performs a run in which one request to Stripe fails, and another run if the first is incomplete.
     *
     * @returns the status of the first run
     */
    async playStripe(fault: StripeFault, call: number, retries = 0): Promise<ReconcileResult['status']> {
      const where = `${JSON.stringify(fault)} at request ${call}`;
      const timeout = fault.kind === 'timeout' ? 300 : 10_000;
      await rewind();
      const at = sync.api.requestCount() + call;
      // The SDK itself retries once after a reset connection.
      sync.api.faults.add({ fault, when: fault.kind === 'reset' ? [at, at + 1] : [at] });
      const result = await run(sync.db, openClient({ timeout, maxNetworkRetries: retries }));
      await expectNoted(result, where);
      sync.later(60);
      const mended = result.status === 'completed' ? result : await run();
      await expectTruth(mended, where, { changes: false });
      return result.status;
    },

    /** Returns the distinct requests about a single object. */
    callsForOne() {
      const calls = requests.map((request) => `${request.path} ${subjectOf(request)}`);
      return requests.filter((request, i) => subjectOf(request) && calls.indexOf(calls[i] ?? '') === i);
    },

    /** Performs a run in which Stripe fails each request like `call`, and another run if the first has failures. */
    async playRefused(status: 400 | 404 | 500, call: RequestLogEntry): Promise<string> {
      const subject = subjectOf(call) ?? '';
      const where = `${status} for ${call.path} of ${subject}`;
      await rewind();
      const isCall = (one: RequestLogEntry) => one.path === call.path && subjectOf(one) === subject;
      sync.api.faults.add({ fault: { kind: 'status', status }, when: isCall });
      const result = await run();
      const named = await failuresOf(result.runId);
      const { error_code, lists_completed } = await runOf(result.runId);
      expect([error_code, lists_completed], where).toEqual([null, true]);
      expect(ofOthers(faults.differences(truth, await meaning()), subject), where).toEqual([]);
      sync.later(60);
      sync.api.faults.clear();
      const latest = sync.api.requests.at(-1)?.index ?? 0;
      if (result.status === 'completed') {
        expect(named, where).toEqual([]);
        if (status === 404) return result.status; // Stripe reports the object as gone.
        // The run can do without the payment intents of an invoice. The next run learns them.
        expect(call.path, where).toBe('/v1/invoice_payments');
        await expectTruth(await run(), where, { changes: false });
        return result.status;
      }
      expect(result, where).toMatchObject({ status: 'completed_with_errors', failures: 1 });
      expect(named, where).toEqual([{ id: subject, code: expect.stringMatching(/^stripe_/) }]);
      await expectTruth(await run(), where, { changes: false });
      const asked = sync.api.requests.filter(({ index }) => index > latest).map(subjectOf);
      expect(asked, where).toContain(subject);
      return result.status;
    },
  };
}
