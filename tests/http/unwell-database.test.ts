import { sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import * as cron from '@/app/api/cron/reconcile/route';
import * as health from '@/app/api/health/route';
import * as webhook from '@/app/api/stripe/webhook/route';
import * as mcp from '@/app/mcp/route';
import * as unavailable from '@/app/unavailable/route';
import { accessTokens } from '@/db/schema';
import { listAlerts } from '@/lib/health/check-health';
import { disownMigrations, FOREIGN } from '../support/database';
import { expectProblem, usePayments } from '../support/payments-server';
import { postRpc } from '../support/post-json';
import { temporaryFolder } from '../support/run-command';
import { postEvent, WEBHOOK_SECRET } from '../support/stripe-events';

const SENTENCE = 'The database of DATABASE_URL is not migrated: run npm run db:migrate first.';
const CRON_SECRET = 'a-secret-of-the-cron-job';

const { server, call, openInvoice } = usePayments(
  { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, CRON_SECRET, DATA_DIR: temporaryFolder() },
  {
    '/api/cron/reconcile': cron,
    '/api/health': health,
    '/api/stripe/webhook': webhook,
    '/mcp': mcp,
    '/unavailable': unavailable,
  },
  { withOwnDatabase: true, withLog: true },
);
let token = '';
beforeAll(async () => {
  token = await server.token('mcp:read');
});

const get = (path: string, authorization = '') =>
  fetch(server.url + path, { headers: { authorization }, redirect: 'manual' });
const rpc = (method: string, params: unknown) => postRpc(server.url, token, method, params);

const event = { id: 'evt_1', object: 'event', type: 'invoice.paid', created: 1, data: { object: {} } };

/** Advances the clock, by default past the ten-second cache of the health check, and returns the report. */
async function healthLater(seconds = 10) {
  server.later(seconds);
  const response = await get('/api/health', `Bearer ${CRON_SECRET}`);
  const { status, database, checks, alerts } = await response.json();
  return { http: response.status, status, database, disk: checks?.disk, alerts };
}

describe('a database that is older than the code', () => {
  const alter = (change: string) => server.runtime.db.execute(sql.raw(`alter table ${change}`));

  beforeEach(async () => {
    await alter('access_tokens rename column token_hash to hash');
    await alter('reconciliation_runs rename to runs');
    await alter('stripe_events rename to events');
    await alter('drizzle.__drizzle_migrations rename to later_migrations');
    return async () => {
      await alter('access_tokens rename column hash to token_hash');
      await alter('runs rename to reconciliation_runs');
      await alter('events rename to stripe_events');
      await alter('drizzle.later_migrations rename to __drizzle_migrations');
      await expectWell();
    };
  });

  /** Expects the next requests to succeed on the migrated database without a restart. */
  async function expectWell() {
    expect((await call('GET')).status).toBe(200);
    expect((await rpc('tools/list', {})).status).toBe(200);
    expect(await healthLater()).toMatchObject({ database: 'ok' });
    const gone = await get('/unavailable');
    expect([gone.status, gone.headers.get('location')]).toEqual([303, '/admin']);
  }

  test.each<[string, () => Promise<Response>]>([
    ['payments API', () => get('/api/w5t/payments', `Bearer ${token}`)],
    ['MCP endpoint', () => rpc('tools/list', {})],
    ['webhook', () => postEvent(server.url, event, server.runtime.now())],
    ['cron endpoint', () => get('/api/cron/reconcile', `Bearer ${CRON_SECRET}`)],
    ['error page', () => call('GET').then(() => get('/unavailable'))],
  ])('the %s answers 503 with the command to run while the database is not migrated', async (_, ask) => {
    for (const answer of [await ask(), await ask()]) {
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining(SENTENCE)]);
    }
  });

  test('the health check reports down while the database is not migrated', async () => {
    expect(await healthLater()).toMatchObject({ http: 503, status: 'down', database: 'not_migrated' });
  });

  test('the payments API reports that its database predates the first release', async () => {
    const { db } = server.runtime;
    await db.execute(sql`create table own_migrations as select id, created_at from drizzle.later_migrations`);
    await alter('drizzle.later_migrations rename to __drizzle_migrations');
    await disownMigrations(db);
    const { status, body } = await call('GET');
    expect([status, body]).toMatchObject([503, { detail: FOREIGN }]);
    expect(await healthLater()).toMatchObject({ database: 'not_migrated' });
    await db.execute(
      sql`update drizzle.__drizzle_migrations m set created_at = o.created_at from own_migrations o where o.id = m.id`,
    );
    await db.execute(sql`drop table own_migrations`);
    await alter('drizzle.__drizzle_migrations rename to later_migrations');
  });
});

