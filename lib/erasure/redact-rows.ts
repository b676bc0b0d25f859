import { getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { type Database, rows } from '@/db/database';
import {
  accountingEntries,
  auditLog,
  customerServices,
  draftImportKeys,
  importedRefunds,
  invoiceLines,
  payments,
  reconciliationChanges,
  salesDocumentLines,
  stripeEvents,
  subscriptionItems,
} from '@/db/schema';
import { auditNumber } from '../audit/audit-log';
import { idsOf } from '../customers/merged-customers';
import { columnsOf, redactJson } from './personal-data';

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
  apart?: SQL;
}

const ofCustomer = ({ id }: Subject) => sql`customer_id = ${id}::int`;
const ofIts = (column: string, table: string) => (of: Subject) =>
  sql`${sql.identifier(column)} in (select id from ${sql.identifier(table)} where ${ofCustomer(of)})`;

const ALL: Redacted[] = [
  { table: customerServices, rows: ofCustomer, key: 'id' },
  { table: subscriptionItems, rows: ofIts('subscription_id', 'subscriptions'), key: 'id' },
  { table: invoiceLines, rows: ofIts('invoice_id', 'invoices'), key: 'id' },
  { table: salesDocumentLines, rows: ofIts('sales_document_id', 'sales_documents'), key: 'id' },
  {
    table: draftImportKeys,
    rows: ofIts('invoice_id', 'invoices'),
    key: 'invoice_id',
    apart: sql`invoice_id`,
  },
  {
    table: importedRefunds,
    rows: ofIts('payment_id', 'payments'),
    key: 'reference',
    apart: sql`left(md5(reference), 12)`,
  },
  { table: accountingEntries, rows: ofIts('invoice_id', 'invoices'), key: 'id' },
  { table: payments, rows: ofCustomer, key: 'id', apart: sql`id` },
  { table: stripeEvents, rows: ({ events }) => sql`id in (select * from ${each(events)})`, key: 'id' },
  { table: reconciliationChanges, rows: changesOf, key: 'id' },
  { table: auditLog, rows: auditsOf, key: 'id' },
];

/** Fields of records in the audit log that are always emptied. */
const EMPTIED = new Set([
  ...columnsOf('customers', 'cleared', 'derived'),
  ...columnsOf('customer_services', 'cleared'),
  ...columnsOf('stripe_customers', 'cleared'),
]);

/** Replaces the customer's personal values in all other columns of its own rows. */
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
  const columns = columnsOf(getTableName(table), 'redacted');
  const emptiedOf = (row: Row) =>
    table !== auditLog ? undefined : row.entity === 'customer_note' ? new Set(['text']) : EMPTIED;
  const entity = table === auditLog ? sql`, entity` : sql``;
  const found = await rows<Row>(
    tx,
    sql`select ${sql.identifier(key)} as key, ${list(columns)}${entity}, ${apart ?? sql`null`} as apart
      from ${table} where ${own(subject)} order by 1 for update`,
  );
  for (const row of found) {
    const changed = columns.flatMap((column) => {
      const after = redactJson(row[column], redact, emptiedOf(row));
      if (JSON.stringify(after) === JSON.stringify(row[column])) return [];
      return [
        [
          column,
          apart && typeof after === 'string' ? `${after.slice(0, 200).toWellFormed()} ${row.apart}` : after,
        ],
      ];
    });
    if (changed.length === 0) continue;
    const names = changed.map(([column]) => String(column));
    await tx.execute(
      sql`update ${table} set (${list(names)}) = (
          select ${list(names)} from jsonb_populate_record(
            null::${table}, ${JSON.stringify(Object.fromEntries(changed))}::jsonb
          )
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

/** One query for each kind of record, so that each goes by the index. */
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
    its('payment', own('payments')),
  );
}

function auditsOf({ id, stripeCustomers, events }: Subject): SQL {
  const its = (entity: string, ids: SQL) =>
    sql`select id from audit_log where entity = ${entity} and entity_id in (${ids})`;
  const isIts = sql`(coalesce(after, before) ->> 'customer_id') in (select id::text from (${idsOf(id)}) ids)`;
  const numbers = (keys: string[]) => sql`select n::int from ${each(keys.map(auditNumber))} n`;
  return anyOf(
    its('customer', idsOf(id)),
    sql`select id from audit_log
      where entity in ('customer_note', 'service', 'invoice', 'sales_document', 'subscription') and ${isIts}`,
    its('payment', sql`select id from payments where customer_id = ${id}::int`),
    // Of payments that were deleted.
    its(
      'payment',
      sql`select entity_id from audit_log where entity = 'payment' and action <> 'payment.create' and ${isIts}`,
    ),
    its('stripe_customer', numbers(stripeCustomers)),
    its('stripe_event', numbers(events)),
  );
}

const anyOf = (...queries: SQL[]) => sql`id in (${sql.join(queries, sql` union all `)})`;
