import { and, count, eq, inArray, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { customerServices, invoices, payments, salesDocuments, subscriptions } from '@/db/schema';
import { literal } from '../page-query';

/** So far are records counted. */
export const MAX_RECORDS = 1000;

/** How many records a customer has; `MAX_RECORDS + 1` stands for more than that. */
export async function countRecords(db: Database, customerId: number) {
  const counted = (table: PgTable & { id: PgColumn; customer_id: PgColumn }, condition?: SQL) =>
    countSome(db, table, and(eq(table.customer_id, customerId), condition));
  const [invoiced, overdue, sent, documents, services, subscribed, paid] = await Promise.all([
    counted(invoices),
    counted(invoices, eq(invoices.status, 'overdue')),
    counted(invoices, eq(invoices.status, 'sent')),
    counted(salesDocuments, inArray(salesDocuments.status, ['draft', 'sent', 'accepted'])),
    counted(customerServices),
    counted(subscriptions),
    counted(payments),
  ]);
  return {
    invoices: invoiced,
    overdue,
    sent,
    open_documents: documents,
    services,
    subscriptions: subscribed,
    payments: paid,
  };
}

export type RecordCounts = Awaited<ReturnType<typeof countRecords>>;

async function countSome(db: Database, table: PgTable & { id: PgColumn }, where: SQL | undefined) {
  const some = db
    .select({ id: table.id })
    .from(table)
    .where(where)
    .limit(literal(MAX_RECORDS + 1))
    .as('some_records');
  const [counted] = await db.select({ total: count() }).from(some);
  return counted?.total ?? 0;
}
