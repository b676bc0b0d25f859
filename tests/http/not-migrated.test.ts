import { sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as cron from '@/app/api/cron/reconcile/route';
import * as health from '@/app/api/health/route';
import * as webhook from '@/app/api/stripe/webhook/route';
import * as payments from '@/app/api/w5t/payments/route';
import * as mcp from '@/app/mcp/route';
import * as unavailable from '@/app/unavailable/route';
import { rows } from '@/db/database';
import { useApi } from '../support/api';
import { disownMigrations, FOREIGN } from '../support/foreign-migrations';
import { deliver, WEBHOOK_SECRET } from '../support/stripe-events';

const SENTENCE = 'The database of DATABASE_URL is not migrated: run npm run db:migrate first.';
const CRON_SECRET = 'a-secret-of-the-cron-job';

describe('a running server whose database is older than its code', () => {
  const server = useApi(
    {
      '/api/cron/reconcile': cron,
      '/api/health': health,
      '/api/stripe/webhook': webhook,
      '/api/w5t/payments': payments,
      '/mcp': mcp,
      '/unavailable': unavailable,
    },
    { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, CRON_SECRET },
  );
  let token: string;
  const migrations = sql`drizzle.__drizzle_migrations`;

  beforeAll(async () => {
    token = await server.token('payments:read', 'mcp:read');
  });

  beforeEach(async () => {
    const { db } = server.runtime;
    await db.execute(sql`alter table access_tokens rename column token_hash to hash`);
    await db.execute(sql`alter table reconciliation_runs rename to runs`);
    await db.execute(sql`alter table stripe_events rename to events`);
    await db.execute(sql`update ${migrations} set created_at = created_at - 1 where id > 1`);
    return async () => {
      await db.execute(sql`alter table access_tokens rename column hash to token_hash`);
      await db.execute(sql`alter table runs rename to reconciliation_runs`);
      await db.execute(sql`alter table events rename to stripe_events`);
      await db.execute(sql`update ${migrations} set created_at = created_at + 1 where id > 1`);
      await expectWell();
    };
  });

  const headers = () => ({ authorization: `Bearer ${token}` });
  const get = (path: string, init: RequestInit = {}) => {
    // Health looks once in ten seconds.
    server.runtime.setNow(new Date(server.runtime.now().getTime() + 10_000));
    return fetch(server.url + path, { headers: headers(), redirect: 'manual', ...init });
  };
  const rpc = (method: string, params: unknown) =>
    get('/mcp', {
      method: 'POST',
      headers: { ...headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });

  /** Nobody starts it again: the next requests find that the database has what they need. */
  async function expectWell() {
    expect((await get('/api/w5t/payments')).status).toBe(200);
    expect((await rpc('tools/list', {})).status).toBe(200);
    expect(await (await get('/api/health')).json()).toMatchObject({ database: 'ok' });
    const gone = await get('/unavailable');
    expect([gone.status, gone.headers.get('location')]).toEqual([303, '/admin']);
  }

  test('the API says so at the first request', async () => {
    const response = await get('/api/w5t/payments');
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.json()).toMatchObject({ type: 'urn:w5t:error:unavailable', detail: SENTENCE });
  });

  test('the tool server says so in its own form', async () => {
    for (const response of [await rpc('tools/list', {}), await rpc('tools/list', {})]) {
      expect(response.status).toBe(503);
      expect(await response.json()).toEqual({
        error: 'temporarily_unavailable',
        error_description: SENTENCE,
      });
    }
  });

  test('the webhook says so to Stripe, which delivers again', async () => {
    const event = { id: 'evt_1', object: 'event', type: 'invoice.paid', created: 1, data: { object: {} } };
    const told = await deliver(server.url, event, server.runtime.now());
    expect([told.status, told.body]).toEqual([503, { error: SENTENCE }]);
  });

  test('health calls it by its name', async () => {
    const response = await get('/api/health');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ status: 'down', database: 'not_migrated' });
  });

  test('a database from before the first release is told by its name', async () => {
    const { db } = server.runtime;
    const kept = await rows<{ id: number; at: string }>(
      db,
      sql`select id, created_at::text as at from ${migrations}`,
    );
    await disownMigrations(db);
    const response = await get('/api/w5t/payments');
    expect([response.status, await response.json()]).toMatchObject([503, { detail: FOREIGN }]);
    expect(await (await get('/api/health')).json()).toMatchObject({ database: 'not_migrated' });
    for (const { id, at } of kept) {
      await db.execute(sql`update ${migrations} set created_at = ${at}::bigint where id = ${id}`);
    }
  });

  test('the nightly run is refused', async () => {
    const response = await get('/api/cron/reconcile', {
      headers: { authorization: `Bearer ${CRON_SECRET}` },
    });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ detail: SENTENCE });
  });

  test('the address that staff pages lead to says so', async () => {
    await get('/api/w5t/payments');
    const response = await get('/unavailable');
    expect(response.status).toBe(503);
    expect(await response.text()).toContain(SENTENCE);
  });
});
