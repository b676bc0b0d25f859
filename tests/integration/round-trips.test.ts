import { sql } from 'drizzle-orm';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Database } from '@/db/database';
import { EVERYTHING } from '@/lib/mcp/caller';
import { TOOLS } from '@/lib/mcp/tools';
import { listPayments } from '@/lib/payments/queries';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';

const base = useDatabase();

beforeAll(async () => {
  const { id } = await createCustomer(base.db, { customer_number: 'K77' });
  await createCustomer(base.db, { customer_number: 'K78' });
  await base.db.execute(sql`insert into customer_services (customer_id, service_number, name, service_type, status, price)
    select ${id}, 'S' || n, 'Web', 'hosting', 'active', 1 from generate_series(1, 2000) n`);
  await base.db.execute(sql`insert into invoices (customer_id, number, status, invoice_date, subtotal, tax, total, amount_due)
    select ${id}, 'I' || n, 'sent', '2026-01-01', 1, 0, 1, 1 from generate_series(1, 2000) n`);
  await base.db.execute(sql`insert into sales_documents (customer_id, document_number, type, document_date, subtotal, tax, total)
    select ${id}, 'D' || n, 'offer', '2026-01-01', 1, 0, 1 from generate_series(1, 2000) n`);
  await base.db.execute(sql`insert into payments (customer_id, invoice_id, amount, payment_date, payment_reference, source, status)
    select customer_id, id, 1, invoice_date, 'P' || id, 'api', 'completed' from invoices`);
});

/** The statements that are sent, and how often one waits for others: those that go out together are one round trip. */
async function countTrips(work: (db: Database) => Promise<unknown>) {
  let queries = 0;
  let trips = 0;
  let underWay = 0;
  const { session } = base.db._;
  const prepareQuery = session.prepareQuery.bind(session);
  const spy = vi.spyOn(session, 'prepareQuery').mockImplementation((...args) => {
    const prepared = prepareQuery(...args);
    const execute = prepared.execute.bind(prepared);
    prepared.execute = async (...values) => {
      queries += 1;
      if (underWay === 0) trips += 1;
      underWay += 1;
      return execute(...values).finally(() => {
        underWay -= 1;
      });
    };
    return prepared;
  });
  await work(base.db).finally(() => spy.mockRestore());
  return { queries, trips };
}

const call = (name: string, args: Record<string, unknown>) => async (db: Database) => {
  const tool = TOOLS.find((one) => one.name === `${name}-tool`);
  return tool?.call(db, args, EVERYTHING);
};

const CUSTOMER = { customer_id: 1 };
const DAYS = { invoice_date_from: '2025-12-01', invoice_date_to: '2026-03-01' };

test.each<[string, Record<string, unknown>]>([
  ['list-invoices', {}],
  ['list-invoices', { status: 'sent', ...DAYS }],
  ['list-invoices', { status: 'sent', ...DAYS, page: 60 }],
  ['list-invoices', { status: 'paid' }],
  ['list-invoices', CUSTOMER],
  ['list-services', {}],
  ['list-services', { status: 'active', page: 70 }],
  ['list-services', { domain: 'example' }],
  ['list-sales-documents', {}],
  ['list-sales-documents', { type: 'offer', page: 70 }],
  ['list-servers', {}],
])('%s of %j is one query', async (name, args) => {
  expect(await countTrips(call(name, args))).toEqual({ queries: 1, trips: 1 });
});

test.each(['list-invoices', 'list-services', 'list-sales-documents'])(
  '%s is two queries beyond the last page',
  async (name) => {
    expect(await countTrips(call(name, { page: 900 }))).toEqual({ queries: 2, trips: 2 });
  },
);

test('payments are one query, and two beyond the last page', async () => {
  const pages = (request: object) => (db: Database) =>
    listPayments(db, { per_page: 25, page: 1, ...request });
  expect(await countTrips(pages({}))).toEqual({ queries: 1, trips: 1 });
  expect(await countTrips(pages({ page: 70, status: 'completed' }))).toEqual({ queries: 1, trips: 1 });
  expect(await countTrips(pages({ page: 900 }))).toEqual({ queries: 2, trips: 2 });
});

test.each(['K77', 'k78'])('get-customer of %s is two round trips', async (customer_number) => {
  expect(await countTrips(call('get-customer', { customer_number }))).toEqual({ queries: 4, trips: 2 });
});

test.each([
  ['K77', 3],
  ['nobody', 3],
  ['K7', 3],
])('find-customer of %s is %i queries', async (query, queries) => {
  expect(await countTrips(call('find-customer', { query }))).toEqual({ queries, trips: queries });
});
