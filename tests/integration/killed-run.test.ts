import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DatabaseHandle, openEmbedded } from '@/db/client';
import { reconciliationRuns, subscriptions } from '@/db/schema';
import { createLogger } from '@/lib/log';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { startSchedule } from '@/lib/sync/reconcile/schedule';

const KEY = 'sk_test_killed';
const SUBSCRIPTIONS = 130;
/** Ten minutes on: no lease lasts as long. */
const now = () => new Date(Date.now() + 600_000);

const folder = mkdtempSync(join(tmpdir(), 'killed-run-'));
let world: World;
let stripeLocal: StripeLocal;
let child: ChildProcess | undefined;
let database: DatabaseHandle | undefined;

beforeAll(async () => {
  world = createWorld({ now: () => new Date(), chance: seededChance(5) });
  const customer = act.createCustomer(world).object.id;
  for (let i = 0; i < SUBSCRIPTIONS; i += 1) {
    act.createSubscription(world, { customer, items: [{ unitAmount: 900 }] });
  }
  stripeLocal = await startStripeLocal({ world, secretKey: KEY });
});
afterAll(async () => {
  child?.kill('SIGKILL');
  await database?.close();
  await stripeLocal?.close();
  rmSync(folder, { recursive: true, force: true });
});

const isSecondPage = ({ path, query }: { path: string; query: Record<string, string> }) =>
  path === '/v1/subscriptions' && query.starting_after !== undefined;

/** A process that reconciles. */
function startRun(): ChildProcess {
  const { PATH, HOME } = process.env;
  return spawn(process.execPath, ['--import', 'tsx', 'lib/cli/reconcile.ts'], {
    cwd: join(import.meta.dirname, '../..'),
    env: {
      PATH,
      HOME,
      NODE_ENV: 'production',
      DATA_DIR: folder,
      STRIPE_SECRET_KEY: KEY,
      STRIPE_API_BASE: stripeLocal.url,
      LOG_LEVEL: 'silent',
    },
    stdio: 'ignore',
  });
}

test('a run that is killed within a list goes on from its last page at the next start', async () => {
  stripeLocal.faults.add({ when: isSecondPage, fault: { kind: 'timeout' } });
  child = startRun();
  await vi.waitFor(() => expect(stripeLocal.requests.some(isSecondPage)).toBe(true), { timeout: 50_000 });
  child.kill('SIGKILL');
  await once(child, 'exit');
  stripeLocal.faults.clear();

  const { db } = await openEmbedded(folder).then((handle) => {
    database = handle;
    return handle;
  });
  const [died] = await db.select().from(reconciliationRuns);
  expect(died).toMatchObject({ status: 'running', phase: 'subscriptions' });
  expect(await db.$count(subscriptions)).toBe(100);

  const before = stripeLocal.requests.length;
  const stripe = createStripeClient(KEY, stripeLocal.url, 10_000);
  const log = createLogger('silent');
  const deps = {
    db,
    log,
    now,
    timeZone: 'UTC',
    mode: null,
    linkByEmail: false,
    eventRetentionDays: 180,
    toolCallRetentionDays: 90,
  };
  const { stop } = await startSchedule(deps, () =>
    reconcile({ ...deps, stripe }, { trigger: 'schedule', startedBy: null }),
  );
  stop();
  await vi.waitFor(
    async () => expect((await db.select().from(reconciliationRuns))[0]?.status).toBe('completed'),
    { timeout: 30_000 },
  );
  expect(await db.select().from(reconciliationRuns)).toMatchObject([{ id: died?.id, trigger: 'cli' }]);
  expect(await db.$count(subscriptions)).toBe(SUBSCRIPTIONS);
  const [first] = stripeLocal.requests.slice(before);
  expect(first && isSecondPage(first)).toBe(true);
}, 120_000);
