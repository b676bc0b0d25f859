import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import { type Database, pgErrorCode } from '@/db/database';
import {
  invoices,
  payments,
  reconciliationChanges,
  reconciliationFailures,
  reconciliationRuns,
  reconciliationSeen,
  stripeEvents,
  subscriptions,
} from '@/db/schema';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { RequestLogEntry, Fault as StripeFault } from '@/lib/stripe-local/faults';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, epochNow, type World } from '@/lib/stripe-local/world';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { LEASE_MS } from '@/lib/sync/reconcile/lease';
import { type ReconcileResult, reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { createTestDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { DEAD, type FaultyDatabase, openFaulty } from '../support/faults-database';
import { differences, keepScene, type Meaning, meaningOf, readRows } from '../support/faults-scene';
import { type TestRuntime, testRuntime } from '../support/runtime';

const KEY = 'sk_test_runs';
const VERSION = '2026-10-28.endive';
const DAY = 86_400;
/** So few a page that a world of a few objects has several pages. */
const PAGE = 5;
/** Of a run's many statements and requests every so many-th is tried: all of them take five minutes. */
const STRIDE = 27;
const REQUEST_STRIDE = 3;

let database: DatabaseHandle;
let faulty: FaultyDatabase;
let runtime: TestRuntime;
let world: World;
let stripeLocal: StripeLocal;
let restore: () => Promise<void>;
/** When the runs begin: all that they stamp is later. */
let begin: Date;
/** Where an undisturbed run leads to. */
let truth: Meaning;
/** What an undisturbed run does: its statements, and what it asks Stripe. */
let passed: string[];
let requests: RequestLogEntry[];
let undisturbed: ReconcileResult;

const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));
const run = (db: Database = database.db, stripe = runtime.stripe) =>
  reconcile({ ...syncDeps(runtime), db, stripe }, { trigger: 'cli', startedBy: 'test' });
const meaning = async () => meaningOf(await readRows(database.db), begin);

beforeAll(async () => {
  database = await createTestDatabase();
  faulty = openFaulty(database);
  runtime = testRuntime(database.db);
  world = createWorld({ now: runtime.now, chance: seededChance(23) });
  stripeLocal = await startStripeLocal({ world, secretKey: KEY });
  runtime.stripe = openClient();
  await drift();
  later(DAY);
  begin = runtime.now();
  restore = await keepScene(database.db);
  faulty.arm();
  const asked = stripeLocal.requests.length;
  undisturbed = await run(faulty.db);
  passed = faulty.passed();
  requests = stripeLocal.requests.slice(asked);
  truth = await meaning();
});
afterAll(async () => {
  await stripeLocal?.close();
  await database?.close();
});

/** Asks for small pages, and asks again only where it is told to. */
function openClient({ timeout = 10_000, maxNetworkRetries = 0 } = {}): Stripe {
  const httpClient = Stripe.createNodeHttpClient();
  const request = httpClient.makeRequest.bind(httpClient);
  httpClient.makeRequest = (host, port, path, ...more) =>
    request(host, port, path.replace('limit=100', `limit=${PAGE}`), ...more);
  return new Stripe(KEY, {
    httpClient,
    host: '127.0.0.1',
    port: stripeLocal.port,
    protocol: 'http',
    telemetry: false,
    maxNetworkRetries,
    timeout,
  });
}

