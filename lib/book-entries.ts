import { sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { toCalendarDate } from './dates';

/** When something is booked, and in whose calendar. */
export interface BookedAt {
  now: Date;
  timeZone: string;
}

/**
 * Posts what has become of invoices and payments (db/functions/book_entries.sql), in the transaction that changed them:
 * on their own days, or today where the month of that day is over.
 *
 * @param touched by id; payments that were deleted, too
 */
export async function bookEntries(
  tx: Database,
  touched: { invoices?: number[]; payments?: number[] },
  { now, timeZone }: BookedAt,
): Promise<void> {
  const [invoices, payments] = [toArray(touched.invoices), toArray(touched.payments)];
  await book(tx, { invoices, payments, today: toCalendarDate(now, timeZone), timeZone });
}

const toArray = (ids: number[] = []) => `{${ids}}`;

const book = statement(
  ['invoices', 'payments', 'today', 'timeZone'],
  (_, { invoices, payments, today, timeZone }) =>
    sql`select book_entries(${invoices}::int[], ${payments}::int[], ${today}::date, ${timeZone}::text)`,
);

/** Posts all that is there, each on its own day, where nothing was posted yet, however long it takes. */
export async function bookHistory(db: Database, timeZone: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`select set_config('statement_timeout', '0', true)`);
    await tx.execute(sql`select book_history(${timeZone})`);
  });
}
