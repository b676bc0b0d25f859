import { and, count, desc, eq, gte, inArray, lte, sql, sum } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, payments, stripeEvents } from '@/db/schema';
import { addDays, toCalendarDate } from '../dates';
import type { Env } from '../env';
import { toJsonAmount } from '../money';
import { listRuns, type RunRow } from '../sync/run-queries';
import { listTasks, type Task } from './list-tasks';

/** An amount in whole units of its currency, and over how many rows it sums up. */
export interface CurrencySum {
  currency: string;
  count: number;
  total: number;
}

export interface Overview {
  /** Sent and overdue invoices; the currency with the most first. */
  unpaid_invoices: CurrencySum[];
  overdue_count: number;
  /** Completed payments of the last 30 days, today included. */
  recent_payments: CurrencySum[];
  last_run: RunRow | null;
  failed_events: number;
  /** Empty while all is well. */
  tasks: Task[];
}

export const RECENT_DAYS = 30;

/** What staff see first. */
export async function getOverview(
  db: Database,
  now: Date,
  { timeZone, alerts }: Pick<Env, 'timeZone' | 'alerts'>,
): Promise<Overview> {
  const today = toCalendarDate(now, timeZone);
  const lastRuns = await listRuns(db, { page: 1, per_page: 1 });
  const openEvents = await countOpenEvents(db);
  return {
    unpaid_invoices: await sumUnpaid(db),
    overdue_count: await countOverdue(db),
    recent_payments: await sumPayments(db, addDays(today, 1 - RECENT_DAYS), today),
    last_run: lastRuns.data[0] ?? null,
    failed_events: openEvents.failed,
    tasks: await listTasks(db, now, alerts, openEvents.unmatched),
  };
}

async function sumUnpaid(db: Database): Promise<CurrencySum[]> {
  const sums = await db
    .select({ currency: invoices.currency, count: count(), total: sum(invoices.amount_due) })
    .from(invoices)
    .where(inArray(invoices.status, ['sent', 'overdue']))
    .groupBy(invoices.currency)
    .orderBy(desc(count()), invoices.currency);
  return sums.map(toCurrencySum);
}

async function countOverdue(db: Database): Promise<number> {
  const [row] = await db.select({ total: count() }).from(invoices).where(eq(invoices.status, 'overdue'));
  return row?.total ?? 0;
}

async function sumPayments(db: Database, from: string, to: string): Promise<CurrencySum[]> {
  const sums = await db
    .select({ currency: payments.currency, count: count(), total: sum(payments.amount) })
    .from(payments)
    .where(
      and(eq(payments.status, 'completed'), gte(payments.payment_date, from), lte(payments.payment_date, to)),
    )
    .groupBy(payments.currency)
    .orderBy(desc(count()), payments.currency);
  return sums.map(toCurrencySum);
}

async function countOpenEvents(db: Database) {
  const [row] = await db
    .select({
      failed: sql<number>`(count(*) filter (where ${stripeEvents.outcome} = 'failed'))::int`,
      unmatched: sql<number>`(count(*) filter (where ${stripeEvents.outcome} = 'unmatched'))::int`,
    })
    .from(stripeEvents)
    .where(sql`${stripeEvents.outcome} in ('failed', 'unmatched')`); // as its partial index says
  return row ?? { failed: 0, unmatched: 0 };
}

function toCurrencySum(row: { currency: string; count: number; total: string | null }): CurrencySum {
  return { ...row, total: toJsonAmount(row.total ?? '0') };
}
