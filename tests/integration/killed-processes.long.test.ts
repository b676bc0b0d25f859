import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { invoices, reconciliationRuns, subscriptions } from '@/db/schema';
import type { World } from '@/lib/stripe-local/world';
import { startCommand } from '../e2e/support/commands';
import { createDatabase } from '../e2e/support/site-database';
import { runCommandFile } from '../support/command-server';
import { temporaryFolder } from '../support/run-command';
import { type RequestLogEntry, type StripeLocal, startStripeLocal } from '../support/stripe-server';
import { fillUnreadAccount } from '../support/unread-stripe';

const KEY = 'sk_test_killed';
const PATIENCE = 1_200_000;
vi.setConfig({ testTimeout: PATIENCE });
/** More milliseconds than a run may go without a heartbeat before it counts as dead. */
const TEN_MINUTES = 600_000;

const folder = temporaryFolder();
let database: Awaited<ReturnType<typeof createDatabase>>;
let world: World;
let stripe: StripeLocal;
beforeAll(async () => {
  database = await createDatabase(folder, async (db) => {
    world = await fillUnreadAccount(db, Number(process.env.STRIPE_OBJECTS ?? 400));
  });
  stripe = await startStripeLocal({ world, secretKey: KEY });
}, 120_000);
afterAll(async () => {
  await stripe?.close();
  await database?.drop();
});

const env = (): Record<string, string> => ({
  ...{ DATA_DIR: folder, STRIPE_SECRET_KEY: KEY, STRIPE_API_BASE: stripe.url },
  ...{ LOG_LEVEL: 'silent', BETTER_AUTH_SECRET: 'x'.repeat(32), ...database.env },
});
const run = (...args: string[]) => runCommandFile('import', ['stripe', ...args], env());
const countOf = (table: typeof invoices | typeof subscriptions) => database.look((db) => db.$count(table));
const isPage = ({ path, query }: RequestLogEntry) =>
  path === '/v1/invoices' && query.status === undefined && query.starting_after !== undefined;

/** Starts an import, and kills its process when it requests the second page of invoices. */
async function killWithinInvoices(): Promise<void> {
  const before = stripe.requests.length;
  stripe.faults.add({ when: isPage, fault: { kind: 'timeout' } });
  const command = [process.execPath, '--import', 'tsx', 'lib/cli/run.ts', 'import', 'stripe'];
  const { child, exited } = startCommand(command, env());
  try {
    const isThere = () => expect(stripe.requests.slice(before).some(isPage)).toBe(true);
    await vi.waitFor(isThere, { timeout: PATIENCE });
  } finally {
    child.kill('SIGKILL');
    await exited;
    stripe.faults.clear();
  }
}

test('a dry run of a Stripe import counts new subscriptions without storing them', async () => {
  const { code, out } = await run('--dry-run');
  expect(code).toBe(0);
  expect(out).toMatch(/^Dry run, nothing was written, completed: /m);
  expect(out).toMatch(new RegExp(`^subscription +${world.subscriptions.size} +0 +0$`, 'm'));
  expect(await countOf(subscriptions)).toBe(0);
});

test('a killed Stripe import continues where it stopped when it runs again', async () => {
  await killWithinInvoices();
  const stored = await countOf(invoices);
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThan(world.invoices.size);
  await database.write(async (db) => {
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
