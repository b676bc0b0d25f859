import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import { describe, expect, inject, test } from 'vitest';
import * as register from '@/app/api/auth/oauth2/register/route';
import * as health from '@/app/api/health/route';
import * as webhook from '@/app/api/stripe/webhook/route';
import * as payments from '@/app/api/w5t/payments/route';
import * as mcp from '@/app/mcp/route';
import { openPostgres } from '@/db/client';
import { rows } from '@/db/database';
import { recordForInvoice, staffWriter } from '@/lib/payments/typed-payment';
import { useApi } from '../support/api';
import { countLockWaits } from '../support/database';
import { withDatabase } from '../support/database-url';
import { createInvoice } from '../support/factories';
import { measureReads, requireQuick } from '../support/measure-reads';
import { deliver, WEBHOOK_SECRET } from '../support/stripe-events';

const AT_ONCE = 12;
const postgres = inject('postgres');

// PGlite has a single connection, so no write can wait for a lock of another connection. payments-concurrency.test.ts
// tests concurrent payments on both databases.
describe.runIf(postgres)('twelve writes that wait for a lock', () => {
  const server = useApi(
    {
      '/api/auth/oauth2/register': register,
      '/api/health': health,
      '/api/stripe/webhook': webhook,
      '/api/w5t/payments': payments,
      '/mcp': mcp,
    },
    { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, BETTER_AUTH_SECRET: 'a-secret-of-tests-with-enough-characters' },
  );
  let drawn = 0;

  /** A statement that takes locks, and a write that waits for them and returns a status. */
  interface Waiting {
    lock: SQL;
    write(i: number): Promise<number>;
  }

  const typed = () => {
    drawn += 1;
    return { amount: 1, payment_date: '2026-03-10', payment_reference: `BULK-${drawn}` };
  };
  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const all = { 'content-type': 'application/json', ...headers };
    const init = { method: 'POST', headers: all, body: JSON.stringify(body) };
    return (await fetch(server.url + path, init)).status;
  };

  async function lockInvoices(count: number) {
    const invoices = await Promise.all(Array.from({ length: count }, () => createInvoice(server.runtime.db)));
    const ids = sql.raw(invoices.map(({ id }) => id).join());
    const invoiceOf = (i: number) => invoices[i % count] as (typeof invoices)[number];
    return { lock: sql`select from invoices where id in (${ids}) for update`, invoiceOf };
  }

  async function apiPayments(count: number): Promise<Waiting> {
    const { lock, invoiceOf } = await lockInvoices(count);
    const authorization = `Bearer ${await server.token('payments:write')}`;
    const write = (i: number) => {
      const { id: invoice_id, customer_id } = invoiceOf(i);
      return post('/api/w5t/payments', { authorization }, { invoice_id, customer_id, ...typed() });
    };
    return { lock, write };
  }

  /** Records payments as the staff page does. */
  async function staffPayments(): Promise<Waiting> {
    const { lock, invoiceOf } = await lockInvoices(1);
    const writer = staffWriter(server.runtime, { id: 'staff', email: 'staff@example.com' });
    const write = async (i: number) => {
      await recordForInvoice(server.runtime.db, invoiceOf(i).id, { ...typed(), amount: '1.00' }, writer);
      return 201;
    };
    return { lock, write };
  }

  const lockKey = (key: string) => sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;

  async function registrations(): Promise<Waiting> {
    const client = { redirect_uris: ['https://app.example/callback'] };
    const write = (i: number) =>
      post('/api/auth/oauth2/register', { 'x-forwarded-for': `198.51.100.${i}` }, client);
    return { lock: lockKey('oauth registration'), write };
  }

  async function deliveries(type: string): Promise<Waiting> {
    drawn += 1;
    const customer = `cus_${drawn}`;
    const write = async () => {
      drawn += 1;
      const now = server.runtime.now();
      const created = now.getTime() / 1000;
      const object = { id: `sub_${drawn}`, customer, status: 'active', items: { data: [] }, created };
      const event = { id: `evt_${drawn}`, object: 'event', type, created, livemode: false, data: { object } };
      return (await deliver(server.url, event, now)).status;
    };
    return { lock: lockKey(customer), write };
  }

  test.each<[string, number, () => Promise<Waiting>]>([
    ['12 API payments for one locked invoice', 201, () => apiPayments(1)],
    ['12 API payments for 12 locked invoices', 201, () => apiPayments(AT_ONCE)],
    ['12 payments by staff for one locked invoice', 201, staffPayments],
    ['12 OAuth client registrations', 201, registrations],
    [
      '12 updates of subscriptions of one locked customer',
      200,
      () => deliveries('customer.subscription.updated'),
    ],
    ['12 checkouts of one locked customer', 200, () => deliveries('checkout.session.completed')],
  ])('%s that wait for a lock delay no reads, and succeed afterwards', async (_, status, prepare) => {
    const { lock, write } = await prepare();
    // Issue the token before the lock is taken, because issuing a token waits for other writes.
    const reader = await server.token('mcp:read');
    const lookAround = (rounds?: number) => measureReads(server.url, reader, rounds);
    const [row] = await rows<{ name: string }>(
      server.runtime.db,
      sql`select current_database()::text as name`,
    );
    const other = openPostgres(withDatabase(postgres?.url ?? '', row?.name ?? ''), { max: 1 });
    try {
      await lookAround(); // Warm up, because a first request also opens connections.
      const quiet = await lookAround();
      let writing: Promise<number[]> = Promise.resolve([]);
      const seen = await other.db.transaction(async (tx) => {
        await tx.execute(lock);
        writing = Promise.all(Array.from({ length: AT_ONCE }, (_, i) => write(i)));
        writing.catch(() => {}); // `writing` is awaited below.
        await expect.poll(() => countLockWaits(server.runtime.db)).toBeGreaterThan(0);
        await sleep(300); // Meanwhile, the other writes take all connections that they can get.
        return lookAround(3);
      });
      expect(await writing).toEqual(Array(AT_ONCE).fill(status));
      requireQuick(seen, quiet);
    } finally {
      await other.close();
    }
  });
});
