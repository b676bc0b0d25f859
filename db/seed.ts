import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { type Database, rows } from './database';
import * as schema from './schema';
import { buildRows, type SeedOptions } from './seed/build';
import type { SeedRows } from './seed/rows';

export type SeedCounts = Record<keyof SeedRows, number>;

/** In the order in which foreign keys let them in. */
const TABLES: Record<keyof SeedRows, PgTable> = {
  customers: schema.customers,
  stripe_customers: schema.stripeCustomers,
  servers: schema.servers,
  customer_services: schema.customerServices,
  subscriptions: schema.subscriptions,
  subscription_items: schema.subscriptionItems,
  invoices: schema.invoices,
  invoice_lines: schema.invoiceLines,
  sales_documents: schema.salesDocuments,
  sales_document_lines: schema.salesDocumentLines,
  payments: schema.payments,
  refunds: schema.refunds,
  disputes: schema.disputes,
};

/** A statement takes 65,535 parameters. */
const BATCH_ROWS = 500;

/**
 * Fills a migrated, empty database with a believable hosting company, all of it in one transaction.
 * The same options write the same rows (but for created_at and updated_at). What is managed by Stripe
 * stands as sync would have written it: a Stripe filled from these rows has nothing to reconcile.
 */
export async function seedDatabase(db: Database, options: SeedOptions): Promise<SeedCounts> {
  const built = buildRows(options);
  const names = Object.keys(TABLES) as (keyof SeedRows)[];
  await db.transaction(async (tx) => {
    for (const name of names) await insertAll(tx, name, built[name]);
    await tx.execute(sql`insert into draft_import_keys (import_key, invoice_id)
      select 'draft-' || id, id from invoices where status = 'draft' and stripe_invoice_id is null`);
    await tx.execute(
      sql`select book_history(${options.timeZone}, ${options.today}::date::timestamp at time zone ${options.timeZone})`,
    );
  });
  return Object.fromEntries(names.map((name) => [name, built[name].length])) as SeedCounts;
}

/** True where the database is in use, so that sample data must stay out. */
export async function hasCustomers(db: Database): Promise<boolean> {
  const [found] = await rows<{ any: boolean }>(db, sql`select exists (select from customers) as any`);
  return found?.any === true;
}

async function insertAll(
  tx: Database,
  name: keyof SeedRows,
  values: SeedRows[keyof SeedRows],
): Promise<void> {
  for (let from = 0; from < values.length; from += BATCH_ROWS) {
    await tx
      .insert(TABLES[name])
      .overridingSystemValue()
      .values(values.slice(from, from + BATCH_ROWS));
  }
  if (name === 'stripe_customers') return;
  // Given ids leave the sequence behind.
  await tx.execute(
    sql`select setval(pg_get_serial_sequence(${name}, 'id'), (select max(id) from ${sql.identifier(name)}))`,
  );
}
