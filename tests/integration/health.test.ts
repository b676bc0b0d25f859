import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as route from '@/app/api/health/route';
import { openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { reconciliationRuns, stripeEvents } from '@/db/schema';
import { checkHealth } from '@/lib/health/check-health';
import { listTasks } from '@/lib/overview/list-tasks';
import { setRuntime } from '@/lib/runtime';
import { noteStopping } from '@/lib/stopping';
import manifest from '@/package.json';
import { useApi } from '../support/api';
import { testRuntime } from '../support/runtime';

const SECRET = 'a-secret-of-the-cron-job';
type Run = typeof reconciliationRuns.$inferInsert;

describe('GET /api/health', () => {
  const server = useApi({ '/api/health': route }, { CRON_SECRET: SECRET });
  /** The database is looked at once in ten seconds. */
  const later = (seconds = 10) =>
    server.runtime.setNow(new Date(server.runtime.now().getTime() + seconds * 1000));
  const get = (headers = {}) => {
    later();
    return fetch(`${server.url}/api/health`, { headers });
  };
  const addRun = async (status: Run['status'], hoursAgo: number, more: Partial<Run> = {}) => {
    const now = server.runtime.now();
    const at = new Date(now.getTime() - hoursAgo * 3_600_000);
    const heartbeat_at = status === 'running' ? now : at;
    const [run] = await server.runtime.db
      .insert(reconciliationRuns)
      .values({ trigger: 'cron', status, started_at: at, heartbeat_at, ...more })
      .returning();
    return run?.id;
  };

  afterEach(async () => {
    await server.runtime.db.delete(reconciliationRuns);
    await server.runtime.db.delete(stripeEvents);
    setRuntime(server.runtime);
  });

  test('answers without a token and is not kept by caches', async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      status: 'ok',
      version: manifest.version,
      database: 'ok',
      checks: { reconciliation: 'none', inbox: 'ok', webhook: 'ok', disk: 'ok' },
    });
  });

  test.each([
    ['completed', 24.9, 'ok', 'ok'],
    ['running', 1, 'ok', 'ok'],
    ['completed', 25.1, 'overdue', 'degraded'],
    ['running', 25.1, 'overdue', 'degraded'],
    ['failed', 1, 'failed', 'degraded'],
    ['completed_with_errors', 1, 'failed', 'degraded'],
  ] as const)('a run that is %s since %d h is %s', async (runStatus, hoursAgo, reconciliation, status) => {
    await addRun('failed', 40);
    await addRun('completed', 39);
    await addRun(runStatus, hoursAgo);
    const response = await get();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status, checks: { reconciliation } });
  });

  test('an event that was not processed is told, but not which', async () => {
    await server.runtime.db.insert(stripeEvents).values({
      id: 'evt_1',
      type: 'invoice.paid',
      livemode: false,
      stripe_created: server.runtime.now(),
      payload: '{}',
      outcome: 'failed',
    });
    const text = await (await get()).text();
    expect(JSON.parse(text)).toMatchObject({ status: 'degraded', checks: { inbox: 'failures' } });
    expect(text).not.toContain('evt_1');
  });

  describe('whoever bears CRON_SECRET', () => {
    const ask = async (secret = SECRET) => {
      return (await get({ authorization: `Bearer ${secret}` })).json();
    };

    test('is told what is wrong, others are not', async () => {
      const run = await addRun('completed_with_errors', 26, { changes_count: 101 });
      const { db, now } = server.runtime;
      const event = { type: 'invoice.paid', livemode: true, stripe_created: now(), payload: '{}' };
      await db.insert(stripeEvents).values([
        { ...event, id: 'evt_1', outcome: 'failed' },
        { ...event, id: 'evt_2', outcome: 'ignored', warnings: ['a live event'], created_at: now() },
        { ...event, id: 'evt_3', outcome: 'ignored', warnings: ['long ago'], created_at: new Date(0) },
        { ...event, id: 'evt_4', outcome: 'ignored' },
      ]);
      expect(await ask('another-secret-altogether')).not.toHaveProperty('alerts');
      expect(await ask()).toEqual({
        status: 'degraded',
        version: manifest.version,
        database: 'ok',
        checks: { reconciliation: 'overdue', inbox: 'failures', webhook: 'ok', disk: 'ok' },
        alerts: [
          {
            code: 'reconciliation_failed',
            message: 'The last reconciliation could not check everything.',
            run_id: run,
          },
          {
            code: 'reconciliation_overdue',
            message: 'No reconciliation has started for more than 25 hours.',
          },
          { code: 'inbox_failures', message: '1 Stripe event failed.' },
          {
            code: 'inbox_other_mode',
            message:
              '1 event came from the wrong Stripe mode (test or live): the webhook’s secret and the keys do not match.',
          },
          {
            code: 'reconciliation_drift',
            message: 'The last reconciliation repaired 101 fields: webhooks may not be arriving.',
            run_id: run,
          },
        ],
      });
    });

    test('is told nothing where all is well, by the limits that are configured', async () => {
      const { env } = server.runtime;
      await addRun('completed', 26, { changes_count: 101 });
      env.alerts = { overdueHours: 3, driftChanges: 101, diskMb: 0 };
      expect(await ask()).toMatchObject({ status: 'ok', alerts: [] });
      env.alerts = { overdueHours: 1, driftChanges: 100, diskMb: 0 };
      expect(await ask()).toMatchObject({ status: 'degraded' });
    });
  });

  test('a run without a heartbeat is told until it is taken up, in words to the operator', async () => {
    const { db, now } = server.runtime;
    const ago = (minutes: number) => new Date(now().getTime() - minutes * 60_000);
    await addRun('completed', 20);
    const run_id = await addRun('running', 0.5, { heartbeat_at: ago(4) });
    expect(await (await get()).json()).toMatchObject({
      status: 'degraded',
      checks: { reconciliation: 'silent' },
    });
    const headers = { Authorization: `Bearer ${SECRET}` };
    const told = await (await get(headers)).json();
    const message = `Reconciliation run ${run_id} has stopped: its process ended before the run did.`;
    expect(told.alerts).toEqual([{ code: 'reconciliation_silent', message, run_id }]);
    expect(await listTasks(db, now(), server.runtime.env)).toEqual(told.alerts);
    await db.update(reconciliationRuns).set({ heartbeat_at: ago(2) });
    expect(await (await get()).json()).toMatchObject({ status: 'ok', checks: { reconciliation: 'ok' } });
  });

  test('a failure is told until a later run has ended', async () => {
    const { db } = server.runtime;
    await addRun('failed', 2);
    await addRun('running', 1);
    expect(await (await get()).json()).toMatchObject({ checks: { reconciliation: 'failed' } });
    await db
      .update(reconciliationRuns)
      .set({ status: 'completed' })
      .where(eq(reconciliationRuns.status, 'running'));
    expect(await (await get()).json()).toMatchObject({ checks: { reconciliation: 'ok' } });
  });

  test('a database that does not answer is 503 and no more', async () => {
    const gone = openPostgres('postgres://nobody:secret@127.0.0.1:1/none');
    setRuntime(testRuntime(gone.db));
    const response = await get();
    await gone.close();
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: 'down',
      version: manifest.version,
      database: 'unreachable',
      checks: { reconciliation: 'unknown', inbox: 'unknown', webhook: 'unknown', disk: 'unknown' },
    });
  });

  test('a service that cannot start is 503, and says no more', async () => {
    setRuntime(undefined);
    vi.stubEnv('PORT', 'http');
    const response = await get();
    vi.unstubAllEnvs();
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ status: 'down', database: 'unreachable' });
  });

  test('a database that is silent is waited for only so long', async () => {
    const silent = { execute: () => new Promise(() => {}) } as unknown as Database;
    expect(await checkHealth(testRuntime(silent), 20)).toMatchObject({ status: 'down' });
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s is not allowed', async (method) => {
    const response = await fetch(`${server.url}/api/health`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });

  // The last one: this process stops from here on.
  test('a server that was told to stop is down, though its database answers', async () => {
    noteStopping();
    const response = await get();
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ status: 'down', database: 'ok' });
  });
});
