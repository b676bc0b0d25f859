import { and, eq, inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns, rows } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { BATCH, type CursorList, pagesToCsv, readSortedPage } from '../counted-list/sorted-page';
import { inColumns, snippetColumns, toCustomerSnippet } from '../customers/queries';
import { addDays, toIso } from '../dates';
import { oneOf } from '../fields';
import { toJsonAmounts } from '../money';
import { AGE_RANGES, type AgeGroup, ageGroupOf, ageGroupSql, presentAge, rangeOfAge } from '../overdue';
import { perPageParam } from '../page';
import type { PageStart } from '../page-query';
import { currencyCode } from '../records/fields';
import { dueOn } from './list';

export const overdueFilters = z.object({
  age: z.preprocess(presentAge, oneOf(AGE_RANGES).optional()),
  currency: currencyCode.optional(),
  sort: z.enum(['due', '-due', 'open', '-open']).catch('due'),
  per_page: perPageParam,
});
type OverdueFilters = z.infer<typeof overdueFilters>;

/** Returns one page of the matching overdue invoices, sorted by due date or by open amount. */
export async function listOverdue(
  db: Database,
  { age, currency, sort, per_page }: OverdueFilters,
  today: string,
  start: PageStart,
  size = per_page,
): Promise<CursorList<OverdueInvoice>> {
  const [from, to] = age ? rangeOfAge(age) : [null, null];
  // The status condition must be the same as in the partial index.
  const where = and(
    sql`${invoices.status} = 'overdue'`,
    from === null ? undefined : sql`${dueOn} <= ${addDays(today, -from)}::date`,
    to === null ? undefined : sql`${dueOn} >= ${addDays(today, -to)}::date`,
    currency === undefined ? undefined : eq(invoices.currency, currency),
  );
  const by = sort.endsWith('open') ? sql`${invoices.amount_due}` : dueOn;
  const rows = { table: invoices, where, by, descends: sort.startsWith('-') };
  return readSortedPage(db, rows, { start, size }, (tx, ids) => readOverdue(tx, ids, today));
}

export type OverdueInvoice = Awaited<ReturnType<typeof readOverdue>>[number];

async function readOverdue(tx: Database, ids: number[], today: string) {
  const found = await tx
    .select({
      ...pickColumns(invoices, 'id', 'number', 'currency', 'amount_due', 'due_date'),
      ...pickColumns(invoices, 'payment_failed_at', 'stripe_invoice_id'),
      /** Days since the due date, or since the invoice date if the invoice has no due date. */
      days: sql<number>`(${today}::date - ${dueOn})::int`,
      last_reminder: sql<string | null>`${invoices.reminded_on}[cardinality(${invoices.reminded_on})]::text`,
      reminder_level: sql<number>`cardinality(${invoices.reminded_on})`,
      customer: snippetColumns,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(inArray(invoices.id, ids));
  return found.map((row) => ({
    ...toJsonAmounts(row, 'amount_due'),
    customer: toCustomerSnippet(row.customer),
  }));
}

/** Sum of the overdue invoices with one currency and age. */
export type OverdueSum = Awaited<ReturnType<typeof sumOverdue>>[number];

/** Sums the overdue invoices by currency and age. The currency with the most invoices comes first. */
export async function sumOverdue(db: Database, today: string) {
  const sums = await rows<Record<'currency' | 'total', string> & { age: AgeGroup; count: number }>(
    db,
    sql`select currency, age, count(*)::int as count, sum(amount_due)::text as total
      from (
        select currency, amount_due, ${ageGroupSql(dueOn, today)} as age
        from ${invoices} where status = 'overdue') aged
      group by currency, age order by sum(count(*)) over (partition by currency) desc, currency, age`,
  );
  return sums.map((row) => toJsonAmounts(row, 'total'));
}

/** Returns the matching overdue invoices as CSV, in chunks. */
export function overdueCsv(db: Database, filters: OverdueFilters, today: string): AsyncGenerator<string> {
  return pagesToCsv(
    [
      ...['id', 'number', 'due_date', 'days', 'age', 'currency', 'amount_due', 'payment_failed_at'],
      ...['stripe_invoice_id', 'customer_number', 'customer_name', 'last_reminder', 'reminder_level'],
    ],
    (start) => listOverdue(db, filters, today, start, BATCH),
    (invoice) => ({
      ...inColumns(invoice),
      age: ageGroupOf(invoice.days),
      payment_failed_at: toIso(invoice.payment_failed_at),
    }),
  );
}