/** What we hold comes into being, as told and as a first run finds it; then both sides change silently. */
async function drift(): Promise<void> {
  const ours = await createCustomer(database.db);
  const stripeCustomer = act.createCustomer(world, {
    metadata: { customer_number: ours.customer_number },
  }).object.id;
  const subscribed = await subscribe(ours.id, stripeCustomer);
  const invoiced = await invoice(stripeCustomer);
  expect(await run()).toMatchObject({ status: 'completed', failures: 0 });
  later(10 * DAY); // out of the window in which all that is new is listed

  const [renewed = '', cancelled = '', ending = '', own = '', failed = '', large = ''] = subscribed;
  act.renewSubscription(world, renewed);
  act.cancelSubscription(world, cancelled);
  act.updateSubscription(world, ending, { cancelAtPeriodEnd: true });
  const items = world.subscriptions.get(large)?.items ?? [];
  act.updateSubscription(world, large, { items: items.map((item) => ({ ...item, quantity: 2 })) });
  await database.db
    .update(subscriptions)
    .set({ next_billing_date: '2020-01-01' })
    .where(eq(subscriptions.stripe_subscription_id, own));
  const { open, drafts } = invoiced;
  act.payInvoice(world, open[0] ?? '');
  act.payInvoice(world, open[1] ?? '', { offStripe: 1000 });
  act.voidInvoice(world, open[2] ?? '');
  const told = act.failInvoicePayment(world, open[3] ?? '').events;
  act.markUncollectible(world, open[4] ?? '');
  act.updateInvoice(world, open[5] ?? '', { dueDate: epochNow(world) + 40 * DAY });
  act.payInvoicePart(world, open[5] ?? '', 1200);
  act.deleteDraftInvoice(world, drafts[0] ?? '');
  act.finalizeInvoice(world, drafts[1] ?? '');
  await forget(invoiced.paid, open[6] ?? '', failed);
  await newcomers();
  await gone(ours.id);
  await sell(ours.id, stripeCustomer);
  const [event] = typed(told, 'invoice.payment_failed');
  if (event) await database.db.insert(stripeEvents).values(failedEvent(event));
  await createInvoice(database.db, { status: 'sent', due_date: '2026-03-01', number: 'OWN-DUE' });
}

const typed = (events: WorldEvent[], type: string) => events.filter((event) => event.type === type);

/** Hands an event over, as a delivery would. */
async function take(event: WorldEvent | undefined): Promise<void> {
  if (!event) throw new Error('nothing happened');
  const payload = JSON.stringify(renderEvent(event, VERSION));
  const parsed = toProviderEvent(JSON.parse(payload));
  if (!parsed) throw new Error('the world renders events');
  await handleEvent(syncDeps(runtime), parsed, payload);
}

/** Six subscriptions that we were told of, the first two of services, the last of more items than are shown. */
async function subscribe(customer_id: number, customer: string): Promise<string[]> {
  const made: string[] = [];
  for (let i = 0; i < 6; i += 1) {
    const service = await createService(database.db, { customer_id, next_billing_date: '2026-01-01' });
    const metadata = { service_number: service.service_number };
    const item = { unitAmount: 990, ...(i < 2 && { metadata }) };
    const items = Array.from({ length: i === 5 ? 12 : 1 }, () => item);
    const { object, events } = act.createSubscription(world, { customer, items });
    for (const event of events) await take(event);
    made.push(object.id);
  }
  return made;
}

/** Invoices that we were told of: open ones and a paid one; and drafts, of which nobody tells. */
async function invoice(customer: string) {
  const draft = (amount: number) => act.createInvoice(world, { customer, lines: [{ amount }] }).object.id;
  const drafts = [draft(1000), draft(2000)];
  const open = Array.from({ length: 7 }, (_, i) => draft(5000 + i));
  for (const id of open) {
    const { events } = act.finalizeInvoice(world, id);
    await take(typed(events, 'invoice.finalized')[0]);
  }
  const paid = draft(9000);
  act.finalizeInvoice(world, paid);
  later(5);
  const { events } = act.payInvoice(world, paid);
  await take(typed(events, 'invoice.paid')[0]);
  await take(typed(events, 'invoice.payment_succeeded')[0]);
  return { drafts, open, paid };
}

