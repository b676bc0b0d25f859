import { AsyncLocalStorage } from 'node:async_hooks';
import { desc, sql } from 'drizzle-orm';
import type { DatabaseHandle } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { reconciliationChanges } from '@/db/schema';
import { AppError } from '@/lib/errors';
import type { HttpRequest } from '@/lib/http/request';
import { receiveDelivery } from '@/lib/http/webhook-route';
import { setRuntime } from '@/lib/runtime';
import { createStripeClient } from '@/lib/stripe/client';
import { startStripeLocal } from '@/lib/stripe-local/server';
import type { World } from '@/lib/stripe-local/world';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { testRuntime } from '../support/runtime';
import { signatureOf, WEBHOOK_SECRET } from '../support/stripe-events';
import { crashing } from './crashing';
import { databaseHands } from './database-hands';
import { type Look, watch } from './looks';
import type { Scene, Stage } from './stage';
import { readTables } from './tables';

const KEY = 'sk_test_simulation';
const DEADLOCKS = sql`select deadlocks::int from pg_stat_database where datname = current_database()`;

/** A database, a Stripe API over HTTP and the product between them. */
export async function openStage({ db, close }: Pick<DatabaseHandle, 'db' | 'close'>): Promise<Stage> {
  let world: World | undefined;
  let deadlocks = 0;
  let begun = 0;
  // The server is told its world once; histories have one each.
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
    // A process has a database object of its own: what waits for its turn in one does not wait for another.
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
          if (error instanceof AppError && error.code === 'conflict') return 'dropped'; // too old to have a body
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
      const deps = { ...syncDeps(current()), db: guarded.db };
      const running = () => reconcile(deps, { trigger: 'cron', startedBy: null });
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

/** Signed when the signature is checked: while a body is read, other deliveries may move the clock on by days. */
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

const TABLES = [
  'reconciliation_runs',
  'stripe_events',
  'refunds',
  'disputes',
  'payments',
  'payment_tombstones',
  'audit_log',
  'subscription_items',
  'invoices',
  'subscriptions',
  'stripe_customers',
  'customer_services',
  'merged_customers',
  'customers',
];

/** Leaves nothing of a history. */
export async function clear(db: Database): Promise<void> {
  await db.execute(CLEAR);
}

// One statement, and for little rows much quicker than truncate.
const CLEAR = sql.raw(`do $$ begin ${TABLES.map((table) => `delete from ${table};`).join(' ')} end $$`);
// Autovacuum may be off, and the embedded database has none; what is deleted slows down every later history.
const VACUUM = sql.raw(`vacuum ${TABLES.join(', ')}, reconciliation_changes, reconciliation_seen`);
