import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openEmbedded } from '@/db/client';
import { invoices, reconciliationRuns, subscriptions } from '@/db/schema';
import { createLogger } from '@/lib/log';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { RequestLogEntry } from '@/lib/stripe-local/faults';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { startSchedule } from '@/lib/sync/reconcile/schedule';
import { syncDeps } from '@/lib/sync/sync-deps';
import { createDatabase } from '../e2e/support/site-database';
import { runCommandFile } from '../support/command-server';
import { testRuntime } from '../support/runtime';
import { fillUnreadAccount } from '../support/unread-stripe';

const KEY = 'sk_test_killed';
const PATIENCE = 1_200_000;
/** A run without a heartbeat for so long is dead. */
const TEN_MINUTES = 600_000;

/** A folder for a database, and a local Stripe. */
function usePlace(open: (folder: string) => Promise<World> | World) {
  const folder = mkdtempSync(join(tmpdir(), 'w5t-killed-'));
  let opened: { world: World; stripe: StripeLocal } | undefined;
  const get = () => {
    if (!opened) throw new Error('the place is open only inside tests');
    return opened;
  };
  beforeAll(async () => {
    const world = await open(folder);
    opened = { world, stripe: await startStripeLocal({ world, secretKey: KEY }) };
  }, 120_000);
  afterAll(async () => {
    await opened?.stripe.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    get world() {
      return get().world;
    },
    get stripe() {
      return get().stripe;
    },
    env: (): Record<string, string> => ({
      DATA_DIR: folder,
      STRIPE_SECRET_KEY: KEY,
      STRIPE_API_BASE: get().stripe.url,
      LOG_LEVEL: 'silent',
    }),
  };
}

/** Runs a command's file, and kills its process when it asks for a page of a list. */
async function killAt(
  stripe: StripeLocal,
  isPage: (request: RequestLogEntry) => boolean,
  args: string[],
  env: Record<string, string>,
): Promise<void> {
  const before = stripe.requests.length;
  stripe.faults.add({ when: isPage, fault: { kind: 'timeout' } });
  const { PATH, HOME, TMPDIR } = process.env;
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', ...args], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH, HOME, TMPDIR, NODE_ENV: 'production', ...env },
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  try {
    const isThere = () => expect(stripe.requests.slice(before).some(isPage)).toBe(true);
    await vi.waitFor(isThere, { timeout: PATIENCE });
  } finally {
    child.kill('SIGKILL');
    await gone;
    stripe.faults.clear();
  }
}

const isSecondPage =
  (list: string) =>
  ({ path, query }: RequestLogEntry): boolean =>
    path === list && query.status === undefined && query.starting_after !== undefined;

describe('npm run reconcile', () => {
  const SUBSCRIPTIONS = 130;
  const place = usePlace(() => {
    const world = createWorld({ now: () => new Date(), chance: seededChance(5) });
    const customer = act.createCustomer(world).object.id;
    for (let i = 0; i < SUBSCRIPTIONS; i += 1) {
      act.createSubscription(world, { customer, items: [{ unitAmount: 900 }] });
    }
    return world;
  });

  test('a run killed within a list is continued from its last page by the next server', {
    timeout: PATIENCE,
  }, async () => {
    const { folder, stripe, env } = place;
    const isPage = isSecondPage('/v1/subscriptions');
    await killAt(stripe, isPage, ['lib/cli/reconcile.ts'], env());
    const handle = await openEmbedded(folder);
    try {
      const { db } = handle;
      const [died] = await db.select().from(reconciliationRuns);
      expect(died).toMatchObject({ status: 'running', phase: 'subscriptions' });
      expect(await db.$count(subscriptions)).toBe(100);

      const before = stripe.requests.length;
      const client = createStripeClient(KEY, stripe.url, 10_000);
      const runtime = testRuntime(db, { now: new Date(Date.now() + TEN_MINUTES), stripe: client });
      const log = createLogger('silent');
      const { stop } = await startSchedule({ ...runtime, log, timeZone: 'UTC' }, () =>
        reconcile(syncDeps(runtime), { trigger: 'schedule', startedBy: null }),
      );
      stop();
      const statusOf = async () => (await db.select().from(reconciliationRuns))[0]?.status;
      await vi.waitFor(async () => expect(await statusOf()).toBe('completed'), { timeout: PATIENCE });
      expect(await db.select().from(reconciliationRuns)).toMatchObject([{ id: died?.id, trigger: 'cli' }]);
      expect(await db.$count(subscriptions)).toBe(SUBSCRIPTIONS);
      const [first] = stripe.requests.slice(before);
      expect(first && isPage(first)).toBe(true);
    } finally {
      await handle.close();
    }
  });
});

describe('npm run import stripe', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  const place = usePlace(async (folder) => {
    let world: World | undefined;
    database = await createDatabase(folder, async (db) => {
      world = await fillUnreadAccount(db, Number(process.env.STRIPE_OBJECTS ?? 400));
    });
    if (!world) throw new Error('the account is filled');
    return world;
  });
  afterAll(() => database?.drop());

  const env = () => ({ ...place.env(), BETTER_AUTH_SECRET: 'x'.repeat(32), ...database.env });
  const run = (...args: string[]) => runCommandFile('import', ['stripe', ...args], env());
  const countOf = (table: typeof invoices | typeof subscriptions) => database.look((db) => db.$count(table));

  test('a dry run of an import writes nothing', { timeout: PATIENCE }, async () => {
    const { code, out } = await run('--dry-run');
    expect(code).toBe(0);
    expect(out).toMatch(/^Dry run, nothing was written, completed: /m);
    expect(out).toMatch(new RegExp(`^subscription +${place.world.subscriptions.size} +0 +0$`, 'm'));
    expect(await countOf(subscriptions)).toBe(0);
  });

  test('a killed import is continued by the same command where it was', { timeout: PATIENCE }, async () => {
    const { stripe, world } = place;
    const isPage = isSecondPage('/v1/invoices');
    await killAt(stripe, isPage, ['lib/cli/import.ts', 'stripe'], env());
    const stored = await countOf(invoices);
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(world.invoices.size);
    await database.look(async (db) => {
      expect(await db.select().from(reconciliationRuns)).toMatchObject([{ status: 'running' }]);
      const heartbeat_at = new Date(Date.now() - TEN_MINUTES);
      await db.update(reconciliationRuns).set({ heartbeat_at });
    });

    const before = stripe.requests.length;
    const { code, out } = await run();
    expect([code, out]).toEqual([0, expect.stringMatching(/^Run 1, completed: .* 0 failed\.$/m)]);
    const lists = stripe.requests.slice(before).filter(({ path }) => path === '/v1/invoices');
    expect(lists[0] && isPage(lists[0])).toBe(true);
    expect(await countOf(invoices)).toBe(world.invoices.size);
    expect(await countOf(subscriptions)).toBe(world.subscriptions.size);
  });

  test('a reconciliation after --link-by-email changes nothing', { timeout: PATIENCE }, async () => {
    const linked = await run('--link-by-email');
    expect(linked.out).toMatch(/^By e-mail address: [1-9]\d* linked, 0 refused\.$/m);
    const again = await runCommandFile('reconcile', [], env());
    expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/ 0 changed, 0 failed\.$/m) });
  });
});