/** A payment is lost, an invoice is in doubt, and a subscription failed in an earlier run. */
async function forget(paid: string, doubtful: string, failed: string): Promise<void> {
  const { db } = database;
  await db.delete(payments).where(eq(payments.payment_reference, paid));
  await db
    .update(invoices)
    .set({ recheck_at: runtime.now() })
    .where(eq(invoices.stripe_invoice_id, doubtful));
  const [earlier] = await db.select().from(reconciliationRuns);
  await db.insert(reconciliationFailures).values({
    run_id: earlier?.id ?? 0,
    object: 'subscription',
    stripe_id: failed,
    error_code: 'stripe_api',
  });
}

/** Three customers of Stripe's: ours by its e-mail, nobody's, and one that could not be asked for. */
async function newcomers(): Promise<void> {
  const known = await createCustomer(database.db);
  const byEmail = act.createCustomer(world, { email: known.email }).object.id;
  act.createSubscription(world, { customer: byEmail, items: [{ unitAmount: 700 }] });
  const stranger = act.createCustomer(world, { name: 'Eve', email: 'eve@example.com' }).object.id;
  const { id } = act.createInvoice(world, { customer: stranger, lines: [{ amount: 4900 }] }).object;
  act.finalizeInvoice(world, id);
  const named = await createCustomer(database.db);
  const metadata = { customer_number: named.customer_number };
  const customer = act.createCustomer(world, { metadata }).object.id;
  const stub = act.createSubscription(world, { customer, items: [{ unitAmount: 300 }] }).object.id;
  const first = act.invoiceSubscription(world, stub).object.invoice.id;
  stripeLocal.faults.add({ fault: { kind: 'status', status: 500 }, times: 1 });
  await take(typed(act.finalizeInvoice(world, first).events, 'invoice.finalized')[0]);
}

/** Stripe has never heard of them. */
async function gone(customer_id: number): Promise<void> {
  await createSubscription(database.db, { customer_id, stripe_subscription_id: 'sub_gone' });
  await createInvoice(database.db, { customer_id, stripe_invoice_id: 'in_gone', number: 'GONE' });
}

/** A subscription of ours whose completed checkout nobody told. */
async function sell(customer_id: number, customer: string): Promise<void> {
  const sold = await createSubscription(database.db, {
    customer_id,
    status: 'incomplete',
    stripe_subscription_id: null,
  });
  const { id: customer_service_id } = await createService(database.db, { customer_id });
  await createSubscriptionItem(database.db, {
    subscription_id: sold.id,
    customer_service_id,
    stripe_subscription_item_id: null,
  });
  const session = act.createCheckoutSession(world, {
    customer,
    items: [{ unitAmount: 500 }],
    clientReferenceId: String(sold.id),
  });
  act.completeCheckout(world, session.id);
}

function failedEvent(event: WorldEvent): typeof stripeEvents.$inferInsert {
  return {
    id: event.id,
    type: event.type,
    api_version: VERSION,
    livemode: false,
    stripe_created: new Date(event.created * 1000),
    object_id: event.about.id,
    stripe_customer_id: 'customer' in event.about ? event.about.customer : null,
    payload: JSON.stringify(renderEvent(event, VERSION)),
    outcome: 'failed',
    error_code: '55P03',
  };
}

/** The scene as it was when the undisturbed run began. */
async function rewind(): Promise<void> {
  stripeLocal.faults.clear();
  await restore();
  runtime.setNow(begin);
}

/**
 * What the run said of itself is what it noted, and it is where an undisturbed one leads to.
 *
 * @param options.changes the same way; an object that is tried again later may have another one
 */
async function expectTruth(result: ReconcileResult, where: string, { changes = true } = {}): Promise<void> {
  expect(result, where).toMatchObject({ status: 'completed', failures: 0 });
  const logged = await database.db.$count(
    reconciliationChanges,
    eq(reconciliationChanges.run_id, result.runId),
  );
  expect(result.changes, where).toBe(logged);
  const found = differences(truth, await meaning());
  expect(changes ? found : found.filter((row) => !row.includes(' reconciliation_changes ')), where).toEqual(
    [],
  );
}

