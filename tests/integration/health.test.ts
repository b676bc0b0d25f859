import { afterEach, describe, expect, test, vi } from 'vitest';
import * as route from '@/app/api/health/route';
import { openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { reconciliationRuns, stripeEvents } from '@/db/schema';
import { checkHealth } from '@/lib/health/check-health';
import { setRuntime } from '@/lib/runtime';
import manifest from '@/package.json';
import { useServer } from '../support/http';
import { testRuntime } from '../support/runtime';

type Run = typeof reconciliationRuns.$inferInsert;

describe('GET /api/health', () => {
  const server = useServer({ '/api/health': route });
  const get = () => fetch(`${server.url}/api/health`);
  const addRun = (status: Run['status'], hoursAgo: number) => {
    const at = new Date(server.runtime.now().getTime() - hoursAgo * 3_600_000);
    return server.runtime.db
      .insert(reconciliationRuns)
      .values({ trigger: 'cron', status, started_at: at, heartbeat_at: at });
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
      checks: { reconciliation: 'none', inbox: 'ok' },
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
    await addRun('completed', 40);
    await addRun('failed', 39);
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
      checks: { reconciliation: 'unknown', inbox: 'unknown' },
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
});