describe('failing queries', () => {
  test('a failed query of the payments API is logged with the reference in its response', async () => {
    const { body } = await openInvoice();
    const { db } = server.runtime;
    server.logged.length = 0;
    await db.execute(sql`alter table payments rename to payments_away`);
    const answers = [await call('GET', '/1'), await call('POST', '', body), await call('DELETE', '/1')];
    await db.execute(sql`alter table payments_away rename to payments`);
    for (const answer of answers) {
      expectProblem(answer, 'internal');
      const ref = answer.headers.get('x-request-id');
      expect(answer.body.detail).toBe(`Something went wrong on our side (ref ${ref}). Try again later.`);
      expect(server.logged).toContainEqual(expect.objectContaining({ level: 50, ref, code: '42P01' }));
    }
    expect(JSON.stringify(server.logged)).not.toContain(body.payment_reference);
  });

  test('a failed query of an MCP tool is logged without its search text and SQL', async () => {
    const { db } = server.runtime;
    server.logged.length = 0;
    await db.execute(sql`alter table customers rename column search_text to gone`);
    const params = { name: 'find-customer-tool', arguments: { query: 'Erika Mustermann' } };
    const response = await rpc('tools/call', params);
    await db.execute(sql`alter table customers rename column gone to search_text`);
    const failure = server.logged.find((line) => line.msg === 'tool find-customer-tool failed');
    expect(failure).toMatchObject({ code: '42703', ref: expect.any(String), stack: expect.any(String) });
    const text = `Internal error (ref ${failure?.ref}). Try again later.`;
    const { result } = await response.json();
    expect(result).toEqual({ isError: true, content: [{ type: 'text', text }] });
    expect(JSON.stringify(server.logged)).not.toMatch(/Mustermann|select /i);
  });
});

