import { getTableName, sql, Table } from 'drizzle-orm';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type DatabaseHandle, openPostgres } from '@/db/client';
import { type Database, pgErrorCode, rows } from '@/db/database';
import * as schema from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { createStripeClient } from '@/lib/stripe/client';
import { cancelSubscription, payInvoice, voidInvoice } from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { beginDryRun } from '@/lib/sync/reconcile/dry-run';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { listRunChanges } from '@/lib/sync/reconcile/run-queries';
import { syncDeps } from '@/lib/sync/sync-deps';
import { createTestDatabase } from '../support/database';
import { withDatabase } from '../support/database-url';
import { type TestRuntime, testRuntime } from '../support/runtime';

const KEY = 'sk_test_local';

let database: DatabaseHandle;
let runtime: TestRuntime;
let world: World;
let stripeLocal: StripeLocal;

beforeAll(async () => {
  database = await createTestDatabase();
  runtime = testRuntime(database.db, { now: new Date('2026-03-15T12:00:00Z') });
  await seedDatabase(database.db, { today: '2026-03-15', timeZone: 'UTC' });
  world = createWorld({ now: runtime.now, chance: seededChance(11) });
  await fillFromDatabase(world, database.db, { timeZone: 'UTC' });
  stripeLocal = await startStripeLocal({ world, secretKey: KEY });
  runtime.stripe = createStripeClient(KEY, stripeLocal.url, 10_000);
}, 120_000);
afterAll(async () => {
  await stripeLocal?.close();
  await database?.close();
});

test('a dry run tells what the run after it changes, and writes nothing', async () => {
  await changeSilently();
  const before = await fingerprints(database.db);
  const scratch = await openScratch();
  await beginDryRun({ db: scratch.db, now: runtime.now });
  const told = await perform(scratch.db);
  // A table without a copy is out of reach.
  const outside = await scratch.db.execute(sql`update audit_log set action = action`).catch(pgErrorCode);
  expect(outside).toBe('25006'); // read_only_sql_transaction
  await scratch.end();
  expect(await fingerprints(database.db)).toEqual(before);

  const done = await perform(database.db);
  expect(told.changes.length).toBeGreaterThan(10);
  expect(told.changes).toEqual(done.changes);
  expect({ ...told.result, runId: 0 }).toEqual({ ...done.result, runId: 0 });
});

/** What no event tells of: invoices that are paid or void, subscriptions that have ended. */
async function changeSilently(): Promise<void> {
  const open = [...world.invoices.values()].filter(({ status }) => status === 'open').slice(0, 6);
  for (const [i, invoice] of open.entries()) {
    if (i % 2 === 0) payInvoice(world, invoice.id);
    else voidInvoice(world, invoice.id);
  }
  const live = [...world.subscriptions.values()].filter(({ status }) => status === 'active').slice(0, 4);
  for (const { id } of live) cancelSubscription(world, id);
}

async function perform(db: Database) {
  const result = await reconcile(syncDeps({ ...runtime, db }), { trigger: 'cli', startedBy: null });
  const { data } = await listRunChanges(db, result.runId, { page: 1, per_page: 100 });
  return {
    result,
    changes: data.map(({ entity, entity_id, field, before, after, outcome }) => ({
      entity,
      entity_id,
      field,
      before,
      after,
      outcome,
    })),
  };
}

async function openScratch(): Promise<{ db: Database; end(): Promise<void> }> {
  const server = inject('postgres');
  if (!server) {
    return {
      db: database.db,
      end: async () => {
        await database.db.execute(sql`discard temp`);
        // What was planned for the temporary tables' types.
        await database.db.execute(sql`discard plans`);
        await database.db.execute(sql`set default_transaction_read_only = off`);
      },
    };
  }
  const [row] = await rows<{ name: string }>(database.db, sql`select current_database()::text as name`);
  const handle = openPostgres(withDatabase(server.url, row?.name ?? ''), { scratch: true });
  return { db: handle.db, end: handle.close };
}

async function fingerprints(db: Database): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const table of Object.values(schema).filter((value) => value instanceof Table)) {
    const name = getTableName(table);
    const [row] = await rows<{ hash: string }>(
      db,
      sql`select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash
        from public.${sql.identifier(name)} t`,
    );
    found[name] = row?.hash ?? '';
  }
  return found;
}
