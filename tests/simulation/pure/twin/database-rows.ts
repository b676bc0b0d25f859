import { getTableColumns, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import {
  customerServices,
  customers,
  disputes,
  invoices,
  mergedCustomers,
  payments,
  paymentTombstones,
  refunds,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import type { ModelTables, TableName } from '../tables';

const TABLES = {
  customers,
  merged: mergedCustomers,
  services: customerServices,
  links: stripeCustomers,
  subscriptions,
  items: subscriptionItems,
  invoices,
  payments,
  refunds,
  disputes,
  tombstones: paymentTombstones,
  events: stripeEvents,
};

/** Columns that no decision reads, and no model has. */
const LEFT_OUT = new Set(
  ['first_name', 'company', 'vat_id', 'tax_exempt', 'status', 'currency', 'search_text']
    .map((column) => `customers ${column}`)
    .concat(
      ['server_id', 'service_type', 'name', 'domain', 'start_date', 'cancelled_at'].map(
        (c) => `services ${c}`,
      ),
    )
    .concat(['api_version', 'livemode'].map((column) => `events ${column}`))
    .concat(
      ['customers', 'merged', 'services', 'tombstones', 'events'].flatMap((t) => [
        `${t} created_at`,
        `${t} updated_at`,
      ]),
    ),
);

type Rows = Record<TableName, Record<string, unknown>[]>;

/** All that a database holds of what the model has. */
export async function readRows(db: Database): Promise<Rows> {
  const found: Partial<Rows> = {};
  for (const [name, table] of Object.entries(TABLES) as [TableName, typeof customers][]) {
    const columns = Object.entries(getTableColumns(table)).filter(([key]) => !LEFT_OUT.has(`${name} ${key}`));
    found[name] = await db.select(Object.fromEntries(columns)).from(table);
  }
  return found as Rows;
}

/** Makes a model hold what a database does, and give the ids that it would. */
export async function load(tables: ModelTables, db: Database): Promise<void> {
  const found = await readRows(db);
  for (const [name, all] of Object.entries(found) as [TableName, Rows[TableName]][]) {
    const table = tables.rows[name] as Map<unknown, unknown>;
    table.clear();
    for (const row of all) table.set(row.id ?? row.stripe_customer_id ?? row.reference, Object.freeze(row));
  }
  for (const [name, sequence] of Object.entries(SEQUENCES)) {
    const query = sql.raw(
      `select (case when is_called then last_value else 0 end)::int as last from ${sequence}`,
    );
    const [{ last } = { last: 0 }] = await rows<{ last: number }>(db, query);
    tables.ids[name] = last;
  }
}

const SEQUENCES = {
  customers: 'customers_id_seq',
  services: 'customer_services_id_seq',
  subscriptions: 'subscriptions_id_seq',
  items: 'subscription_items_id_seq',
  invoices: 'invoices_id_seq',
  payments: 'payments_id_seq',
  refunds: 'refunds_id_seq',
  disputes: 'disputes_id_seq',
};
