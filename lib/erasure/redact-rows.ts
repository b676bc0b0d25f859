import { getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { type Database, rows } from '@/db/database';
import {
  accountingEntries,
  auditLog,
  creditNoteLines,
  creditNotes,
  customerServices,
  draftImportKeys,
  importedRefunds,
  invoiceLines,
  payments,
  paymentTombstones,
  reconciliationChanges,
  salesDocumentLines,
  staffTasks,
  stripeEvents,
  stripeInvoiceLines,
  subscriptionItems,
  transfers,
} from '@/db/schema';
import { auditNumber } from '../audit/audit-log';
import { idsOf } from '../customers/merged-customers';
import { withoutPersonalData } from '../stripe/event';
import { columnsOf, redactJson } from './personal-data';

/** The customer to erase, with the ids of related rows. */
interface Subject {
  id: number;
  stripeCustomers: string[];
  /** Ids of the inbox events about the customer. */
  events: string[];
  /** Ids of the accounting entries booked in the customer's name. */
  entries: number[];
}

interface RedactedTable {
  table: PgTable;
  rows(of: Subject): SQL;
  /** Name of the column that identifies a row. Defaults to `id`. */
  key?: string;
  /** A unique column, and SQL of the suffix that keeps its redacted texts distinct. */
  unique?: { column: string; suffix: SQL };
}

const ofCustomer = ({ id }: Subject) => sql`customer_id = ${id}::int`;
const throughTable = (column: string, table: string) => (of: Subject) =>
  sql`${sql.identifier(column)} in (select id from ${sql.identifier(table)} where ${ofCustomer(of)})`;
const ofInvoices = throughTable('invoice_id', 'invoices');
const byReference = {
  key: 'reference',
  unique: { column: 'reference', suffix: sql`left(md5(reference), 12)` },
};
const uniqueById = (column: string) => ({ unique: { column, suffix: sql`id` } });

const REDACTED_TABLES: RedactedTable[] = [
  { table: customerServices, rows: ofCustomer },
  { table: subscriptionItems, rows: throughTable('subscription_id', 'subscriptions') },
  { table: invoiceLines, rows: ofInvoices },
  { table: stripeInvoiceLines, rows: ofInvoices },
  { table: creditNotes, rows: ofCustomer },
  { table: creditNoteLines, rows: throughTable('credit_note_id', 'credit_notes') },
  { table: salesDocumentLines, rows: throughTable('sales_document_id', 'sales_documents') },
  {
    table: draftImportKeys,
    rows: ofInvoices,
    key: 'invoice_id',
    unique: { column: 'import_key', suffix: sql`invoice_id` },
  },
  { table: importedRefunds, rows: throughTable('payment_id', 'payments'), ...byReference },
  { table: accountingEntries, rows: ofInvoices },
  { table: accountingEntries, rows: ({ entries }) => sql`id in (select n::int from ${each(entries)} n)` },
  { table: transfers, rows: ofCustomer, ...uniqueById('reference') },
  { table: payments, rows: ofCustomer, ...uniqueById('payment_reference') },
  { table: stripeEvents, rows: ({ events }) => sql`id in (select * from ${each(events)})` },
  { table: paymentTombstones, rows: tombstonesOf, ...byReference },
  { table: staffTasks, rows: tasksOf, ...uniqueById('subject') },
  { table: reconciliationChanges, rows: changesOf },
  // The conditions above read the audit log, so it is redacted last.
  { table: auditLog, rows: auditsOf },
];

/** Fields that become null in all audit entries of the customer, except entries about notes. */
const CLEARED_AUDIT_FIELDS = new Set([
  ...columnsOf('customers', 'cleared', 'derived'),
  ...columnsOf('customer_services', 'cleared'),
  ...columnsOf('stripe_customers', 'cleared'),
]);

/** Replaces the customer's personal values in all `redacted` columns of rows that belong to the customer. */
export async function redactRows(tx: Database, subject: Subject, redact: (text: string) => string) {
  for (const one of REDACTED_TABLES) await redactTable(tx, one, one.rows(subject), redact);
}

async function redactTable(tx: Database, one: RedactedTable, where: SQL, redact: (text: string) => string) {
  const { table, key = 'id', unique } = one;
  const columns = columnsOf(getTableName(table), 'redacted');
  const clearedFieldsOf = (row: Row) =>
    table !== auditLog
      ? undefined
      : row.entity === 'customer_note'
        ? new Set(['text'])
        : CLEARED_AUDIT_FIELDS;
  const entity = table === auditLog ? sql`, entity` : sql``;
  const found = await rows<Row>(
    tx,
    sql`select ${sql.identifier(key)} as key, ${list(columns)}${entity}, ${unique?.suffix ?? sql`null`} as apart
      from ${table} where ${where} order by 1 for update`,
  );
  for (const row of found) {
    const changed: Record<string, unknown> = {};
    for (const column of columns) {
      const after = redactJson(row[column], redact, clearedFieldsOf(row));
      if (JSON.stringify(after) === JSON.stringify(row[column])) continue;
      const isUnique = column === unique?.column && typeof after === 'string';
      changed[column] = isUnique ? `${after.slice(0, 200).toWellFormed()} ${row.apart}` : after;
    }
    const names = Object.keys(changed);
    if (names.length === 0) continue;
    await tx.execute(
      sql`update ${table} set (${list(names)}) = (
          select ${list(names)} from jsonb_populate_record(null::${table}, ${JSON.stringify(changed)}::jsonb)
        ) where ${sql.identifier(key)} = ${typeof row.key === 'number' ? sql`${row.key}::int` : row.key}`,
    );
  }
}

type Row = Record<string, unknown> & { key: string | number };

const list = (columns: string[]) =>
  sql.join(
    columns.map((column) => sql.identifier(column)),
    sql`, `,
  );

const each = (values: (string | number)[]) =>
  sql`jsonb_array_elements_text(${JSON.stringify(values)}::jsonb)`;

/** Returns the condition for reconciliation changes of the customer's records, with one indexed query for each kind. */
function changesOf(of: Subject): SQL {
  const its = (entity: string, ids: SQL) =>
    sql`select id from reconciliation_changes where entity = ${entity} and entity_id in (${ids})`;
  const own = (table: string) => sql`select id from ${sql.identifier(table)} where ${ofCustomer(of)}`;
  const items = sql`select i.id from subscription_items i join subscriptions s on s.id = i.subscription_id
    where ${ofCustomer(of)}`;
  return anyOf(
    its('customer', sql`select ${of.id}::int`),
    its('customer_service', own('customer_services')),
    its('subscription', own('subscriptions')),
    its('subscription_item', items),
    its('invoice', own('invoices')),
    its('payment', paymentsOf(of)),
  );
}

/**
 * Selects the ids of the customer's payments. Deleted payments have no row in `payments`. Their ids are found by the
 * customer id in their audit entries.
 */
const paymentsOf = ({ id }: Subject) => sql`select id from payments where customer_id = ${id}::int
  union all select entity_id from audit_log
    where entity = 'payment' and action <> 'payment.create' and ${isAuditOf(id)}`;

const isAuditOf = (id: number) =>
  sql`(coalesce(after, before) ->> 'customer_id') in (select id::text from (${idsOf(id)}) ids)`;

function tasksOf(of: Subject): SQL {
  return sql`entity = 'payment' and entity_id in (${paymentsOf(of)})`;
}

/** Returns the condition for tombstones. They have no payment id, but the audit log contains former references. */
function tombstonesOf(of: Subject): SQL {
  return sql`reference in (select before ->> 'payment_reference' from audit_log
    where entity = 'payment' and entity_id in (${paymentsOf(of)}))`;
}

function auditsOf(of: Subject): SQL {
  const { id, stripeCustomers, events } = of;
  const its = (entity: string, ids: SQL) =>
    sql`select id from audit_log where entity = ${entity} and entity_id in (${ids})`;
  const numbers = (keys: string[]) => sql`select n::int from ${each(keys.map(auditNumber))} n`;
  return anyOf(
    its('customer', idsOf(id)),
    sql`select id from audit_log
      where entity in ('customer_note', 'service', 'invoice', 'credit_note', 'sales_document', 'subscription', 'transfer') and ${isAuditOf(id)}`,
    its('payment', paymentsOf(of)),
    its('stripe_customer', numbers(stripeCustomers)),
    its('stripe_event', numbers(events)),
  );
}

const anyOf = (...queries: SQL[]) => sql`id in (${sql.join(queries, sql` union all `)})`;

/** Number of events that one statement searches. */
const BATCH = 2000;
/** Number of event bodies in memory at the same time. */
const REDUCED = 200;

/**
 * Finds inbox events without a Stripe customer whose body contains one of the texts, such as a guest's checkout or a
 * dispute with its evidence. It searches the body of every event without a Stripe customer, in batches.
 *
 * @param since earliest time at which the events were stored; `-infinity` finds all. Events that Stripe
 *   created more than 31 days before this time are skipped, because Stripe delivers an event for at most 30 days.
 */
export async function findEventsNaming(db: Database, texts: string[], since = '-infinity') {
  const ids: string[] = [];
  const isNaming = sql`exists (select from jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) t
    where strpos(lower(payload), lower(t)) > 0)`;
  for (let place: Place | undefined = { created: '-infinity', id: '' }; place; ) {
    const page: (Place & { is_naming: boolean })[] = await rows(
      db,
      sql`select id, stripe_created::text as created, ${isNaming} as is_naming from stripe_events
        where stripe_customer_id is null and created_at >= ${since}::timestamptz
          and stripe_created >= ${since}::timestamptz - interval '31 days'
          and (stripe_created, id) > (${place.created}::timestamptz, ${place.id})
        order by stripe_created, id limit ${sql.raw(String(BATCH))}`,
    );
    ids.push(...page.flatMap(({ id, is_naming }) => (is_naming ? [id] : [])));
    place = page.at(-1);
  }
  return ids;
}

/** The cursor of a batch, which is its last event. */
type Place = { created: string; id: string };

/** Returns the given event ids and those of all events about the customer's Stripe customers and disputes. */
export async function listEventIds(tx: Database, customerId: number, ids: string[]): Promise<string[]> {
  const found = await rows<{ id: string }>(
    tx,
    sql`select id from stripe_events
      where stripe_customer_id in (select stripe_customer_id from stripe_customers where customer_id = ${customerId}::int)
      union select id from stripe_events where object_id in (
        select d.stripe_dispute_id from disputes d join payments p on p.id = d.payment_id
          where p.customer_id = ${customerId}::int)
      union select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)`,
  );
  return found.map(({ id }) => id);
}

/** Removes personal data from the bodies of Stripe's events. */
export async function reduceEvents(tx: Database, ids: string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += REDUCED) {
    const some = sql`(select jsonb_array_elements_text(${JSON.stringify(ids.slice(from, from + REDUCED))}::jsonb))`;
    const found = await rows<{ id: string; payload: string }>(
      tx,
      sql`select id, payload from ${stripeEvents} where id in ${some} and payload <> '' order by id for update`,
    );
    const reduced = found.map(({ id, payload }) => ({ id, body: withoutPersonalData(payload) }));
    await tx.execute(sql`update stripe_events e set payload = r.body, updated_at = now()
      from json_to_recordset(${JSON.stringify(reduced)}::json) as r(id text, body text) where e.id = r.id`);
  }
}
