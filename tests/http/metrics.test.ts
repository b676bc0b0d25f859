import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import * as live from '@/app/api/health/live/route';
import * as metricsFile from '@/app/metrics/route';
import { reconciliationChanges, reconciliationRuns } from '@/db/schema';
import { closeMetrics, openMetrics } from '@/lib/metrics/metrics';
import { routeNames } from '@/lib/metrics/route-names';
import { fastFirst } from '@/lib/server/fast/fast-first';
import { FAST_ROUTES } from '@/lib/server/fast/routes';
import { LIMITS } from '@/lib/server/limits';
import { openHttpServer } from '@/lib/server/open-http-server';
import { limitRenderings } from '@/lib/server/page-places';
import { type ProviderEvent, toProviderEvent } from '@/lib/stripe/event';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useApi } from '../support/api';
import { createStoredEvent, createStripeCustomer } from '../support/factories';
import { freePort } from '../support/pooler';
import { finalized, toEvent, voided } from '../support/stripe-events';

const TOKEN = 'a-token-for-prometheus';
const api = useApi({ '/metrics': metricsFile, '/api/health/live': live }, { METRICS_TOKEN: TOKEN });

async function scrape(url = api.url, authorization = `Bearer ${TOKEN}`) {
  const response = await fetch(`${url}/metrics`, { headers: { authorization } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Returns the samples of a metric as `{labels} value`, or as `value` if it has no labels. */
const samplesOf = (text: string, name: string) =>
  text
    .split('\n')
    .flatMap((line) =>
      line.startsWith(`${name}{`) || line.startsWith(`${name} `) ? [line.slice(name.length).trim()] : [],
    );

beforeEach(() => closeMetrics());
afterAll(() => closeMetrics());

// cron.test.ts tests the forms of the Authorization header.
test('the metrics endpoint refuses a wrong token with 401', async () => {
  const { status, headers, text } = await scrape(api.url, 'Bearer a-token-for-another-program');
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect(text).not.toContain('w5t_');
});

test('the metrics endpoint answers 404 to every caller while METRICS_TOKEN is not set', async () => {
  const { env } = api.runtime;
  env.metricsToken = null;
  for (const authorization of [`Bearer ${TOKEN}`, 'Bearer ']) {
    expect((await scrape(api.url, authorization)).status).toBe(404);
  }
  env.metricsToken = TOKEN;
  expect((await scrape()).status).toBe(200);
});

describe('the metrics', () => {
  test('the metrics are served as Prometheus text that must not be cached', async () => {
    const { headers, text } = await scrape();
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).toContain('# TYPE w5t_database_up gauge\nw5t_database_up 1\n');
    expect(Number(samplesOf(text, 'w5t_database_size_bytes')[0])).toBeGreaterThan(1_000_000);
    expect(text).toContain('process_resident_memory_bytes');
  });

  test('the metrics count Stripe events by outcome, and measure the time until an event is processed', async () => {
    await openMetrics(routeNames([]));
    const { runtime } = api;
    const counts = async () =>
      samplesOf((await scrape()).text, 'w5t_stripe_events_total')
        .sort()
        .join(' ');
    // `increase` in an alert rule does not count the first sample of a series, so each outcome starts with 0.
    expect(await counts()).toMatch(/^({outcome="[a-z]+"} 0 ?){6}$/);
    const { stripe_customer_id: customer } = await createStripeCustomer(runtime.db);
    const sent = [
      toEvent(finalized('in_1', { customer }, { at: -30 }), 1),
      toEvent(voided('in_1', { customer }), 2),
      toEvent(voided('in_1', { customer }), 2),
    ];
    for (const one of sent) {
      await handleEvent(syncDeps(runtime), toProviderEvent(one) as ProviderEvent, JSON.stringify(one));
    }
    expect(await counts()).toBe(
      '{outcome="duplicate"} 1 {outcome="failed"} 0 {outcome="ignored"} 1 ' +
        '{outcome="processed"} 1 {outcome="stale"} 0 {outcome="unmatched"} 0',
    );
    const { text } = await scrape();
    expect(samplesOf(text, 'w5t_stripe_event_lag_seconds_sum')).toEqual(['30']);
  });

  test('the metrics report the last reconciliation run and the backlog of the inbox', async () => {
    const { db, now } = api.runtime;
    const secondsAgo = (seconds: number) => new Date(now().getTime() - seconds * 1000);
    const ended = {
      ...({
        trigger: 'schedule',
        status: 'completed_with_errors',
        changes_count: 3,
        failures_count: 2,
      } as const),
      ...{ started_at: secondsAgo(3600), heartbeat_at: secondsAgo(3500), finished_at: secondsAgo(3500) },
    };
    const [run] = await db
      .insert(reconciliationRuns)
      .values({ ...ended, window_from: new Date(0) })
      .returning();
    // One of our own invoices fell due, which is not a repair.
    const change = { run_id: run?.id ?? 0, entity: 'invoice', field: 'status', outcome: 'fixed' } as const;
    const stripe_id = 'in_1';
    await db
      .insert(reconciliationChanges)
      .values([change, { ...change, stripe_id }, { ...change, stripe_id }]);
    await createStoredEvent(db, { outcome: 'failed' });
    const { text } = await scrape();
    const found = ['age_seconds', 'duration_seconds', 'changes', 'failures', 'ok', 'running'].map((name) =>
      samplesOf(text, `w5t_reconciliation_${name}`),
    );
    expect(found.flat()).toEqual(['3600', '100', '2', '2', '0', '0']);
    expect(samplesOf(text, 'w5t_inbox_events')).toEqual(['{outcome="failed"} 1', '{outcome="unmatched"} 0']);
  });

  test('the metrics endpoint answers 200 and reports the database as down when the database fails', async () => {
    const { runtime } = api;
    const { db } = runtime;
    expect(samplesOf((await scrape()).text, 'w5t_inbox_events')).toHaveLength(2);
    runtime.db = { execute: () => Promise.reject(new Error('no database')) } as unknown as typeof db;
    const { status, text } = await scrape();
    runtime.db = db;
    expect([status, samplesOf(text, 'w5t_database_up')]).toEqual([200, ['0']]);
    expect(samplesOf(text, 'w5t_inbox_events')).toEqual([]);
    expect(samplesOf(text, 'w5t_database_size_bytes')).toEqual([]);
  });
});

test('the metrics count requests by route, method and status, including those that Next answers', async () => {
  const { env, log } = api.runtime;
  const port = await freePort();
  const next = limitRenderings(async (_, response) => void response.writeHead(418).end(), LIMITS);
  const settings = { ...env, port, log, secret: 'a secret' };
  const server = await openHttpServer(settings, fastFirst(FAST_ROUTES, next));
  onTestFinished(() => server.stop());
  const url = `http://127.0.0.1:${port}`;
  await openMetrics(routeNames(['/metrics', '/api/health/live', '/admin/customers/[id]']));
  await fetch(`${url}/api/health/live?a=1`);
  await fetch(`${url}/admin/customers/17?q=name@example.com`, { method: 'POST' });
  await fetch(`${url}/wp-login.php`);
  const requests = async () => samplesOf((await scrape(url)).text, 'w5t_http_requests_total');
  await expect
    .poll(requests)
    .toEqual(
      expect.arrayContaining([
        '{route="/api/health/live",method="GET",status="200"} 1',
        '{route="/admin/customers/[id]",method="POST",status="418"} 1',
        '{route="other",method="GET",status="418"} 1',
      ]),
    );
  const { text } = await scrape(url);
  expect(samplesOf(text, 'w5t_http_request_duration_seconds_count')).toContain('{route="other"} 1');
  expect(samplesOf(text, 'w5t_queue_requests')).toContain('{queue="pages",state="waiting"} 0');
  expect(text).not.toContain('example.com');
});

test('the liveness endpoint returns the status ok and the version', async () => {
  const response = await fetch(`${api.url}/api/health/live`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok', version: '1.0.0' }]);
});

test('the example alert rules and dashboard use only metrics that exist', async () => {
  await openMetrics(routeNames([]));
  const { text } = await scrape();
  const known = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', kind]) =>
      kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  const used = ['alerts.yml', 'dashboard.json'].flatMap((file) => {
    const example = readFileSync(`docs/examples/monitoring/${file}`, 'utf8');
    return example.match(/\b(w5t|process|nodejs)_[a-z_0-9]+/g) ?? [];
  });
  expect(used.length).toBeGreaterThan(20);
  expect([...new Set(used)].filter((name) => !known.has(name))).toEqual([]);
});
