import { eq } from 'drizzle-orm';
import { afterEach, expect, test, vi } from 'vitest';
import * as route from '@/app/api/health/route';
import { openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { reconciliationChanges, reconciliationRuns, stripeEvents } from '@/db/schema';
import { parseEnv } from '@/lib/env';
import { checkHealth } from '@/lib/health/check-health';
import { listTasks } from '@/lib/overview/list-tasks';
import { setRuntime } from '@/lib/runtime';
import { noteStopping } from '@/lib/stopping';
import manifest from '@/package.json';
import { useApi } from '../support/api';
import { createStoredEvent } from '../support/factories';
import { testRuntime } from '../support/runtime';

const SECRET = 'a-secret-of-the-cron-job';
type Run = typeof reconciliationRuns.$inferInsert;

const server = useApi({ '/api/health': route }, { CRON_SECRET: SECRET });
/** Advances the clock by ten seconds before each request, so that the health check’s cache has expired. */
const get = (secret?: string) => {
  server.runtime.setNow(new Date(server.runtime.now().getTime() + 10_000));
  return fetch(`${server.url}/api/health`, { headers: secret ? { authorization: `Bearer ${secret}` } : {} });
};
const read = async (secret?: string) => (await get(secret)).json();
const ago = (hours: number) => new Date(server.runtime.now().getTime() - hours * 3_600_000);
const addRun = async (status: Run['status'], hoursAgo: number, more: Partial<Run> = {}) => {
  const started_at = ago(hoursAgo);
  const heartbeat_at = status === 'running' ? ago(0) : started_at;
  const [run] = await server.runtime.db
    .insert(reconciliationRuns)
    .values({ trigger: 'cron', status, started_at, heartbeat_at, window_from: new Date(0), ...more })
    .returning();
  await addChanges(run?.id, 'in_1', more.changes_count ?? 0);
  return run?.id;
};
/** Logs changes of a run to the status of an invoice. Our own invoices have no Stripe id. */
const addChanges = async (run_id = 0, stripe_id: string | null, count: number) => {
  const change = { run_id, entity: 'invoice', stripe_id, field: 'status', outcome: 'fixed' } as const;
  if (count > 0) await server.runtime.db.insert(reconciliationChanges).values(Array(count).fill(change));
};

afterEach(async () => {
  await server.runtime.db.delete(reconciliationRuns);
  await server.runtime.db.delete(stripeEvents);
  setRuntime(server.runtime);
});

test('the health check needs no token, and its response must not be cached', async () => {
  const { status, headers } = await get();
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
});

test.each([
  ['completed', 24.9, 'ok', 'ok'],
  ['running', 1, 'ok', 'ok'],
  ['completed', 25.1, 'overdue', 'degraded'],
  ['running', 25.1, 'overdue', 'degraded'],
  ['failed', 1, 'failed', 'degraded'],
  ['completed_with_errors', 1, 'failed', 'degraded'],
] as const)(
  'the health check reports a reconciliation run that is %s and began %d h ago as %s',
  async (ran, hoursAgo, reconciliation, status) => {
    await addRun('failed', 40);
    await addRun('completed', 39);
    await addRun(ran, hoursAgo);
    expect(await read()).toMatchObject({ status, checks: { reconciliation } });
  },
);

test('the health check returns alerts only to requests with CRON_SECRET', async () => {
  const run_id = await addRun('completed_with_errors', 26, { changes_count: 101 });
  const { db } = server.runtime;
  await createStoredEvent(db, { id: 'evt_1', outcome: 'failed' });
  const live = { warnings: ['a live event'], created_at: ago(0) };
  for (const more of [live, { ...live, created_at: new Date(0) }, {}])
    await createStoredEvent(db, { outcome: 'ignored', ...more });
  const told = {
    ...{ status: 'degraded', version: manifest.version, database: 'ok' },
    checks: { reconciliation: 'overdue', inbox: 'failures', webhook: 'ok', disk: 'ok' },
  };
  expect(await read()).toEqual(told);
  expect(await read('another-secret-altogether')).toEqual(told);
  const alerts = [
    ['reconciliation_failed', 'The last reconciliation could not check everything.', run_id],
    ['reconciliation_overdue', 'No reconciliation has started for more than 25 hours.'],
    ['inbox_failures', '1 Stripe event failed.'],
    [
      'inbox_other_mode',
      expect.stringMatching(/^1 event came from the wrong Stripe mode \(test or live\): /),
    ],
    [
      'reconciliation_drift',
      expect.stringMatching(/^The last reconciliation repaired more than 100 fields: /),
      run_id,
    ],
  ].map(([code, message, run]) => ({ code, message, ...(run !== undefined && { run_id: run }) }));
  expect(await read(SECRET)).toEqual({ ...told, alerts });
});

test('health alerts use the limits from the settings', async () => {
  const { env } = server.runtime;
  await addRun('completed', 26, { changes_count: 101 });
  env.alerts = { overdueHours: 3, driftChanges: 101, diskMb: 0 };
  expect(await read(SECRET)).toMatchObject({ status: 'ok', alerts: [] });
  env.alerts = { overdueHours: 1, driftChanges: 100, diskMb: 0 };
  expect(await read(SECRET)).toMatchObject({ status: 'degraded' });
  env.alerts = parseEnv({}).alerts;
});

test('neither the first reconciliation run nor our own overdue invoices raise a health alert about repairs', async () => {
  await addRun('completed', 2, { changes_count: 101, window_from: null });
  expect(await read()).toMatchObject({ status: 'ok' });
  const run_id = await addRun('completed', 1, { changes_count: 100 });
  await addChanges(run_id, null, 50);
  expect(await read()).toMatchObject({ status: 'ok' });
  await addChanges(run_id, 'in_1', 1);
  expect(await read()).toMatchObject({ checks: { reconciliation: 'drift' } });
});

test('a running reconciliation without a recent heartbeat raises a health alert and a task', async () => {
  const { db, now } = server.runtime;
  await addRun('completed', 20);
  const run_id = await addRun('running', 0.5, { heartbeat_at: ago(7 / 60) });
  expect(await read()).toMatchObject({ status: 'degraded', checks: { reconciliation: 'silent' } });
  const { alerts } = await read(SECRET);
  const message = `Reconciliation run ${run_id} has stopped: its process ended before the run did.`;
  expect(alerts).toEqual([{ code: 'reconciliation_silent', message, run_id }]);
  expect(await listTasks(db, now(), server.runtime.env)).toEqual(alerts);
  await db.update(reconciliationRuns).set({ heartbeat_at: ago(-2) });
  expect(await read()).toMatchObject({ checks: { reconciliation: 'silent' } }); // The clock was set back.
  await db.update(reconciliationRuns).set({ heartbeat_at: ago(5 / 60) });
  expect(await read()).toMatchObject({ status: 'ok', checks: { reconciliation: 'ok' } });
});

test('a failed reconciliation run is reported until a later run completes', async () => {
  await addRun('failed', 2);
  await addRun('running', 1);
  expect(await read()).toMatchObject({ checks: { reconciliation: 'failed' } });
  const isRunning = eq(reconciliationRuns.status, 'running');
  await server.runtime.db.update(reconciliationRuns).set({ status: 'completed' }).where(isRunning);
  expect(await read()).toMatchObject({ checks: { reconciliation: 'ok' } });
});

/** Requests the health check, and returns the body of its 503. */
async function downOf() {
  const response = await get();
  expect(response.status).toBe(503);
  return response.json();
}

test('the health check answers 503 without details if the database is unreachable', async () => {
  const gone = openPostgres('postgres://nobody:secret@127.0.0.1:1/none');
  setRuntime(testRuntime(gone.db));
  expect(await downOf()).toEqual({
    ...{ status: 'down', version: manifest.version, database: 'unreachable' },
    checks: { reconciliation: 'unknown', inbox: 'unknown', webhook: 'unknown', disk: 'unknown' },
  });
  await gone.close();
});

test('the health check answers 503 if the service cannot start', async () => {
  setRuntime(undefined);
  vi.stubEnv('PORT', 'http');
  expect(await downOf()).toMatchObject({ status: 'down', database: 'unreachable' });
  vi.unstubAllEnvs();
});

test('the health check waits for an unresponsive database only up to its time limit', async () => {
  const silent = { execute: () => new Promise(() => {}) } as unknown as Database;
  expect(await checkHealth(testRuntime(silent), 20)).toMatchObject({ status: 'down' });
});

test('the health check answers 405 to methods that write', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status, headers } = await fetch(`${server.url}/api/health`, { method });
    expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
  }
});

// This test must be the last one, because it marks the process as stopping.
test('the health check reports the status down while the server stops', async () => {
  noteStopping();
  expect(await downOf()).toMatchObject({ status: 'down', database: 'ok' });
});
