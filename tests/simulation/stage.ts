import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'drizzle-orm';
import type { DatabaseHandle } from '@/db/client';
import type { Database } from '@/db/database';
import { receiveDelivery } from '@/lib/http/webhook-route';
import { setRuntime } from '@/lib/runtime';
import { createStripeClient } from '@/lib/stripe/client';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import type { World } from '@/lib/stripe-local/world';
import { type ReconcileResult, reconcile } from '@/lib/sync/reconcile/reconcile';
import { type SyncDeps, syncDeps } from '@/lib/sync/sync-deps';
import { testRuntime } from '../support/runtime';
import { WEBHOOK_SECRET } from '../support/stripe-events';
import { type Look, watch } from './looks';

/** Where histories are played, one after the other: a database, a local Stripe and the product between them. */
export interface Stage {
  db: Database;
  stripe: StripeLocal;
  /** Sets the scene for a history. */
  begin(scene: Scene): Promise<void>;
  /** @param looks what Stripe tells of customers meanwhile is added to them */
  receive(db: Database, request: Request, looks: Look[]): Promise<Response>;
  reconcile(db: Database, looks: Look[]): Promise<ReconcileResult>;
  /** What staff's actions are done with. */
  deps(): SyncDeps;
  close(): Promise<void>;
}

interface Scene {
  world: World;
  hasKey: boolean;
  timeZone: string;
  linkByEmail: boolean;
  now(): Date;
}

const KEY = 'sk_test_simulation';

export async function openStage({ db, close }: Pick<DatabaseHandle, 'db' | 'close'>): Promise<Stage> {
  let world: World | undefined;
  // The server is told its world once; histories have one each.
  const current = new Proxy({} as World, { get: (_, name) => Reflect.get(world ?? {}, name) });
  const stripe = await startStripeLocal({ world: current, secretKey: KEY });
  const client = createStripeClient(KEY, stripe.url, 10_000);
  const work = new AsyncLocalStorage<{ db: Database; looks: Look[] }>();
  watch(client, (look) => work.getStore()?.looks.push(look));
  const delegating = new Proxy(db, {
    get(own, name) {
      const at = work.getStore()?.db ?? own;
      const value: unknown = Reflect.get(at, name);
      return typeof value === 'function' ? value.bind(at) : value;
    },
  });
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
    const made = testRuntime(delegating, { env, stripe: hasKey ? client : null });
    runtimes.set(name, made);
    return made;
  };
  let runtime: ReturnType<typeof testRuntime> | undefined;
  return {
    db,
    stripe,
    async begin(scene) {
      world = scene.world;
      runtime = runtimeOf(scene);
      runtime.now = scene.now;
      setRuntime(runtime);
      stripe.faults.clear();
      await db.execute(CLEAR);
    },
    receive: (own, request, looks) => work.run({ db: own, looks }, () => receiveDelivery(request)),
    reconcile: (own, looks) => {
      if (!runtime) throw new Error('the stage is empty');
      const deps = { ...syncDeps(runtime), db: own };
      return work.run({ db: own, looks }, () => reconcile(deps, { trigger: 'cron', startedBy: null }));
    },
    deps: () => {
      if (!runtime) throw new Error('the stage is empty');
      return syncDeps(runtime);
    },
    async close() {
      setRuntime(undefined);
      await stripe.close();
      await close();
    },
  };
}

const TABLES = [
  'reconciliation_runs',
  'stripe_events',
  'payments',
  'payment_tombstones',
  'audit_log',
  'subscription_items',
  'invoices',
  'subscriptions',
  'stripe_customers',
  'customer_services',
  'customers',
];

// One statement, and for little rows much quicker than truncate.
const CLEAR = sql.raw(`do $$ begin ${TABLES.map((table) => `delete from ${table};`).join(' ')} end $$`);