async function expectNothingLeft(where: string): Promise<void> {
  later(60);
  expect(await run(), where).toMatchObject({ status: 'completed', changes: 0, failures: 0 });
}

describe('a run that nothing disturbs', () => {
  test('has pages of every kind, and brings all into step', async () => {
    expect(undisturbed).toMatchObject({ status: 'completed', failures: 0 });
    expect(undisturbed.changes).toBeGreaterThan(30);
    await rewind();
    await expectTruth(await run(), 'undisturbed');
    await expectNothingLeft('undisturbed');
  });

  test('ends with what Stripe has', async () => {
    await rewind();
    await run();
    const stored = await database.db.select().from(invoices).where(isNotNull(invoices.stripe_invoice_id));
    const byId = new Map(stored.map((row) => [row.stripe_invoice_id, row]));
    for (const { id, status, amountPaid, attemptCount, dueDate } of world.invoices.values()) {
      const isOverdue = status === 'open' && attemptCount > 0;
      expect(byId.get(id), id).toMatchObject({
        status: isOverdue ? 'overdue' : STATUS[status],
        amount_paid: (amountPaid / 100).toFixed(3),
        due_date: dueDate && new Date(dueDate * 1000).toISOString().slice(0, 10),
      });
    }
    const recorded = await database.db.select().from(payments);
    const collected = [...world.invoices.values()]
      .map(({ id, amountPaid, amountPaidOffStripe }) => [id, (amountPaid - amountPaidOffStripe) / 100])
      .filter(([, amount]) => amount !== 0);
    expect(recorded.map((row) => [row.payment_reference, Number(row.amount)]).sort()).toEqual(
      collected.sort(),
    );
    for (const { id, status, cancelAtPeriodEnd } of world.subscriptions.values()) {
      const [row] = await database.db
        .select()
        .from(subscriptions)
        .where(eq(subscriptions.stripe_subscription_id, id));
      const expected = status === 'canceled' ? 'cancelled' : status;
      expect(row, id).toMatchObject({ status: expected, cancel_at_period_end: cancelAtPeriodEnd });
    }
  });
});

const STATUS = { draft: 'draft', open: 'sent', paid: 'paid', uncollectible: 'overdue', void: 'cancelled' };

/** Plays a run whose process dies. */
async function die(at: number, where: string): Promise<void> {
  await rewind();
  faulty.arm({ at, how: DEAD });
  await expect(run(faulty.db), where).rejects.toThrow();
  expect(faulty.happened(), where).toBe(true);
}

/** Another goes on from there once the lease of the first has run out. */
async function playDeath(at: number): Promise<void> {
  const where = `dead at ${at}: ${passed[at]?.slice(0, 200)}`;
  await die(at, where);
  later(LEASE_MS / 1000 + 1);
  await expectTruth(await run(), where);
  await expectNothingLeft(where);
}

const statements = () => [...passed.keys()];

describe('a run whose process dies is taken up', () => {
  const isCheckpoint = (at: number) => passed[at]?.startsWith('update "reconciliation_runs"');
  test('before and after each of its checkpoints', async () => {
    const checkpoints = statements().filter(isCheckpoint);
    expect(checkpoints.length).toBeGreaterThan(20);
    for (const at of checkpoints) {
      await playDeath(at);
      await playDeath(at + 1);
    }
  }, 120_000);

  test('before its other statements', async () => {
    const others = statements().filter((at) => !isCheckpoint(at) && !isCheckpoint(at - 1));
    for (let i = 0; i < others.length; i += STRIDE) await playDeath(others[i] ?? 0);
  }, 120_000);

  test('but not after so long that it is given up; and what it had seen is forgotten', async () => {
    await die(passed.length - 10, 'near its end');
    const seen = () => database.db.$count(reconciliationSeen);
    expect(await seen()).toBeGreaterThan(0);
    later(7 * 3600);
    expect(await run()).toMatchObject({ status: 'completed', failures: 0 });
    expect(await seen()).toBe(0);
  });
});

