import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { startOfDay } from '@/lib/dates';
import { ageGroupSql } from '@/lib/overdue';
import { type Database, rows } from './database';
import { company } from './schema';
import { clientsOf } from './seed/catalogue';
import { DEMO_COMPANY } from './seed/company';
import { buildCreditNotes } from './seed/credit-notes';
import { billedByStripe, buildCustomers, buildStripeCustomers, fileProposals } from './seed/customers';
import { buildInvoices } from './seed/invoices';
import { buildLines, buildStripeLines } from './seed/lines';
import { buildMoneyBack, buildPayments } from './seed/payments';
import { createCalendar, createChance, type SeedContext, type SeedRows, TABLES } from './seed/rows';
import { buildSalesDocuments } from './seed/sales-documents';
import { buildServers, buildServices } from './seed/services';
import { buildSubscriptions } from './seed/subscriptions';

export type SeedCounts = Record<keyof SeedRows, number>;

/** Rows per statement. A statement can have at most 65,535 parameters. */
const BATCH_ROWS = 500;

/**
 * Fills a migrated, empty database with the data of a plausible hosting company, in one transaction. The same options
 * write the same rows, apart from created_at and updated_at. Rows that Stripe manages look as sync would have written
 * them, so a reconciliation with a local Stripe filled from these rows finds no difference.
 */
export async function seedDatabase(db: Database, options: SeedOptions): Promise<SeedCounts> {
  const built = buildRows(options);
  // The journal can date a cancellation by the invoice's `updated_at`, and reconciliation books the rows updated in its
  // window. The sample invoices and payments therefore get the time of their last known change (otherwise today's
  // midnight), not the time of seeding.
  const midnight = startOfDay(options.today, options.timeZone);
  built.invoices = built.invoices.map((row) => ({
    ...row,
    updated_at: row.provider_as_of ?? row.paid_at ?? midnight,
  }));
  built.payments = built.payments.map((row) => {
    const at = new Date(`${row.payment_date}T12:00:00Z`);
    return { ...row, created_at: at, updated_at: at };
  });
  const names = Object.keys(TABLES) as (keyof SeedRows)[];
  await db.transaction(async (tx) => {
    await tx.insert(company).values(DEMO_COMPANY).onConflictDoNothing();
    for (const name of names) await insertAll(tx, name, built[name]);
    await tx.execute(sql`insert into draft_import_keys (import_key, invoice_id)
      select 'draft-' || id, id from invoices where status = 'draft' and stripe_invoice_id is null`);
    await tx.execute(
      sql`select book_history(${options.timeZone}, ${options.today}::date::timestamp at time zone ${options.timeZone})`,
    );
    await recordMonths(tx, options);
  });
  return Object.fromEntries(names.map((name) => [name, built[name].length])) as SeedCounts;
}

const RECORDED_MONTHS = 18;

/** Records the past months, as the daily job of a company that has existed for some time would have done. */
async function recordMonths(tx: Database, { today, timeZone }: SeedOptions): Promise<void> {
  const month = sql`date_trunc('month', ${today}::date::timestamp)`;
  const months = sql`generate_series(${month} - ${RECORDED_MONTHS} * interval '1 month', ${month} - interval '1 month',
    interval '1 month')`;
  await tx.execute(sql`select record_month(m::date, ${timeZone}::text, ${today}::date) from ${months} m`);
  // `record_month` knows what was owed only for months that ended up to 31 days ago: the last one, and in the first days
  // of some months the one before it. For earlier months, add up the invoices that were open on the last day.
  const lacksAge = sql`not exists (select from month_states where month = m and measure = 'recorded_age')`;
  await tx.execute(sql`with open as (
      select m::date as month, i.customer_id, i.currency, case when i.status = 'paid' then i.total else i.amount_due end
          as amount, ${ageGroupSql(sql`coalesce(i.due_date, i.invoice_date)`, sql`last.day`)} as age
        from ${months} m, lateral (select (m + interval '1 month')::date - 1 as day) last, invoices i
        where ${lacksAge} and i.invoice_date <= last.day and (i.status in ('sent', 'overdue')
          or i.status = 'paid' and (i.paid_at at time zone ${timeZone}::text)::date > last.day)
    ), written as (
      insert into month_amounts (measure, currency, customer_id, amount, first_month, until_month)
        select 'age_' || of.age, currency, customer_id, sum(amount), month, (month + interval '1 month')::date
        from open, lateral (values (open.age), ('open')) of(age) where amount > 0
        group by month, currency, customer_id, of.age order by month, 1, 2, 3
      returning *
    )
    insert into month_states select first_month, measure, currency, count(*), sum(amount) from written
        group by first_month, measure, currency
      union all select m, 'recorded_age', '', 0, 0 from ${months} m where ${lacksAge}`);
}

