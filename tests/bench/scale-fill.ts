import { type SQL, sql } from 'drizzle-orm';
import { type DatabaseHandle, openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { migrate } from '@/db/migrate';
import { ProgressBar } from '@/lib/commands/command';
import { recountLists } from '@/lib/counted-list/check-counts';
import { withDatabase } from '../support/database-url';

/** Rows of the small database. The large database has a hundred times as many. */
const SMALL = {
  customers: 10_000,
  services: 30_000,
  invoices: 100_000,
  documents: 10_000,
  subscriptions: 5_000,
  events: 20_000,
};
const AT_ONCE = 100_000;
export const GROWTH = 100;

interface Filled {
  table: string;
  count: number;
  /** Returns SQL that inserts one row for each number n of a series. */
  insert(series: SQL, counts: typeof SMALL): SQL;
}

/** Returns SQL that picks a value by the row number, so that every run creates the same rows. */
const oneOf = (values: string[], by: string) =>
  sql.raw(`(array['${values.join("','")}'])[1 + abs(hashint4(n * 7 + ${by})) % ${values.length}]`);
const chance = (by: number) => sql.raw(`(abs(hashint4(n * 11 + ${by})) % 1000)`);
/** Returns SQL for a day within ten years, roughly in row order. Every fiftieth row has the day 2021-05-03. */
const day = (count: number) => sql`(case when n % 50 = 0 then date '2021-05-03'
  else date '2016-11-22' + (n::bigint * 3640 / ${count}::int)::int + abs(hashint4(n)) % 10 end)`;
/** SQL for amounts from 1.00 to 900.99 that do not depend on the day. */
const AMOUNT = sql`(100 + abs(hashint4(n * 17)) % 90000) / 100.0`;
/** SQL for days of the next year, about evenly distributed. */
const COMING = sql`date '2026-11-22' + abs(hashint4(n * 13)) % 365`;
const FIRST = 'Ada Grace Jürgen Anna Peter Zoë Lukas Marie Karl Ute Björn Nora'.split(' ');
const LAST = 'Müller Schmidt Weber Fischer Strauß Meyer Wagner Becker Hoffmann Koch'.split(' ');
const TRADES = 'Druckerei Bäckerei Medien Logistik Hosting Beratung Software Gartenbau'.split(' ');

function tables(counts: typeof SMALL): Filled[] {
  return [
    {
      table: 'customers',
      count: counts.customers,
      insert: (
        series,
      ) => sql`insert into customers (id, customer_number, first_name, last_name, company, email, country, status) overriding system value
        select n, 'K' || (10000 + n), ${oneOf(FIRST, '1')}, ${oneOf(LAST, '2')} || ' ' || n % 997,
          case when n % 3 = 0 then ${oneOf(LAST, '3')} || ' ' || ${oneOf(TRADES, '4')} || ' ' || n || ' GmbH' end,
          'kunde' || n || '@example' || n % 500 || '.com', ${oneOf(['DE', 'DE', 'DE', 'DE', 'AT', 'CH'], '9')},
          (case when ${chance(6)} < 10 then 'blocked' else 'active' end)::customer_status ${series}`,
    },
    {
      table: 'customer_services',
      count: counts.services,
      insert: (series) => sql`insert into customer_services
        (id, service_number, customer_id, service_type, status, name, domain, price, next_billing_date)
        overriding system value
        select n, 'S-' || lpad(n::text, 9, '0'), 1 + abs(hashint4(n)) % ${counts.customers}::int,
          ${oneOf(['hosting', 'hosting', 'domain', 'domain', 'server', 'license'], '5')}::service_type,
          (case when ${chance(1)} < 850 then 'active' when ${chance(1)} < 950 then 'cancelled' else 'draft' end)::service_status,
          'Service ' || n, case when n % 2 = 0 then 'site' || n || '.example.org' end, 9.9,
          case when ${chance(1)} < 850 then ${COMING} end ${series}`,
    },
    {
      table: 'stripe_customers',
      count: counts.subscriptions,
      insert: (series) => sql`insert into stripe_customers (stripe_customer_id, customer_id, linked_by)
        select 'cus_' || n, 1 + abs(hashint4(n)) % ${counts.customers}::int, 'number' ${series}`,
    },
    {
      table: 'subscriptions',
      count: counts.subscriptions,
      insert: (series) => sql`insert into subscriptions (id, customer_id, status, next_billing_date,
          stripe_subscription_id, stripe_customer_id, provider_as_of) overriding system value
        select n, 1 + abs(hashint4(n)) % ${counts.customers}::int,
          (case when ${chance(4)} < 900 then 'active' when ${chance(4)} < 920 then 'past_due' else 'cancelled' end)::subscription_status,
          case when ${chance(4)} < 920 then ${COMING} end, 'sub_' || n, 'cus_' || n, timestamptz '2026-01-01' ${series}`,
    },
    {
      table: 'subscription_items',
      count: counts.subscriptions,
      insert: (series) => sql`insert into subscription_items
        (id, subscription_id, customer_service_id, stripe_subscription_item_id, amount, currency, interval, interval_count)
        overriding system value
        select n, n, n, 'si_' || n, 9.9, 'eur', 'month', 1 ${series}`,
    },
    {
      table: 'invoices',
      count: counts.invoices,
      insert: (series) => sql`insert into invoices
        (id, number, customer_id, status, invoice_date, due_date, subtotal, tax, total, amount_paid, amount_due)
        overriding system value
        select n, 'R-' || n, 1 + abs(hashint4(n)) % ${counts.customers}::int, s::invoice_status, d,
          -- A starting server marks invoices as overdue, and would write while it is measured.
          case s when 'sent' then date '2099-12-31' else d + 14 end, a, 0, a,
          case s when 'paid' then a else 0 end, case s when 'paid' then 0 else a end
        ${series}, lateral (select ${day(counts.invoices)} as d, ${AMOUNT} as a,
          case when ${chance(2)} < 930 then 'paid' when ${chance(2)} < 960 then 'sent' when ${chance(2)} < 980 then 'overdue'
            when ${chance(2)} < 995 then 'cancelled' else 'draft' end as s) drawn`,
    },
    {
      table: 'payments',
      count: counts.invoices,
      insert: (series) => sql`insert into payments
        (id, invoice_id, customer_id, amount, payment_date, payment_reference, status, source) overriding system value
        select n, n, 1 + abs(hashint4(n)) % ${counts.customers}::int, ${AMOUNT}, ${day(counts.invoices)}, 'PAY-' || n,
          (case when ${chance(3)} < 970 then 'completed' when ${chance(3)} < 980 then 'failed'
            when ${chance(3)} < 990 then 'pending' else 'completed' end)::payment_status, 'import' ${series}`,
    },
    {
      table: 'sales_documents',
      count: counts.documents,
      insert: (series) => sql`insert into sales_documents
        (id, document_number, type, status, customer_id, document_date, valid_until, subtotal, tax, total) overriding system value
        select n, 'D-' || n, ${oneOf(['offer', 'offer', 'order_confirmation'], '6')}::sales_document_type,
          ${oneOf(['draft', 'sent', 'accepted', 'accepted', 'rejected', 'expired', 'converted'], '7')}::sales_document_status,
          1 + abs(hashint4(n)) % ${counts.customers}::int, ${day(counts.documents)}, ${day(counts.documents)} + 30, a, 0, a
          ${series}, lateral (select ${AMOUNT} as a) drawn`,
    },
    {
      table: 'stripe_events',
      count: counts.events,
      insert: (series) => sql`insert into stripe_events
        (id, type, livemode, stripe_created, object_id, payload, outcome, processed_at)
        select 'evt_' || n, case when ${chance(7)} < 1 then 'customer.created' else ${oneOf(['invoice.paid', 'invoice.finalized', 'customer.subscription.updated'], '8')} end, false,
          timestamptz '2024-11-22' + interval '1 second' * (n::bigint * 62000000 / ${counts.events}::int), 'in_' || n, '',
          (case when ${chance(5)} < 900 then 'processed' when ${chance(5)} < 960 then 'stale' else 'ignored' end)::event_outcome,
          timestamptz '2024-11-22' + interval '1 second' * (n::bigint * 62000000 / ${counts.events}::int) ${series}`,
    },
  ];
}

/** Opens a database with `times` times the rows of the small one. The first run fills it, and later runs reuse it. */
export async function openFilled(
  server: string,
  times: number,
): Promise<{ url: string; handle: DatabaseHandle }> {
  const name = `w5t_scale_${times}`;
  const url = withDatabase(server, name);
  const admin = openPostgres(server, { max: 1 });
  const [known] = await rows(
    admin.db,
    sql`select 1 from pg_database where datname = ${name} and datconnlimit = -1`,
  );
  if (!known) {
    await admin.db.execute(sql.raw(`drop database if exists ${name} with (force)`));
    await admin.db.execute(
      sql.raw(
        `create database ${name} template template0 encoding 'UTF8' locale 'C.UTF-8' connection limit 1`,
      ),
    );
    const loader = openPostgres(url, { max: 1 });
    await migrate(loader);
    await fill(loader.db, times);
    await loader.close();
    await admin.db.execute(sql.raw(`alter database ${name} connection limit -1`)); // Marks the database as filled.
  }
  await admin.close();
  const handle = openPostgres(url, { max: 1 });
  await migrate(handle); // An earlier release may have filled the database.
  return { url, handle };
}

async function fill(db: Database, times: number): Promise<void> {
  const counts = Object.fromEntries(
    Object.entries(SMALL).map(([name, count]) => [name, count * times]),
  ) as unknown as typeof SMALL;
  const bar = new ProgressBar();
  // Triggers, foreign keys and indexes would slow down the inserts. Create the indexes after the rows.
  await db.execute(sql`select set_config('session_replication_role', 'replica', false),
    set_config('maintenance_work_mem', '512MB', false)`);
  for (const { table, count, insert } of tables(counts)) {
    const indexes = await rows<{ name: string; made: string }>(
      db,
      sql`select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as made from pg_index
        where indrelid = ${table}::regclass
          and not exists (select from pg_constraint where conindid = indexrelid)`,
    );
    for (const { name } of indexes) await db.execute(sql.raw(`drop index ${name}`));
    for (let first = 1; first <= count; first += AT_ONCE) {
      const last = Math.min(count, first + AT_ONCE - 1);
      await db.execute(insert(sql`from generate_series(${first}::int, ${last}::int) n`, counts));
      bar.show(last, count, table, `${times} times`);
    }
    for (const { made } of indexes) await db.execute(sql.raw(made));
    if (!table.startsWith('stripe_'))
      await db.execute(sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${count}::int)`);
  }
  bar.end();
  await db.execute(sql`reset session_replication_role`);
  await db.execute(sql`vacuum analyze`);
  for await (const _ of recountLists(db));
  await db.execute(sql`vacuum analyze`);
}
