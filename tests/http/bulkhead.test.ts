import { setTimeout as sleep } from 'node:timers/promises';
import { type SQL, sql } from 'drizzle-orm';
import { expect, inject, test } from 'vitest';
import * as register from '@/app/api/auth/oauth2/register/route';
import * as health from '@/app/api/health/route';
import * as webhook from '@/app/api/stripe/webhook/route';
import * as payments from '@/app/api/w5t/payments/route';
import * as mcp from '@/app/mcp/route';
import { openPostgres } from '@/db/client';
import { rows } from '@/db/database';
import { recordForInvoice, staffWriter } from '@/lib/payments/typed-payment';
import { useApi } from '../support/api';
import { withDatabase } from '../support/database-url';
import { createInvoice } from '../support/factories';
import { measureReads, requireQuick } from '../support/measure-reads';
import { deliver, WEBHOOK_SECRET } from '../support/stripe-events';

const AT_ONCE = 12;

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

type Invoice = Awaited<ReturnType<typeof createInvoice>>;
const typed = () => {
  drawn += 1;
  return { amount: 1, payment_date: '2026-03-10', payment_reference: `BULK-${drawn}` };
};

async function postPayments(invoices: Invoice[]): Promise<number[]> {
  const token = await server.token('payments:write');
  const post = async ({ id, customer_id }: Invoice) => {
    const response = await fetch(`${server.url}/api/w5t/payments`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ invoice_id: id, customer_id, ...typed() }),
    });
    return response.status;
  };
  return Promise.all(
    Array.from({ length: AT_ONCE }, (_, i) => post(invoices[i % invoices.length] as Invoice)),
  );
}

/** Records payments as the staff page does. */
async function recordAsStaff(invoice: Invoice): Promise<number[]> {
  const { runtime } = server;
  const writer = staffWriter(runtime, { id: 'staff', email: 'staff@example.com' });
  const record = async () => {
    await recordForInvoice(runtime.db, invoice.id, { ...typed(), amount: '1.00' }, writer);
    return 201;
  };
  return Promise.all(Array.from({ length: AT_ONCE }, record));
}

async function deliverEvents(type: string, customer: string): Promise<number[]> {
  const send = async () => {
    drawn += 1;
    const now = server.runtime.now();
    const created = now.getTime() / 1000;
    const object = { id: `sub_${drawn}`, customer, status: 'active', items: { data: [] }, created };
    const event = { id: `evt_${drawn}`, object: 'event', type, created, livemode: false, data: { object } };
    return (await deliver(server.url, event, now)).status;
  };
  return Promise.all(Array.from({ length: AT_ONCE }, send));
}

/** The token is issued before a test locks rows, because issuing a token waits for other writes. */
let reader: Promise<string> | undefined;
const lookAround = async () => {
  reader ??= server.token('mcp:read');
  return measureReads(server.url, await reader);
};

test('twelve concurrent payments for one invoice all succeed', async () => {
  await lookAround(); // Fill the cache of the health check, so that the check is fast enough on a busy machine.
  const invoice = await createInvoice(server.runtime.db);
  const [statuses] = await Promise.all([postPayments([invoice]), lookAround()]);
  expect(statuses).toEqual(Array(AT_ONCE).fill(201));
});

const postgres = inject('postgres');
if (postgres) {
  /** Holds the locks of a statement on another connection while `work` waits for them. */
  async function whileLocked(statement: SQL, work: () => Promise<number[]>) {
    const [row] = await rows<{ name: string }>(
      server.runtime.db,
      sql`select current_database()::text as name`,
    );
    const other = openPostgres(withDatabase(postgres?.url ?? '', row?.name ?? ''), { max: 1 });
    try {
      await lookAround(); // Warm up, because a first request also opens connections.
      const quiet = await lookAround();
      let working: Promise<number[]> = Promise.resolve([]);
      const seen = await other.db.transaction(async (tx) => {
        await tx.execute(statement);
        working = work();
        working.catch(() => {}); // `working` is awaited below.
        await sleep(300);
        return lookAround();
      });
      return { ...seen, quiet, statuses: await working };
    } finally {
      await other.close();
    }
  }

  const CASES = [
    ['12 API payments for one locked invoice', 1, (invoices: Invoice[]) => postPayments(invoices)],
    ['12 API payments for 12 locked invoices', AT_ONCE, (invoices: Invoice[]) => postPayments(invoices)],
    ['12 payments by staff for one locked invoice', 1, ([one]: Invoice[]) => recordAsStaff(one as Invoice)],
  ] as const;

  test.each(CASES)('%s do not delay other requests', async (_, count, work) => {
    const invoices = await Promise.all(Array.from({ length: count }, () => createInvoice(server.runtime.db)));
    const ids = sql.raw(invoices.map(({ id }) => id).join());
    const seen = await whileLocked(sql`select from invoices where id in (${ids}) for update`, () =>
      work(invoices),
    );
    expect(seen.statuses).toEqual(Array(AT_ONCE).fill(201));
    requireQuick(seen, seen.quiet);
  });

  test('12 OAuth client registrations waiting for a lock do not delay other requests', async () => {
    const lock = sql`select pg_advisory_xact_lock(hashtextextended('oauth registration', 0))`;
    const register = async (i: number) => {
      const { status } = await fetch(`${server.url}/api/auth/oauth2/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `198.51.100.${i}` },
        body: JSON.stringify({ redirect_uris: ['https://app.example/callback'] }),
      });
      return status;
    };
    const seen = await whileLocked(lock, () =>
      Promise.all(Array.from({ length: AT_ONCE }, (_, i) => register(i))),
    );
    expect(seen.statuses).toEqual(Array(AT_ONCE).fill(201));
    requireQuick(seen, seen.quiet);
  });

  test.each(['customer.subscription.updated', 'checkout.session.completed'])(
    '12 deliveries of %s for one locked customer do not delay other requests',
    async (type) => {
      drawn += 1;
      const customer = `cus_${drawn}`;
      const lock = sql`select pg_advisory_xact_lock(hashtextextended(${customer}, 0))`;
      const seen = await whileLocked(lock, () => deliverEvents(type, customer));
      expect(seen.statuses).toEqual(Array(AT_ONCE).fill(200));
      requireQuick(seen, seen.quiet);
    },
  );
}
