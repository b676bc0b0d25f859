import { describe, expect, test } from 'vitest';
import * as cron from '@/app/api/cron/reconcile/route';
import { reconciliationRuns } from '@/db/schema';
import { acquireRun } from '@/lib/sync/reconcile/run';
import { useApi } from '../support/api';
import { createInvoice } from '../support/factories';

const SECRET = 'a-secret-of-the-cron-job';
const server = useApi({ '/api/cron/reconcile': cron }, { CRON_SECRET: SECRET });

async function call(authorization: string, method = 'GET') {
  const response = await fetch(`${server.url}/api/cron/reconcile`, { method, headers: { authorization } });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

describe('the cron endpoint', () => {
  test.each(['', 'Bearer', 'Bearer wrong-secret-altogether', SECRET])(
    'the cron endpoint refuses the Authorization header %j with 401',
    async (authorization) => {
      const { status, headers } = await call(authorization);
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    },
  );

  test.each(['bearer', 'BEARER', 'Bearer  '])(
    'the cron endpoint accepts the authorization scheme %j',
    async (scheme) => {
      expect((await call(`${scheme} ${SECRET}`)).status).toBe(200);
    },
  );

  test('the cron endpoint refuses every secret if CRON_SECRET is not set', async () => {
    const { runtime } = server;
    runtime.env.cronSecret = null;
    expect((await call('Bearer ')).status).toBe(401);
    expect((await call('Bearer null')).status).toBe(401);
    runtime.env.cronSecret = SECRET;
  });

  test('the cron endpoint completes a reconciliation run and returns its result', async () => {
    await createInvoice(server.runtime.db, { status: 'sent', due_date: '2026-03-01', number: 'OVER-1' });
    const { status, body } = await call(`Bearer ${SECRET}`);
    expect([status, body]).toEqual([
      200,
      {
        run_id: expect.any(Number),
        status: 'completed',
        already_running: false,
        stripe_skipped: true,
        checked: 0,
        changes: 1,
        failures: 0,
      },
    ]);
  });

  test('the cron endpoint returns the run that is already in progress', async () => {
    const { db, now } = server.runtime;
    const run = await acquireRun(
      db,
      now(),
      { trigger: 'staff', startedBy: 'staff@example.com' },
      { stripe: null, timeZone: 'UTC' },
    );
    const { status, body } = await call(`Bearer ${SECRET}`);
    expect([status, body]).toMatchObject([200, { run_id: 'id' in run ? run.id : 0, already_running: true }]);
  });

  test('a reconciliation run stopped at Vercel’s time limit continues in a new request', async () => {
    const { runtime } = server;
    await runtime.db.delete(reconciliationRuns);
    const { now, env } = runtime;
    Object.assign(env, { vercel: true, publicUrl: server.url });
    let asked = 0;
    // The clock jumps past the time limit once, during the first request.
    runtime.now = () => new Date(now().getTime() + (++asked > 6 ? 250_000 : 0));
    const first = await call(`Bearer ${SECRET}`);
    expect(first.body).toMatchObject({ status: 'stopped', already_running: false });
    await expect
      .poll(() => runtime.db.select().from(reconciliationRuns))
      .toMatchObject([{ id: first.body.run_id, status: 'completed' }]);
    Object.assign(runtime, { now });
    env.vercel = false;
  });

  test('the cron endpoint answers 405 to POST', async () => {
    const { status, headers } = await call(`Bearer ${SECRET}`, 'POST');
    expect([status, headers.get('allow')]).toEqual([405, 'GET']);
  });
});
