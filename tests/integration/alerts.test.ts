import { createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { alerts, reconciliationRuns } from '@/db/schema';
import { alertWatch, listReported, sendTestAlert } from '@/lib/alerts/watch-alerts';
import { receiveMails, receiveWebhooks } from '../support/alert-receivers';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const database = useDatabase();

let dataDir = '';
let receiver: Awaited<ReturnType<typeof receiveWebhooks>>;
let runtime: TestRuntime;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'w5t-alerts-test-'));
  receiver = await receiveWebhooks();
  runtime = newRuntime({}, new Date('2026-03-15T12:00:00Z'));
  await runtime.db.delete(reconciliationRuns);
  await runtime.db.delete(alerts);
});
afterEach(async () => {
  await receiver.close();
  rmSync(dataDir, { recursive: true });
});

/** Creates the runtime of one process of the service. All processes share the database and DATA_DIR. */
function newRuntime(env: Record<string, string> = {}, now = runtime.now()): TestRuntime {
  const own = { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: SECRET, DATA_DIR: dataDir };
  return testRuntime(database.db, { env: { ...own, ...env }, now });
}

const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));
const received = () => receiver.received.map(({ body }) => JSON.parse(body));
const kinds = () => received().map(({ type, data }) => `${type} ${data.cause}`);

/** Copies a runtime. The copy’s database refuses queries, as during an outage. */
function withoutDatabase(world: TestRuntime): TestRuntime {
  const refuse = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const db = { execute: refuse, transaction: refuse, select: refuse } as unknown as TestRuntime['db'];
  return { ...world, db };
}

const failedRun = (runtime: TestRuntime) => ({
  ...{ trigger: 'schedule' as const, status: 'failed' as const },
  ...{ started_at: runtime.now(), heartbeat_at: runtime.now(), finished_at: runtime.now() },
});

test('a problem is reported once each time it starts, and once when it ends', async () => {
  const check = alertWatch(runtime);
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  await check();
  later(60);
  await check();
  expect(kinds()).toEqual(['alert.started reconciliation_failed']);
  await runtime.db.delete(reconciliationRuns);
  later(60);
  await check();
  await check();
  expect(kinds().slice(1)).toEqual(['alert.resolved reconciliation_failed']);
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  later(60);
  await check();
  expect(kinds().slice(2)).toEqual(['alert.started reconciliation_failed']);
});

test('an alert is signed as Standard Webhooks requires, and says what to do', async () => {
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  await alertWatch(runtime)();
  const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const expected = Buffer.from(createHmac('sha256', key).update(signed).digest('base64'));
  const sent = Buffer.from(String(headers['webhook-signature']).slice('v1,'.length));
  expect(timingSafeEqual(sent, expected)).toBe(true);
  expect(headers['webhook-timestamp']).toBe(String(runtime.now().getTime() / 1000));
  expect(JSON.parse(body)).toEqual({
    type: 'alert.started',
    timestamp: '2026-03-15T12:00:00.000Z',
    data: {
      ...{ cause: 'reconciliation_failed', message: 'The last reconciliation failed.' },
      ...{ action: expect.stringContaining('Open the run'), service: 'http://localhost:3000' },
      ...{ started_at: '2026-03-15T12:00:00.000Z', ended_at: null },
    },
  });
});

test('a problem that two processes find at the same time is reported once', async () => {
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  const checks = [alertWatch(runtime), alertWatch(newRuntime())];
  await Promise.all(checks.map((check) => check()));
  await Promise.all(checks.map((check) => check()));
  expect(kinds()).toEqual(['alert.started reconciliation_failed']);
});

test('a failed delivery of an alert is listed with its reason and retried with the same id', async () => {
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  const check = alertWatch(runtime);
  receiver.status = 500;
  await check();
  await check();
  expect(receiver.received).toHaveLength(1);
  expect(await listReported(runtime)).toMatchObject([
    { cause: 'reconciliation_failed', attempts: 1, failure: 'webhook: the receiver answered 500' },
  ]);
  receiver.status = 204;
  later(31);
  await check();
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  expect(await listReported(runtime)).toMatchObject([{ failure: null, pending: [] }]);
});

test('no problem is recorded while no alert channel is configured', async () => {
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  const silent = newRuntime({ ALERT_WEBHOOK_URL: '', ALERT_WEBHOOK_SECRET: '' });
  await alertWatch(silent)();
  expect(await listReported(silent)).toEqual([]);
});

