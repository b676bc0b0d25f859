import { AsyncLocalStorage } from 'node:async_hooks';
import { desc, eq, getTableColumns, sql } from 'drizzle-orm';
import { type DatabaseHandle, openInMemory, openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { migrate } from '@/db/migrate';
import { customerServices, mergedCustomers, reconciliationChanges, stripeCustomers } from '@/db/schema';
import { AppError } from '@/lib/errors';
import type { HttpRequest } from '@/lib/http/messages';
import { receiveDelivery } from '@/lib/http/webhook-route';
import { createStripeClient, setRuntime } from '@/lib/runtime';
import { isVersionConflict } from '@/lib/store/commit';
import { databaseStore } from '@/lib/store/store';
import type { World } from '@/lib/stripe-local/world';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { linkItem } from '@/lib/sync/staff/link-subscription';
import { type SyncDeps, syncDeps } from '@/lib/sync/sync-deps';
import { withDatabase } from '../support/database-url';
import {
  createCustomer,
  createInvoice,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { testRuntime } from '../support/runtime';
import { signatureOf, WEBHOOK_SECRET } from '../support/stripe-events';
import { startStripeLocal } from '../support/stripe-server';
import type { Look } from './oracle/story';
import type { Crash } from './plan';
import type { TableName } from './pure/tables';
import { OF_MERGED, OWN_INVOICE } from './setup';
import { ACTOR, type Hands, productHands, type Scene, type Stage } from './stage';
import { watch } from './stripe-api';
import { MODELLED, readTables } from './tables';

const KEY = 'sk_test_simulation';
const DEADLOCKS = sql`select deadlocks::int from pg_stat_database where datname = current_database()`;

/** Opens a stage with a database, a Stripe API over HTTP and the product between them. */
export async function openStage({ db, close }: Pick<DatabaseHandle, 'db' | 'close'>): Promise<Stage> {
  let world: World | undefined;
  let deadlocks = 0;
  let begun = 0;
  // The local Stripe server accepts one `World` at startup, but each history has its own.
  const shown = new Proxy({} as World, { get: (_, name) => Reflect.get(world ?? {}, name) });
  const stripe = await startStripeLocal({ world: shown, secretKey: KEY });
  const client = createStripeClient(KEY, stripe.url, 10_000);
  const work = new AsyncLocalStorage<{ db: Database; looks: Look[] }>();
  watch(client, (look) => work.getStore()?.looks.push(look));
  const runtimes = new Map<string, ReturnType<typeof testRuntime>>();
  const runtimeOf = ({ hasKey, timeZone, linkByEmail }: Scene) => {
    const name = `${hasKey} ${timeZone} ${linkByEmail}`;
    const known = runtimes.get(name);
    if (known) return known;
    const env = {
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      APP_TIMEZONE: timeZone,
      LINK_BY_EMAIL: linkByEmail ? 'on' : 'propose',
    };
    const made = testRuntime(db, { env, stripe: hasKey ? client : null });
    // Each simulated process has its own database object, because each database object has its own work queue.
    Object.defineProperty(made, 'db', { get: () => work.getStore()?.db ?? db });
    runtimes.set(name, made);
    return made;
  };
  let runtime: ReturnType<typeof testRuntime> | undefined;
  const current = () => {
    if (!runtime) throw new Error('the stage is empty');
    return runtime;
  };
  return {
    faults: stripe.faults,
    requestCount: stripe.requestCount,
    commitsTakeTime: true,
    async takeDeadlocks() {
      const [counted] = await rows<{ deadlocks: number }>(db, DEADLOCKS);
      const before = deadlocks;
      deadlocks = counted?.deadlocks ?? 0;
      return deadlocks - before;
    },
    async begin(scene) {
      world = scene.world;
      runtime = runtimeOf(scene);
      runtime.now = scene.now;
      setRuntime(runtime);
      stripe.faults.clear();
      await clear(db);
      begun += 1;
      if (begun % 32 === 0) await db.execute(VACUUM);
    },
    async receive({ rendered, body, crash, isOwnProcess, isReplay }, looks) {
      const guarded = crashing(db, crash);
      const own = isOwnProcess ? guarded.db : db;
      const request = toRequest(body, () => world?.now() ?? current().now());
      const replay = async () => {
        const { id } = rendered as { id: string };
        const outcome = await replayEvent({ ...syncDeps(current()), db: own }, id).catch((error: unknown) => {
          // The body of an old event was dropped, so replaying the event is a conflict.
          if (error instanceof AppError && error.code === 'conflict') return 'dropped';
          throw error;
        });
        return Response.json({ received: true, outcome });
      };
      const response = await work.run({ db: own, looks }, isReplay ? replay : () => receiveDelivery(request));
      const answer = await response.text();
      return { status: response.status, answer, crashed: guarded.happened(), contested: guarded.contested() };
    },
    async reconcile(crash, looks) {
      const guarded = crashing(db, crash);
      const deps = { ...syncDeps(current()), db: guarded.db, pause: async () => {} };
      const running = () => reconcile(deps, { trigger: 'cron', startedBy: null, isAccountKnown: true });
      try {
        const result = await work.run({ db: guarded.db, looks }, running);
        return { result, crashed: guarded.happened(), contested: guarded.contested() };
      } catch (error) {
        if (!guarded.happened()) throw error;
        return { result: null, crashed: true, contested: guarded.contested() };
      }
    },
    hands: () => databaseHands(syncDeps(current())),
    tables: () => readTables(db),
    lastChanges: (count) =>
      db.select().from(reconciliationChanges).orderBy(desc(reconciliationChanges.id)).limit(count),
    async close() {
      setRuntime(undefined);
      await stripe.close();
      await close();
    },
  };
}

/**
 * Builds a request that is signed only when its signature header is read, because other deliveries may move the clock
 * by days while the body is read.
 */
function toRequest(body: string, now: () => Date): HttpRequest {
  const request = new Request('http://localhost/api/stripe/webhook', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const get = request.headers.get.bind(request.headers);
  request.headers.get = (name) => (name === 'stripe-signature' ? signatureOf(body, now()) : get(name));
  return request;
}

const CLEARED = [
  ...[
    'reconciliation_runs',
    'stripe_payouts',
    'stripe_events',
    'refunds',
    'disputes',
    'payments',
    'payment_tombstones',
    'staff_tasks',
    'accounting_entries',
    'audit_log',
  ],
  ...[
    'credit_notes',
    'subscription_items',
    'invoices',
    'subscriptions',
    'stripe_customers',
    'customer_services',
  ],
  ...['merged_customers', 'month_amounts', 'month_states', 'customers'],
];

export async function clear(db: Database): Promise<void> {
  await db.execute(CLEAR);
}

// For few rows, one statement with all deletes is much quicker than truncate.
const CLEAR = sql.raw(`do $$ begin ${CLEARED.map((table) => `delete from ${table};`).join(' ')} end $$`);
// The embedded database has no autovacuum, and dead rows would slow down every later history.
const VACUUM = sql.raw(`vacuum ${CLEARED.join(', ')}, reconciliation_changes, reconciliation_seen`);

/** Returns the actions of staff and programs, applied to the database. */
export function databaseHands(deps: SyncDeps): Hands {
  const { db } = deps;
  return {
    ...productHands(deps, databaseStore(db)),
    linkItem: (id, serviceNumber) => linkItem(deps, ACTOR, id, serviceNumber),
    dateService: (id, dates) => db.update(customerServices).set(dates).where(eq(customerServices.id, id)),
    makeCustomer: (email) => createCustomer(db, { email }),
    makeMerged: async (customer_id) => {
      const [id, customer_number] = [OF_MERGED + customer_id, `M${customer_id}`];
      await db.insert(mergedCustomers).values({ id, customer_number, customer_id });
      return customer_number;
    },
    makeService: (service) => createService(db, service),
    makeSold: (customer_id) =>
      createSubscription(db, { customer_id, status: 'incomplete', stripe_subscription_id: null }),
    makeSoldItem: async (item) => {
      await createSubscriptionItem(db, { ...item, stripe_subscription_item_id: null });
    },
    makeInvoice: (customer_id) => createInvoice(db, { customer_id, ...OWN_INVOICE }),
    makeLink: async (link) => {
      await db.insert(stripeCustomers).values(link);
    },
  };
}

const CLOCKS = ['created_at', 'updated_at'];
/** Columns that no decision reads, so the model leaves them out. */
const LEFT_OUT: Partial<Record<TableName, string[]>> = {
  customers: [
    ...['first_name', 'company', 'vat_id', 'tax_exempt', 'status', 'currency', 'search_text'],
    ...['buyer_reference', 'document_language', 'payment_terms'],
    ...CLOCKS,
  ],
  services: ['server_id', 'service_type', 'name', 'domain', 'start_date', 'cancelled_at', ...CLOCKS],
  events: ['api_version', 'livemode', ...CLOCKS],
  merged: CLOCKS,
  tombstones: CLOCKS,
  lines: ['id'],
  tasks: [...CLOCKS, 'done_at'],
  entries: ['created_at', 'customer_name', 'customer_country', 'customer_vat_id', 'transfer_id'],
};

type Rows = Record<TableName, Record<string, unknown>[]>;

/** Reads the tables and columns that the in-memory model also has. */
export async function readRows(db: Database): Promise<Rows> {
  const found: Partial<Rows> = {};
  for (const [name, table] of Object.entries(MODELLED) as [TableName, typeof mergedCustomers][]) {
    const columns = Object.entries(getTableColumns(table)).filter(([key]) => !LEFT_OUT[name]?.includes(key));
    found[name] = await db.select(Object.fromEntries(columns)).from(table);
  }
  return found as Rows;
}

/** Opens a migrated database for this process: in memory, or a new one on a PostgreSQL server. */
export async function openOwnDatabase(server: string | null): Promise<Pick<DatabaseHandle, 'db' | 'close'>> {
  if (server === null) {
    const handle = await openInMemory();
    await migrate(handle);
    return handle;
  }
  const name = `w5t_simulation_${process.pid}`;
  const admin = openPostgres(server, { max: 1 });
  await admin.db.execute(sql.raw(`create database ${name}`));
  // The simulation never crashes the database server, so commits need not reach the disk.
  await admin.db.execute(sql.raw(`alter database ${name} set synchronous_commit = off`));
  // PostgreSQL must detect a deadlock before the waiting transaction times out.
  await admin.db.execute(sql.raw(`alter database ${name} set deadlock_timeout = '10ms'`));
  const handle = openPostgres(withDatabase(server, name));
  await migrate(handle);
  return {
    db: handle.db,
    async close() {
      await handle.close();
      await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
      await admin.close();
    },
  };
}

interface Crashing {
  db: Database;
  happened(): boolean;
  contested(): boolean;
}

const STATEMENTS = new Set(['select', 'selectDistinct', 'insert', 'update', 'delete', 'execute', '$count']);
const CODES = { killed: '57P01', refused: 'XX000', conflict: '40001' };

/**
 * Returns a database with one planned fault: before a statement, before a commit or after a commit. A killed process
 * also fails at every later statement.
 *
 * The result is a new object, like the database object of another process, so that it has its own work queue.
 */
function crashing(db: Database, crash: Crash | undefined): Crashing {
  let passed = 0;
  let happened = false;
  let contested = false;
  const pass = (isInside: boolean) => {
    passed += 1;
    const isNow = crash && passed > crash.at && (isInside || crash.mode !== 'conflict');
    if (!isNow || (happened && crash.mode !== 'killed')) return;
    happened = true;
    throw Object.assign(new Error(`made to fail: ${crash.mode}`), { code: CODES[crash.mode] });
  };
  const wrap = (target: Database, isInside: boolean): Database =>
    new Proxy(target, {
      get(from, name) {
        if (name === '_') return { ...from._, session: wrapSession(from._.session, isInside) };
        const value: unknown = Reflect.get(from, name);
        if (typeof value !== 'function') return value;
        if (name === 'transaction') return transaction(from);
        if (!STATEMENTS.has(String(name))) return value.bind(from);
        return (...given: unknown[]) => {
          pass(isInside);
          return value.apply(from, given);
        };
      },
    });
  /** Wraps the session, because prepared statements run through it. */
  const wrapSession = (session: Database['_']['session'], isInside: boolean) =>
    new Proxy(session, {
      get(from, name) {
        const value: unknown = Reflect.get(from, name);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          if (name !== 'prepareQuery') return value.apply(from, given);
          pass(isInside);
          const query = value.apply(from, given);
          return isInside ? query : committing(query);
        };
      },
    });
  /** Wraps a statement outside a transaction, which commits by itself. */
  const committing = (query: { execute(values: unknown): Promise<unknown> }) => ({
    execute: async (values: unknown) => {
      const answer = await query.execute(values).catch((error: unknown) => {
        contested ||= isVersionConflict(error);
        throw error;
      });
      pass(false);
      return answer;
    },
  });
  const transaction = (from: Database) => async (work: (tx: Database) => Promise<unknown>) => {
    pass(false);
    const result = await from.transaction(async (tx) => {
      const done = await work(wrap(tx, true));
      pass(true);
      return done;
    });
    pass(false);
    return result;
  };
  return { db: wrap(db, false), happened: () => happened, contested: () => contested };
}
