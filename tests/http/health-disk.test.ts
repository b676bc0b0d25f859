import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, describe, expect, test, vi } from 'vitest';
import * as health from '@/app/api/health/route';
import * as all from '@/app/api/w5t/payments/route';
import { useApi } from '../support/api';
import { createInvoice } from '../support/factories';
import { callPayments } from '../support/payments-api';

const CRON_SECRET = 'a-secret-of-the-cron-job';
const folder = mkdtempSync(join(tmpdir(), 'w5t-disk-'));
const server = useApi({ '/api/health': health, '/api/w5t/payments': all }, { CRON_SECRET, DATA_DIR: folder });

afterAll(() => rmSync(folder, { recursive: true }));

const later = (seconds: number) =>
  server.runtime.setNow(new Date(server.runtime.now().getTime() + seconds * 1000));

async function ask() {
  const headers = { authorization: `Bearer ${CRON_SECRET}` };
  const response = await fetch(`${server.url}/api/health`, { headers });
  const { status, checks, alerts } = await response.json();
  return { http: response.status, status, disk: checks.disk, alerts };
}

const askLater = () => {
  later(10);
  return ask();
};

const well = { http: 200, status: 'ok', disk: 'ok', alerts: [] };

test('a disk with little left is told, by the limit that is configured', async () => {
  const { env } = server.runtime;
  expect(await askLater()).toEqual(well);
  env.alerts.diskMb = 1_000_000_000;
  const message = 'The disk of DATA_DIR has less than 1000000000 MB left.';
  expect(await askLater()).toEqual({
    http: 200,
    status: 'degraded',
    disk: 'low',
    alerts: [{ code: 'disk_low', message }],
  });
  env.databaseUrl = 'postgres://elsewhere/w5t'; // whose disk is not this one
  expect(await askLater()).toEqual(well);
  env.databaseUrl = null;
  env.alerts.diskMb = 200;
});

test('a write that found no room is told until one finds some', async () => {
  const { db } = server.runtime;
  const token = await server.token('payments:read', 'payments:write');
  const invoice = await createInvoice(db);
  let made = 0;
  const post = async () => {
    made += 1;
    const { id: invoice_id, customer_id } = invoice;
    const payment_reference = `DISK-${made}`;
    const body = { invoice_id, customer_id, amount: 1, payment_date: '2026-03-01', payment_reference };
    return (await callPayments({ url: server.url, token }, 'POST', '', body)).status;
  };
  await db.execute(sql`
    create function no_room() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
  await db.execute(
    sql`create trigger no_room before insert on payments for each row execute function no_room()`,
  );
  expect(await post()).toBe(503);
  const full = {
    http: 200,
    status: 'degraded',
    disk: 'full',
    alerts: [{ code: 'disk_full', message: 'The database could not write: its disk is full.' }],
  };
  expect(await askLater()).toEqual(full);
  // Reads, rows that are changed in their place and other tables prove nothing.
  expect((await callPayments({ url: server.url, token }, 'GET', '')).status).toBe(200);
  await createInvoice(db);
  await db.execute(sql`update access_tokens set last_used_at = now()`);
  expect(await askLater()).toEqual(full);
  await db.execute(sql`drop trigger no_room on payments`);
  expect(await post()).toBe(201);
  expect(await askLater()).toEqual(well);
});

describe('the database is looked at once in ten seconds', () => {
  test('whoever asks, and however many at once', async () => {
    later(10);
    const asked = vi.spyOn(server.runtime.db, 'execute');
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${server.url}/api/health`)));
    const once = asked.mock.calls.length;
    later(9);
    expect(await ask()).toEqual(well);
    expect(asked).toHaveBeenCalledTimes(once);
    await askLater();
    expect(asked).toHaveBeenCalledTimes(2 * once);
    asked.mockRestore();
  });
});
