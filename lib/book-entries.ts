import { sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { toCalendarDate } from './dates';

/** When something is booked, and in whose calendar. */
export interface BookedAt {
  now: Date;
  timeZone: string;
}

/**
 * Posts what has become of invoices and payments (db/functions/accounting.sql), in the transaction that changed them:
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
