import { expect, test } from 'vitest';
import * as cron from '@/app/api/cron/reconcile/route';
import { reconciliationRuns } from '@/db/schema';
import { acquireRun } from '@/lib/sync/reconcile/run';
import { useApi } from '../support/api';
import { createInvoice } from '../support/factories';

const SECRET = 'a-secret-of-the-cron-job';
const server = useApi({ '/api/cron/reconcile': cron }, { CRON_SECRET: SECRET });

async function call(authorization = `Bearer ${SECRET}`) {
  const response = await fetch(`${server.url}/api/cron/reconcile`, { headers: { authorization } });
  const challenge = response.headers.get('www-authenticate');
  return { status: response.status, challenge, body: await response.json() };
}

const refused = { status: 401, challenge: 'Bearer' };

test.each(['', 'Bearer', 'Bearer wrong-secret-altogether', SECRET])(
  'the cron endpoint refuses the Authorization header %j with 401',
  async (authorization) => {
    expect(await call(authorization)).toMatchObject(refused);
  },
);

test.each(['bearer', 'BEARER', 'Bearer  '])(
  'the cron endpoint accepts the authorization scheme %j',
  async (scheme) => {
    expect((await call(`${scheme} ${SECRET}`)).status).toBe(200);
  },
);

test('the cron endpoint refuses every secret if CRON_SECRET is not set', async () => {
  const { env } = server.runtime;
  env.cronSecret = null;
  for (const secret of ['', 'null']) expect(await call(`Bearer ${secret}`)).toMatchObject(refused);
  env.cronSecret = SECRET;
});

test('the cron endpoint completes a reconciliation run and returns its result', async () => {
  await createInvoice(server.runtime.db, { status: 'sent', due_date: '2026-03-01', number: 'OVER-1' });
  const run = { run_id: expect.any(Number), status: 'completed', already_running: false };
  const counts = { stripe_skipped: true, checked: 0, changes: 1, failures: 0 };
  expect(await call()).toEqual({ status: 200, challenge: null, body: { ...run, ...counts } });
});

test('the cron endpoint returns the run that is already in progress', async () => {
  const { db, now } = server.runtime;
  const by = { trigger: 'staff', startedBy: 'staff@example.com' } as const;
  const run = await acquireRun(db, now(), by, { stripe: null, timeZone: 'UTC' });
  const body = { run_id: 'id' in run ? run.id : 0, already_running: true };
  expect(await call()).toMatchObject({ status: 200, body });
});

test('a reconciliation run stopped at Vercel’s time limit continues in a new request', async () => {
  const { runtime } = server;
  await runtime.db.delete(reconciliationRuns);
  const { now, env } = runtime;
  Object.assign(env, { vercel: true, publicUrl: server.url });
  let asked = 0;
  // The clock jumps past the time limit once, during the first request.
  runtime.now = () => new Date(now().getTime() + (++asked > 6 ? 250_000 : 0));
  const { body } = await call();
  expect(body).toMatchObject({ status: 'stopped', already_running: false });
  await expect
    .poll(() => runtime.db.select().from(reconciliationRuns))
    .toMatchObject([{ id: body.run_id, status: 'completed' }]);
  Object.assign(runtime, { now });
  env.vercel = false;
});