describe('a full disk', () => {
  const well = { http: 200, status: 'ok', database: 'ok', disk: 'ok', alerts: [] };

  test('the health check alerts when the disk has less free space than configured', async () => {
    const { env } = server.runtime;
    expect(await healthLater()).toEqual(well);
    env.alerts.diskMb = 1_000_000_000;
    const message = 'The disk of DATA_DIR has less than 1000000000 MB left.';
    const alerts = [{ code: 'disk_low', message }];
    expect(await healthLater()).toEqual({ ...well, status: 'degraded', disk: 'low', alerts });
    env.databaseUrl = 'postgres://elsewhere/w5t'; // A database server does not use the disk of DATA_DIR.
    expect(await healthLater()).toEqual(well);
    env.databaseUrl = null;
    env.alerts.diskMb = 200;
  });

  /** Statements that make inserts of payments and events, and CREATE TABLE AS, fail as if the disk were full. */
  const NO_ROOM = [
    `create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`,
    `create function no_room_for_tables() returns event_trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`,
    'create trigger no_room before insert on payments for each row execute function no_room()',
    'create trigger no_room before insert on stripe_events for each row execute function no_room()',
    `create event trigger no_room on ddl_command_start when tag in ('CREATE TABLE AS')
      execute function no_room_for_tables()`,
  ];

  async function fillDisk() {
    for (const statement of NO_ROOM) await server.runtime.db.execute(sql.raw(statement));
  }
  async function makeRoom() {
    const { db } = server.runtime;
    await db.execute(sql`drop event trigger no_room`);
    await db.execute(sql`drop function no_room_for_tables`);
    await db.execute(sql`drop function no_room cascade`);
  }

  test('a payment that a full disk cannot store is answered with 507, and the health check alerts until space is free', async () => {
    const { db } = server.runtime;
    const { body } = await openInvoice();
    const post = (payment_reference: string) => call('POST', '', { ...body, amount: 1, payment_reference });
    await fillDisk();
    const refused = await post('DISK-1');
    expectProblem(refused, 'insufficient_storage');
    expect(refused.body.detail).toMatch(/^The disk of the database is full, so nothing was saved\./);
    const message = 'The disk of the database is full: nothing can be saved until space is freed.';
    const full = { ...well, status: 'degraded', disk: 'full', alerts: [{ code: 'disk_full', message }] };
    expect(await healthLater()).toEqual(full);
    // Reads, in-place updates and writes to other tables do not prove that there is space again.
    expect((await call('GET')).status).toBe(200);
    await openInvoice();
    await db.execute(sql`update access_tokens set last_used_at = now()`);
    expect(await healthLater()).toEqual(full);
    await makeRoom();
    expect(await healthLater()).toEqual(well);
    expect((await post('DISK-2')).status).toBe(201);
  });

  test('a payment that a read-only database server cannot store is answered with 503, and the health check alerts', async () => {
    const { db, env } = server.runtime;
    const { body } = await openInvoice();
    await db.execute(sql`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'cannot execute INSERT in a read-only transaction' using errcode = '25006'; end $$`);
    try {
      await db.execute(
        sql`create trigger refuse before insert on payments for each row execute function refuse()`,
      );
      const refused = await call('POST', '', { ...body, amount: 1, payment_reference: 'READ-ONLY' });
      expectProblem(refused, 'unavailable');
      expect(refused.body.detail).toBe('The database is read-only. Try again later.');
    } finally {
      await db.execute(sql`drop function refuse cascade`);
    }
    const { alerts } = await db.transaction(
      (tx) => listAlerts(tx, new Date(), { ...env, databaseUrl: 'postgres://elsewhere/w5t' }),
      { accessMode: 'read only' },
    );
    expect(alerts).toContainEqual(expect.objectContaining({ code: 'database_read_only' }));
  });

  test('a failed update of a token’s last use is retried at most once a minute', async () => {
    const { db } = server.runtime;
    await db.update(accessTokens).set({ last_used_at: null });
    await fillDisk();
    await db.execute(
      sql`create trigger no_room before update on access_tokens for each row execute function no_room()`,
    );
    server.logged.length = 0;
    const failures = () => server.logged.filter(({ ref }) => ref === 'last_used_at').length;
    server.later(120);
    for (const tried of [1, 2]) {
      expect((await call('GET')).status).toBe(200);
      await expect.poll(failures).toBe(tried);
      for (let i = 0; i < 5; i += 1) expect((await call('GET')).status).toBe(200);
      server.later(61);
    }
    await makeRoom();
    await call('GET');
    await healthLater();
    expect(failures()).toBe(2);
  });

  test('the webhook answers 500 when the disk is full', async () => {
    await fillDisk();
    const answer = await postEvent(server.url, event, server.runtime.now());
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: 'Internal error' }]);
    await makeRoom();
    await healthLater();
  });

  test('the health check queries the database at most once in ten seconds', async () => {
    server.later(10);
    const asked = vi.spyOn(server.runtime.db, 'execute');
    await Promise.all(Array.from({ length: 20 }, () => get('/api/health')));
    const once = asked.mock.calls.length;
    expect(await healthLater(9)).toEqual(well);
    expect(asked).toHaveBeenCalledTimes(once);
    await healthLater();
    expect(asked).toHaveBeenCalledTimes(2 * once);
    asked.mockRestore();
  });
});