/** A run in which one statement fails. @returns null where the database let it down */
async function playRefusal(at: number, how: string): Promise<void> {
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
  // A run that could note nothing is still said to be running.
  later(LEASE_MS / 1000 + 1);
  await expectTruth(await run(), where, { changes: false });
  await expectNothingLeft(where);
}

/** What went wrong is to be read in the tables. */
async function expectNoted({ runId, status, failures }: ReconcileResult, where: string): Promise<void> {
  const [row] = await database.db.select().from(reconciliationRuns).where(eq(reconciliationRuns.id, runId));
  expect(row, where).toMatchObject({ status, failures_count: failures });
  const open = await database.db.$count(
    reconciliationFailures,
    and(eq(reconciliationFailures.run_id, runId), isNull(reconciliationFailures.resolved_at)),
  );
  expect(open, where).toBe(failures);
  if (status === 'failed') expect(row?.error_code, where).toMatch(/^\w+$/);
  else expect(row?.error_code, where).toBeNull();
  if (status === 'completed_with_errors') expect(failures, where).toBeGreaterThan(0);
  if (status === 'completed') expect(failures, where).toBe(0);
}

describe('a run whose database refuses a statement', () => {
  test.each(['XX000', '53100', '40001'])(
    'with %s',
    async (how) => {
      const offset = Number.parseInt(how, 36) % STRIDE;
      for (let at = offset; at < passed.length; at += 4 * STRIDE) {
        // The mark behind a commit is no statement.
        await playRefusal(passed[at] === 'committed' ? at - 1 : at, how);
      }
    },
    120_000,
  );
});

const STRIPE_FAULTS: [string, StripeFault][] = [
  ['429', { kind: 'status', status: 429 }],
  ['500', { kind: 'status', status: 500 }],
  ['nothing', { kind: 'timeout' }],
  ['a closed connection', { kind: 'reset' }],
  ['garbage', { kind: 'garbage' }],
  ['JSON of nothing', { kind: 'garbage', body: '{}' }],
];

/** A run in which Stripe fails to answer one request. */
async function playStripe(
  fault: StripeFault,
  call: number,
  stripe = fault.kind === 'timeout' ? openClient({ timeout: 300 }) : runtime.stripe,
): Promise<ReconcileResult['status']> {
  const where = `${JSON.stringify(fault)} at request ${call}`;
  await rewind();
  const at = stripeLocal.requestCount() + call;
  // A connection that is closed once is opened again by the SDK itself.
  stripeLocal.faults.add({ fault, when: fault.kind === 'reset' ? [at, at + 1] : [at] });
  const result = await run(database.db, stripe);
  await expectNoted(result, where);
  later(60);
  const mended = result.status === 'completed' ? result : await run();
  await expectTruth(mended, where, { changes: false });
  await expectNothingLeft(where);
  return result.status;
}

describe('a run that Stripe answers, whatever it asks for, with', () => {
  test.each(STRIPE_FAULTS)(
    '%s',
    async (_, fault) => {
      const ends = new Set<string>();
      for (let call = 0; call < requests.length; call += REQUEST_STRIDE)
        ends.add(await playStripe(fault, call));
      // Lists end it; an object is asked for again at its end, and once more by the next run.
      expect([...ends].sort()).toEqual(['completed', 'completed_with_errors', 'failed']);
    },
    120_000,
  );

  test('500 once, where the SDK asks again', async () => {
    const patient = openClient({ maxNetworkRetries: 2 });
    for (let call = 0; call < requests.length; call += STRIDE) {
      expect(await playStripe({ kind: 'status', status: 500 }, call, patient)).toBe('completed');
    }
  }, 60_000);
});