test('a test alert is delivered at once and never resolved, and fails if it cannot be delivered', async () => {
  await sendTestAlert(runtime, 'admin@example.com');
  await alertWatch(runtime)();
  expect(kinds()).toEqual(['alert.test test']);
  receiver.status = 410;
  await expect(sendTestAlert(runtime, 'admin@example.com')).rejects.toThrow(
    'webhook: the receiver answered 410',
  );
  const silent = newRuntime({ ALERT_WEBHOOK_URL: '', ALERT_WEBHOOK_SECRET: '' });
  await expect(sendTestAlert(silent, 'admin@example.com')).rejects.toThrow('Set ALERT_WEBHOOK_URL');
});

test('an alert is also sent by mail to every address in ALERT_MAIL_TO', async () => {
  const mailbox = await receiveMails();
  const mail = { ALERT_MAIL_FROM: 'w5t@example.com', ALERT_MAIL_TO: 'ops@example.com, boss@example.com' };
  runtime = newRuntime({ SMTP_URL: mailbox.url, ...mail });
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  await alertWatch(runtime)();
  await mailbox.close();
  expect(kinds()).toEqual(['alert.started reconciliation_failed']);
  expect(mailbox.mails).toHaveLength(1);
  const [sent = ''] = mailbox.mails;
  expect(sent).toContain('Subject: [W5T] Alert: The last reconciliation failed.');
  expect(sent).toContain('To: ops@example.com, boss@example.com');
  expect(sent).toContain('What to do: Open the run');
});

test('an alert whose mail failed is retried by mail only, and its webhook is sent once', async () => {
  const mailbox = await receiveMails();
  await mailbox.close();
  const mail = { ALERT_MAIL_FROM: 'w5t@example.com', ALERT_MAIL_TO: 'ops@example.com' };
  runtime = newRuntime({ SMTP_URL: mailbox.url, ...mail });
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  const check = alertWatch(runtime);
  await check();
  later(31);
  await check();
  expect(receiver.received).toHaveLength(1);
  expect(await listReported(runtime)).toMatchObject([{ pending: ['mail'], attempts: 2 }]);
});

test('two processes that find the database down send one alert when it goes down and one when it is up again', async () => {
  const down = [withoutDatabase(runtime), withoutDatabase(newRuntime())].map((world) => alertWatch(world));
  for (let round = 0; round < 3; round += 1) await Promise.all(down.map((check) => check()));
  expect(kinds()).toEqual(['alert.started database_down']);
  expect(received()[0].data.action).toContain('Start the database');
  later(300);
  const up = [alertWatch(runtime), alertWatch(newRuntime())];
  for (let round = 0; round < 2; round += 1) await Promise.all(up.map((check) => check()));
  expect(kinds().slice(1)).toEqual(['alert.resolved database_down']);
  expect(await listReported(runtime)).toMatchObject([{ cause: 'database_down', failure: null, pending: [] }]);
});

test('a single failed database check is not reported', async () => {
  const world = withoutDatabase(runtime);
  const check = alertWatch(world);
  await check();
  world.db = runtime.db;
  await check();
  world.db = withoutDatabase(runtime).db;
  await check();
  expect(kinds()).toEqual([]);
});

test('a process that restarts while the database is down does not report the problem again', async () => {
  const check = () => alertWatch(withoutDatabase(runtime), 1)();
  await check();
  await check();
  expect(kinds()).toEqual(['alert.started database_down']);
});

test.runIf(existsSync('/dev/full'))(
  'a database that is down is reported once, and its end too, even if the disk of DATA_DIR is full',
  async () => {
    mkdirSync(join(dataDir, 'alerts'));
    const draft = join(dataDir, 'alerts', `alerts.json.${process.pid}.tmp`);
    symlinkSync('/dev/full', draft); // Writing to this device fails with ENOSPC.
    const check = alertWatch(withoutDatabase(runtime), 1);
    await check();
    await check();
    expect(kinds()).toEqual(['alert.started database_down']);
    expect(existsSync(join(dataDir, 'alerts', 'alerts.json'))).toBe(false);
    rmSync(draft);
    later(60);
    await alertWatch(runtime)();
    expect(kinds().slice(1)).toEqual(['alert.resolved database_down']);
    expect(await listReported(runtime)).toMatchObject([
      { cause: 'database_down', failure: null, pending: [] },
    ]);
  },
);

test('a reported problem is not resolved while the database is down', async () => {
  await runtime.db.insert(reconciliationRuns).values(failedRun(runtime));
  await alertWatch(runtime)();
  await alertWatch(withoutDatabase(runtime), 1)();
  await alertWatch(runtime)();
  expect(kinds()).toEqual([
    'alert.started reconciliation_failed',
    'alert.started database_down',
    'alert.resolved database_down',
  ]);
});