/** Returns true if the database has customers. Sample data must not be added to such a database. */
export async function hasCustomers(db: Database): Promise<boolean> {
  const [found] = await rows<{ any: boolean }>(db, sql`select exists (select from customers) as any`);
  return found?.any === true;
}

async function insertAll(
  tx: Database,
  name: keyof SeedRows,
  values: SeedRows[keyof SeedRows],
): Promise<void> {
  const table: PgTable = TABLES[name];
  for (let from = 0; from < values.length; from += BATCH_ROWS) {
    await tx
      .insert(table)
      .overridingSystemValue()
      .values(values.slice(from, from + BATCH_ROWS));
  }
  if (name === 'stripe_customers') return;
  // Inserting explicit ids does not advance the sequence.
  await tx.execute(
    sql`select setval(pg_get_serial_sequence(${name}, 'id'), (select max(id) from ${sql.identifier(name)}))`,
  );
}

interface SeedOptions {
  /** Current date as YYYY-MM-DD. Every date of the sample data is an offset from this day. */
  today: string;
  /** IANA name of the time zone that assigns instants to calendar dates. */
  timeZone: string;
  /** Seed of the random draws. Another seed gives other customers, services and invoices of the same company. */
  seed?: number;
}

const DEFAULT_SEED = 20_010;

/** Builds all rows. The function is pure, so the same options give the same rows. */
export function buildRows({ today, timeZone, seed = DEFAULT_SEED }: SeedOptions): SeedRows {
  const chance = createChance(seed);
  const calendar = createCalendar(today, timeZone);
  const source = (name: string): SeedContext => ({ chance: chance.branch(name), calendar });

  const customers = buildCustomers(chance.branch('customers'), 400);
  const servers = buildServers(chance.branch('servers'), 40);
  const services = buildServices(source('services'), customers, servers, 900);
  const stripeCustomers = buildStripeCustomers(source('stripe'), customers);
  const clients = clientsOf(customers, services, stripeCustomers);
  const agreements = buildSubscriptions(source('subscriptions'), clients, 250);
  const subscriptions = agreements.map(({ row }) => row);
  const invoices = buildInvoices(source('invoices'), clients, agreements, 3000);
  const own = invoices.filter(({ stripe_invoice_id }) => stripe_invoice_id === null);
  const fromStripe = invoices.filter(({ stripe_invoice_id }) => stripe_invoice_id !== null);
  const invoice_lines = buildLines(source('invoice lines'), clients, own, 'invoice_id');
  const documents = buildSalesDocuments(source('documents'), customers, invoices, 600);
  return fileProposals({
    customers,
    stripe_customers: billedByStripe(stripeCustomers, [...subscriptions, ...invoices]),
    servers,
    customer_services: services,
    subscriptions,
    subscription_items: agreements.flatMap(({ items }) => items),
    invoice_lines,
    stripe_invoice_lines: buildStripeLines(source('lines at Stripe'), clients, fromStripe, agreements),
    ...buildCreditNotes(source('credit notes'), invoices, invoice_lines),
    sales_documents: documents,
    sales_document_lines: buildLines(source('document lines'), clients, documents, 'sales_document_id'),
    ...buildMoneyBack(source('money back'), buildPayments(source('payments'), invoices, 2500)),
  });
}