/** The one object that a request is about; undefined: a page of a list of many. */
const subjectOf = ({ path, query }: RequestLogEntry): string | undefined =>
  /^\/v1\/\w+\/(\w+_\w+)$/.exec(path)?.[1] ?? query.customer ?? query.subscription ?? query.invoice;

/** Every call about one object, once. */
const callsForOne = () => {
  const calls = requests.map((request) => `${request.path} ${subjectOf(request)}`);
  return requests.filter((request, i) => subjectOf(request) && calls.indexOf(calls[i] ?? '') === i);
};

/** What is told of others than an object and what is its customer's. */
function ofOthers(found: string[], subject: string): string[] {
  const all = [...world.subscriptions.values(), ...world.invoices.values()];
  const own = [subject, ...all.filter(({ customer }) => customer === subject).map(({ id }) => id)];
  const isOwn = (row: string) => own.some((id) => row.includes(id));
  // What we know of a customer beside Stripe follows from whom Stripe says that it is.
  const isUnnamed = (row: string) => subject.startsWith('cus_') && !/"(cus|sub|si|in|evt)_/.test(row);
  return found.filter((row) => !/^. reconciliation_/.test(row) && !isOwn(row) && !isUnnamed(row));
}

/** A run in which Stripe refuses all that one call asks for one object, and the run of the next night. */
async function playRefused(status: 400 | 404 | 500, call: RequestLogEntry): Promise<string> {
  const subject = subjectOf(call) ?? '';
  const where = `${status} for ${call.path} of ${subject}`;
  await rewind();
  const isCall = (one: RequestLogEntry) => one.path === call.path && subjectOf(one) === subject;
  stripeLocal.faults.add({ fault: { kind: 'status', status }, when: isCall });
  const result = await run();
  const [row] = await database.db
    .select()
    .from(reconciliationRuns)
    .where(eq(reconciliationRuns.id, result.runId));
  const named = await database.db
    .select({ id: reconciliationFailures.stripe_id, code: reconciliationFailures.error_code })
    .from(reconciliationFailures)
    .where(and(eq(reconciliationFailures.run_id, result.runId), isNull(reconciliationFailures.resolved_at)));
  expect(row, where).toMatchObject({ error_code: null, lists_completed: true });
  expect(ofOthers(differences(truth, await meaning()), subject), where).toEqual([]);
  later(60);
  stripeLocal.faults.clear();
  const latest = stripeLocal.requests.at(-1); // the list has an end: its length may stay
  if (result.status === 'completed') {
    expect([status, named], where).toEqual([404, []]); // it is gone there
    return result.status;
  }
  expect(result, where).toMatchObject({ status: 'completed_with_errors', failures: 1 });
  expect(named, where).toEqual([{ id: subject, code: expect.stringMatching(/^stripe_/) }]);
  await expectTruth(await run(), where, { changes: false });
  expect(
    stripeLocal.requests
      .slice(stripeLocal.requests.lastIndexOf(latest as RequestLogEntry) + 1)
      .map(subjectOf),
    where,
  ).toContain(subject);
  await expectNothingLeft(where);
  return result.status;
}

describe('a run for which Stripe refuses one object', () => {
  test.each([404, 400, 500] as const)(
    'with %d, whichever and in whatever step, names it, repairs all others and tries it again',
    async (status) => {
      const calls = callsForOne();
      const kinds = new Set(calls.map(({ path }) => path.replace(/^(\/v1\/\w+\/)\w+_\w+$/, '$1id')));
      expect([...kinds].sort()).toEqual([
        '/v1/checkout/sessions',
        '/v1/customers/id',
        '/v1/invoice_payments',
        '/v1/invoices/id',
        '/v1/subscription_items',
        '/v1/subscriptions/id',
      ]);
      const ends = new Set<string>();
      for (const call of calls) ends.add(await playRefused(status, call));
      expect(ends).toContain('completed_with_errors');
    },
    120_000,
  );
});
