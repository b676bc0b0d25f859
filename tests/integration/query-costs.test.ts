import { sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { beforeAll, expect, test, vi } from 'vitest';
import { type Database, rows } from '@/db/database';
import { EVERYTHING } from '@/lib/mcp/authenticate';
import { TOOLS } from '@/lib/mcp/tools';
import { listPayments } from '@/lib/payments/queries';
import { createCustomer } from '../support/factories';
import * as act from '../support/stripe-actions';
import { useSync } from '../support/sync';

const MANY = 2_000;
const MOST_READ = 100;
const sync = useSync();

// Create records of 2,000 Stripe customers, and a customer with 100 invoices.
beforeAll(async () => {
  const { id } = await createCustomer(sync.db, { customer_number: 'K77' });
  await createCustomer(sync.db, { customer_number: 'K78' });
  const many = sql.raw(`from generate_series(1, ${MANY}) n join customers c on c.customer_number = 'M' || n`);
  for (const statement of [
    sql`insert into customers (customer_number) select 'M' || n from generate_series(1, ${MANY}::int) n`,
    sql`insert into stripe_customers (stripe_customer_id, customer_id, linked_by) select 'cus_many' || n, c.id, 'staff' ${many}`,
    sql`insert into invoices (number, customer_id, status, invoice_date, subtotal, tax, total, amount_due, stripe_invoice_id,
        stripe_customer_id)
      select 'RE-' || n, c.id, 'sent', '2026-01-01', 1, 0, 1, 1, 'in_many' || n, 'cus_many' || n ${many}`,
    sql`insert into payments (invoice_id, customer_id, amount, payment_date, payment_reference, source, status)
      select i.id, i.customer_id, 1, '2026-01-01', 'many' || i.id, 'api', 'completed' from invoices i`,
    sql`insert into customer_services (customer_id, service_number, service_type, name, price, status)
      select c.id, 'S-' || n, 'hosting', 'many', 1, 'active' ${many}`,
    sql`insert into subscriptions (customer_id, status, stripe_subscription_id, stripe_customer_id)
      select c.id, 'active', 'sub_many' || n, 'cus_many' || n ${many}`,
    sql`insert into subscription_items (subscription_id, customer_service_id, stripe_subscription_item_id)
      select s.id, v.id, 'si_many' || s.id from subscriptions s join customer_services v using (customer_id)`,
    sql`insert into stripe_events (id, type, livemode, stripe_created, object_id, stripe_customer_id, payload, outcome)
      select 'evt_many' || n, 'invoice.paid', false, now(), 'in_many' || n, 'cus_many' || n, '{}', 'processed' ${many}`,
    sql`insert into sales_documents (customer_id, document_number, type, document_date, subtotal, tax, total)
      select c.id, 'D' || n, 'offer', '2026-01-01', 1, 0, 1 ${many}`,
    sql`update invoices set customer_id = ${id} where number like 'RE-1__'`,
    // Remove deleted rows first. The planner may read them at the end of an index, and the database would count these
    // reads.
    sql`vacuum analyze`,
  ]) {
    await sync.db.execute(statement);
  }
});

/** Counts statements and round trips. A statement that starts while another runs is not another round trip. */
async function countTrips(work: (db: Database) => Promise<unknown>) {
  let queries = 0;
  let trips = 0;
  let underWay = 0;
  const { session } = sync.db._;
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
  await work(sync.db).finally(() => spy.mockRestore());
  return { queries, trips };
}

const call = (name: string, args: Record<string, unknown>) => async (db: Database) => {
  const tool = TOOLS.find((one) => one.name === `${name}-tool`);
  return tool?.call(db, args, EVERYTHING);
};

const DAYS = { invoice_date_from: '2025-12-01', invoice_date_to: '2026-03-01' };
const ONE = { queries: 1, trips: 1 };
const TWO = { queries: 2, trips: 2 };

const readPayments = (request: object) => (db: Database) =>
  listPayments(db, { per_page: 25, page: 1, ...request });

test.each<[string, Record<string, unknown>, typeof ONE]>([
  ['list-invoices', {}, ONE],
  ['list-invoices', { status: 'sent', ...DAYS, page: 60 }, ONE],
  ['list-invoices', { status: 'paid' }, ONE],
  ['list-invoices', { customer_id: 1 }, ONE], // This is the id of K77.
  ['list-services', { status: 'active', page: 70 }, ONE],
  ['list-services', { domain: 'example' }, ONE],
  ['list-sales-documents', { type: 'offer', page: 70 }, ONE],
  ['list-servers', {}, ONE],
  // These pages are beyond the last page.
  ['list-invoices', { page: 900 }, TWO],
  ['list-services', { page: 900 }, TWO],
  ['list-sales-documents', { page: 900 }, TWO],
  ['get-customer', { customer_number: 'K77' }, { queries: 6, trips: 2 }],
  ['find-customer', { query: 'K77' }, { queries: 3, trips: 3 }],
  ['find-customer', { query: 'nobody' }, { queries: 4, trips: 4 }],
  ['payments', {}, ONE],
  ['payments', { page: 70, status: 'completed' }, ONE],
  ['payments', { page: 900 }, TWO],
])('the database cost of the tool or list %s with %j is %o', async (name, args, expected) => {
  const read = name === 'payments' ? readPayments(args) : call(name, args);
  expect(await countTrips(read)).toEqual(expected);
});

test('processing an event reads fewer than 100 rows of each table, apart from stored counts, sums and receivables', async () => {
  const { world } = sync;
  const { object: customer } = act.createCustomer(world, { email: 'one@example.com' });
  const { object: invoice } = act.createInvoice(world, { customer: customer.id, lines: [{ amount: 1900 }] });
  const items = [{ unitAmount: 1900, interval: 'month' as const }];
  const subscribed = act.createSubscription(world, { customer: customer.id, items });
  const paid = [act.finalizeInvoice(world, invoice.id), act.payInvoice(world, invoice.id)];
  const made = [...paid, subscribed, act.cancelSubscription(world, subscribed.object.id)];
  const events = made.flatMap((one) => one.events);
  for (const event of events) {
    const read = await sync.db.transaction(async (tx) => {
      // One write in a hundred also computes the receivables of all marked customers, which reads more rows. With this
      // seed, no write does.
      await tx.execute(sql`select setseed(0.7)`);
      const before = await readsOf(tx);
      await sync.take(event, { db: tx, version: Stripe.API_VERSION });
      const after = await readsOf(tx);
      return Object.entries(after).map(([table, n]) => [table, n - (before[table] ?? 0)] as const);
    });
    for (const [table, n] of read) expect(n, `${event.type}: ${table}`).toBeLessThan(MOST_READ);
  }
});

/**
 * Returns how many rows of each table the transaction has read. Leaves out stored counts, sums and receivables, and
 * their deltas, because updating these may read them completely.
 */
async function readsOf(tx: Database): Promise<Record<string, number>> {
  const found = await rows<{ table: string; read: number }>(
    tx,
    sql`select relname as table, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables where relname !~ '(_deltas|_blocks|sums)$|^receivable'`,
  );
  return Object.fromEntries(found.map(({ table, read }) => [table, read]));
}
