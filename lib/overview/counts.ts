import { and, count, eq, gte, inArray, type SQL, sql } from 'drizzle-orm';
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
import { startOfDay } from '../dates';
import { literal } from '../page-query';

/** Number of records per kind above which counting stops, because the page only says that there are more. */
export const MAX_RECORDS = 1000;

type OwnedTable = PgTable & { id: PgColumn; customer_id: PgColumn };

const COUNTED = {
  invoices: [invoices],
  overdue: [invoices, eq(invoices.status, 'overdue')],
  sent: [invoices, eq(invoices.status, 'sent')],
  open_documents: [salesDocuments, inArray(salesDocuments.status, ['draft', 'sent', 'accepted'])],
  services: [customerServices],
  subscriptions: [subscriptions],
  payments: [payments],
} satisfies Record<string, [OwnedTable, SQL?]>;

export type RecordCounts = Record<keyof typeof COUNTED, number>;

/** Counts the records of a customer by kind. A count of `MAX_RECORDS + 1` means more than `MAX_RECORDS`. */
export async function countRecords(db: Database, customerId: number): Promise<RecordCounts> {
  const counts = await Promise.all(
    Object.entries<[OwnedTable, SQL?]>(COUNTED).map(async ([name, [table, condition]]) => {
      const where = and(eq(table.customer_id, customerId), condition);
      const some = db.select({ id: table.id }).from(table).where(where);
      return [name, await db.$count(some.limit(literal(MAX_RECORDS + 1)).as('some_records'))];
    }),
  );
  return Object.fromEntries(counts);
}

/** The number of rows in a state. States without rows are left out. */
export interface StateCount {
  state: string;
  count: number;
}

/** Counts subscriptions by status, in the order of `subscriptionStatus`. */
export async function countSubscriptions(db: Database): Promise<StateCount[]> {
  return countBy(db, subscriptions.status, subscriptionStatus.enumValues);
}

/** Number of days, today included, whose Stripe events the overview counts. */
export const DELIVERY_DAYS = 7;

/**
 * Counts the Stripe events by outcome, in the order of `eventOutcome`, as the list of events finds them.
 *
 * @param from calendar date in `timeZone` of the oldest events
 */
export async function countDeliveries(db: Database, from: string, timeZone: string): Promise<StateCount[]> {
  const since = startOfDay(from, timeZone);
  return countBy(db, stripeEvents.outcome, eventOutcome.enumValues, gte(stripeEvents.stripe_created, since));
}

async function countBy(db: Database, column: PgColumn, order: readonly string[], where?: SQL) {
  const state = sql<string>`${column}`;
  const counts = await db.select({ state, count: count() }).from(column.table).where(where).groupBy(column);
  return counts.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
}
