import { sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { type Database, rows } from '@/db/database';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { testRuntime } from '../support/runtime';
import { openTestStripe } from '../support/stripe-world';

const MANY = 2_000;
const MOST_READ = 100;

const base = useDatabase();

test('an event reads the rows that it is about, however many there are', async () => {
  const runtime = testRuntime(base.db);
  const { world } = openTestStripe(runtime);
  await fill(base.db);
  const { object: customer } = act.createCustomer(world, { email: 'one@example.com' });
  const { object: invoice } = act.createInvoice(world, { customer: customer.id, lines: [{ amount: 1900 }] });
  const subscribed = act.createSubscription(world, {
    customer: customer.id,
    items: [{ unitAmount: 1900, interval: 'month' }],
  });
  const events = [
    act.finalizeInvoice(world, invoice.id),
    act.payInvoice(world, invoice.id),
    subscribed,
    act.cancelSubscription(world, subscribed.object.id),
  ].flatMap((made) => made.events);
  const payloads = events.map((event) => JSON.stringify(renderEvent(event, Stripe.API_VERSION)));

  for (const payload of payloads) {
    const event = toProviderEvent(JSON.parse(payload));
    if (!event) throw new Error('the world renders events');
    const read = await base.db.transaction(async (tx) => {
      const before = await readsOf(tx);
      await handleEvent({ ...syncDeps(runtime), db: tx, stripe: null }, event, payload);
      const after = await readsOf(tx);
      return Object.fromEntries(Object.entries(after).map(([table, n]) => [table, n - (before[table] ?? 0)]));
    });
    for (const [table, n] of Object.entries(read))
      expect(n, `${event.type}: ${table}`).toBeLessThan(MOST_READ);
  }
});

/** How many rows of each table the transaction has read, but of counts and sums: now and then one folds what all wrote. */
async function readsOf(tx: Database): Promise<Record<string, number>> {
  const found = await rows<{ table: string; read: number }>(
    tx,
    sql`select relname as table, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables where relname !~ '_(deltas|blocks)$|^sums$'`,
  );
  return Object.fromEntries(found.map(({ table, read }) => [table, read]));
}

/** Rows of other Stripe customers. */
async function fill(db: Database): Promise<void> {
  const many = sql.raw(
    `from generate_series(1, ${MANY}) n join customers c on c.customer_number = 'K9' || n`,
  );
  for (const statement of [
    sql`insert into customers (customer_number) select 'K9' || n from generate_series(1, ${MANY}::int) n`,
    sql`insert into stripe_customers (stripe_customer_id, customer_id, linked_by) select 'cus_many' || n, c.id, 'staff' ${many}`,
    sql`insert into invoices (number, customer_id, status, invoice_date, subtotal, tax, total, amount_due, stripe_invoice_id,
        stripe_customer_id)
      select 'RE-' || n, c.id, 'sent', '2026-01-01', 1, 0, 1, 1, 'in_many' || n, 'cus_many' || n ${many}`,
    sql`insert into payments (invoice_id, customer_id, amount, payment_date, payment_reference, source)
      select i.id, i.customer_id, 1, '2026-01-01', 'many' || i.id, 'api' from invoices i where i.number like 'RE-%'`,
    sql`insert into customer_services (customer_id, service_number, service_type, name, price)
      select c.id, 'S-' || n, 'hosting', 'many', 1 ${many}`,
    sql`insert into subscriptions (customer_id, status, stripe_subscription_id, stripe_customer_id)
      select c.id, 'active', 'sub_many' || n, 'cus_many' || n ${many}`,
    sql`insert into subscription_items (subscription_id, customer_service_id, stripe_subscription_item_id)
      select s.id, v.id, 'si_many' || s.id from subscriptions s join customer_services v using (customer_id)
      where v.name = 'many'`,
    sql`insert into stripe_events (id, type, livemode, stripe_created, object_id, stripe_customer_id, payload, outcome)
      select 'evt_many' || n, 'invoice.paid', false, now(), 'in_many' || n, 'cus_many' || n, '{}', 'processed' ${many}`,
    sql`analyze`,
  ]) {
    await db.execute(statement);
  }
}
