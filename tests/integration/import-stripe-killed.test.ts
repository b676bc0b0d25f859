import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { invoices, reconciliationRuns, subscriptions } from '@/db/schema';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import type { World } from '@/lib/stripe-local/world';
import { createDatabase } from '../e2e/support/site-database';
import { runCommandFile } from '../support/command-server';
import { fillUnreadAccount } from '../support/unread-stripe';

const KEY = 'sk_test_import';
const OBJECTS = Number(process.env.STRIPE_OBJECTS ?? 400);
const PATIENCE = 1_200_000;

const folder = mkdtempSync(join(tmpdir(), 'w5t-import-killed-'));
let world: World;
let local: StripeLocal;
let database: Awaited<ReturnType<typeof createDatabase>>;
let env: Record<string, string>;

beforeAll(async () => {
  database = await createDatabase(folder, async (db) => {
    world = await fillUnreadAccount(db, OBJECTS);
  });
  local = await startStripeLocal({ world, secretKey: KEY });
  const stripe = { STRIPE_SECRET_KEY: KEY, STRIPE_API_BASE: local.url, LOG_LEVEL: 'silent' };
  env = { DATA_DIR: folder, BETTER_AUTH_SECRET: 'x'.repeat(32), ...stripe, ...database.env };
}, 120_000);
afterAll(async () => {
  await local?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => runCommandFile('import', ['stripe', ...args], env);
const isSecondPage = ({ path, query }: { path: string; query: Record<string, string> }) =>
  path === '/v1/invoices' && query.status === undefined && query.starting_after !== undefined;
const countOf = (table: typeof invoices | typeof subscriptions) => database.look((db) => db.$count(table));

test('a dry run writes nothing', { timeout: PATIENCE }, async () => {
  const { code, out } = await run('--dry-run');
  expect(code).toBe(0);
  expect(out).toMatch(/^Dry run, nothing was written, completed: /m);
  expect(out).toMatch(new RegExp(`^subscription +${world.subscriptions.size} +0 +0$`, 'm'));
  expect(await countOf(subscriptions)).toBe(0);
});

test('killed in the middle, the same command goes on where it was', { timeout: PATIENCE }, async () => {
  const dry = local.requests.length;
  local.faults.add({ when: isSecondPage, fault: { kind: 'timeout' } });
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', 'lib/cli/import.ts', 'stripe'], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH, HOME, TMPDIR, NODE_ENV: 'production', ...env },
    stdio: 'ignore',
  });
  await vi.waitFor(() => expect(local.requests.slice(dry).some(isSecondPage)).toBe(true), {
    timeout: PATIENCE,
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  local.faults.clear();
  const stored = await countOf(invoices);
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThan(world.invoices.size);
  await database.look(async (db) => {
    expect(await db.select().from(reconciliationRuns)).toMatchObject([{ status: 'running' }]);
    await db.update(reconciliationRuns).set({ heartbeat_at: new Date(Date.now() - 600_000) });
  });

  const before = local.requests.length;
  const { code, out } = await run();
  expect([code, out]).toEqual([0, expect.stringMatching(/^Run 1, completed: .* 0 failed\.$/m)]);
  const lists = local.requests.slice(before).filter(({ path }) => path === '/v1/invoices');
  expect(lists[0] && isSecondPage(lists[0])).toBe(true);
  expect(await countOf(invoices)).toBe(world.invoices.size);
  expect(await countOf(subscriptions)).toBe(world.subscriptions.size);
});

test('links by e-mail, and then a reconciliation changes nothing', { timeout: PATIENCE }, async () => {
  const linked = await run('--link-by-email');
  expect(linked.out).toMatch(/^By e-mail address: [1-9]\d* linked, 0 refused\.$/m);
  const again = await runCommandFile('reconcile', [], env);
  expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/ 0 changed, 0 failed\.$/m) });
});
