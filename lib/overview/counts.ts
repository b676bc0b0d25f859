import { and, count, eq, gte, inArray, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import {
  customerServices,
  eventOutcome,
  invoices,
  payments,
  salesDocuments,
  stripeEvents,
  subscriptionStatus,
  subscriptions,
} from '@/db/schema';
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

/** How many rows are in a state; states without any are left out. */
export interface StateCount<State extends string = string> {
  state: State;
  count: number;
}

/** Subscriptions by status, in the order of a subscription's life. */
export async function countSubscriptions(db: Database): Promise<StateCount[]> {
  const found = await db
    .select({ state: subscriptions.status, count: count() })
    .from(subscriptions)
    .groupBy(subscriptions.status);
  return inOrder(subscriptionStatus.enumValues, found);
}

/** Days over which deliveries are counted. */
export const DELIVERY_DAYS = 7;

/** Counts Stripe's events of the last seven days by outcome, the usual outcome first. */
export async function countDeliveries(db: Database, now: Date): Promise<StateCount[]> {
  const since = new Date(now.getTime() - DELIVERY_DAYS * 86_400_000);
  const found = await db
    .select({ state: stripeEvents.outcome, count: count() })
    .from(stripeEvents)
    .where(gte(stripeEvents.stripe_created, since))
    .groupBy(stripeEvents.outcome);
  return inOrder(eventOutcome.enumValues, found);
}

function inOrder<State extends string>(order: readonly State[], counts: StateCount<State>[]) {
  return counts.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
}
