import { getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { type Database, rows } from '@/db/database';
import {
  auditLog,
  customerServices,
  draftImportKeys,
  invoiceLines,
  payments,
  reconciliationChanges,
  salesDocumentLines,
  stripeEvents,
  subscriptionItems,
} from '@/db/schema';
import { auditNumber } from '../audit/record-audit';
import { redactJson } from './redact';
import { TEXT_COLUMNS } from './text-columns';

/** Whose rows are meant. */
export interface Subject {
  id: number;
  stripeCustomers: string[];
  /** Events of the inbox that tell of it. */
  events: string[];
}

interface Redacted {
  table: PgTable;
  rows(of: Subject): SQL;
  /** The column by which a row is found again. */
  key: string;
  /** Of a column whose values are unique: what tells two that were redacted alike apart. */
  apart?: string;
}

const ofCustomer = ({ id }: Subject) => sql`customer_id = ${id}::int`;
const ofIts = (column: string, table: string) => (of: Subject) =>
  sql`${sql.identifier(column)} in (select id from ${sql.identifier(table)} where ${ofCustomer(of)})`;

const ALL: Redacted[] = [
  { table: customerServices, rows: ofCustomer, key: 'id' },
  { table: subscriptionItems, rows: ofIts('subscription_id', 'subscriptions'), key: 'id' },
  { table: invoiceLines, rows: ofIts('invoice_id', 'invoices'), key: 'id' },
  { table: salesDocumentLines, rows: ofIts('sales_document_id', 'sales_documents'), key: 'id' },
  { table: draftImportKeys, rows: ofIts('invoice_id', 'invoices'), key: 'invoice_id', apart: 'invoice_id' },
  { table: payments, rows: ofCustomer, key: 'id', apart: 'id' },
  { table: stripeEvents, rows: ({ events }) => sql`id in (select ${each(events)})`, key: 'id' },
  { table: reconciliationChanges, rows: changesOf, key: 'id' },
  { table: auditLog, rows: auditsOf, key: 'id' },
];

/** Fields of records in the audit log that are emptied whatever they hold. */
const EMPTIED = new Set([
  ...clearedOf('customers'),
  ...clearedOf('customer_services'),
  ...clearedOf('stripe_customers'),
]);

/** Replaces what is known of a customer wherever else it may stand in rows of its own. */
export async function redactRows(
  tx: Database,
  subject: Subject,
  redact: (text: string) => string,
): Promise<void> {
  for (const one of ALL) await redactTable(tx, one, subject, redact);
}

async function redactTable(
  tx: Database,
  { table, rows: own, key, apart }: Redacted,
  subject: Subject,
  redact: (text: string) => string,
): Promise<void> {
  const name = getTableName(table);
  const columns = Object.keys(TEXT_COLUMNS[name] ?? {}).filter(
    (column) => TEXT_COLUMNS[name]?.[column] === 'redacted',
  );
  const emptiedOf = (row: Row) =>
    table !== auditLog ? undefined : row.entity === 'customer_note' ? new Set(['text']) : EMPTIED;
  const entity = table === auditLog ? sql`, entity` : sql``;
  const found = await rows<Row>(
    tx,
    sql`select ${sql.identifier(key)} as key, ${list(columns)}${entity}
      from ${table} where ${own(subject)} order by 1 for update`,
  );
  for (const row of found) {
    const changed = columns.flatMap((column) => {
      const after = redactJson(row[column], redact, emptiedOf(row));
      if (JSON.stringify(after) === JSON.stringify(row[column])) return [];
      return [[column, apart && typeof after === 'string' ? `${after.slice(0, 200)} ${row.key}` : after]];
    });
    if (changed.length === 0) continue;
    const columnsOf = changed.map(([column]) => String(column));
    await tx.execute(
      sql`update ${table} set (${list(columnsOf)}) = (
          select ${list(columnsOf)} from jsonb_populate_record(
            null::${table}, ${JSON.stringify(Object.fromEntries(changed))}::jsonb
          )
        ) where ${sql.identifier(key)}::text = ${String(row.key)}`,
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

function clearedOf(table: string): string[] {
  return Object.entries(TEXT_COLUMNS[table] ?? {}).flatMap(([column, treatment]) =>
    treatment === 'cleared' || treatment === 'derived' ? [column] : [],
  );
}

function changesOf(of: Subject): SQL {
  const its = (entity: string, table: string) =>
    sql`entity = ${entity} and entity_id in (select id from ${sql.identifier(table)} where ${ofCustomer(of)})`;
  return sql`${its('invoice', 'invoices')} or ${its('subscription', 'subscriptions')}
    or ${its('payment', 'payments')} or ${its('customer_service', 'customer_services')}
    or (entity = 'subscription_item' and entity_id in (
      select i.id from subscription_items i join subscriptions s on s.id = i.subscription_id where ${ofCustomer(of)}))
    or (entity = 'customer' and (entity_id = ${of.id}::int or stripe_id in (select ${each(of.stripeCustomers)})))`;
}

function auditsOf({ id, stripeCustomers, events }: Subject): SQL {
  const whose = sql`coalesce(after, before) ->> 'customer_id' = ${String(id)}`;
  return sql`(entity = 'customer' and entity_id = ${id}::int)
    or (entity in ('customer_note', 'service', 'invoice', 'sales_document', 'subscription') and ${whose})
    or (entity = 'payment' and entity_id in (
      select entity_id from audit_log where entity = 'payment' and action <> 'payment.create' and ${whose}
      union all select id from payments where customer_id = ${id}::int))
    or (entity = 'stripe_customer' and entity_id in (select ${each(stripeCustomers.map(auditNumber))}::int))
    or (entity = 'stripe_event' and entity_id in (select ${each(events.map(auditNumber))}::int))`;
}
