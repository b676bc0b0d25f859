import { sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { toCalendarDate } from './dates';

/** The time of booking, and the time zone that assigns it to a calendar date. See `RecordWriter`. */
export interface BookedAt {
  now: Date;
  clock?(): Date;
  timeZone: string;
}

/**
 * Posts the changes to invoices, payments and transfers to the journal (db/functions/accounting.sql), in the
 * transaction that made them. An entry has the date of its invoice or payment, or today's if that date's month is over.
 * An entry that reverses another one has today's date, or the date of the reversed entry if that is later.
 *
 * @param touched ids of the changed invoices, payments and transfers, including deleted ones
 */
export async function bookEntries(
  tx: Database,
  touched: { invoices?: number[]; payments?: number[]; transfers?: number[] },
  { now, clock = () => now, timeZone }: BookedAt,
): Promise<void> {
  const [invoices, payments] = [toArray(touched.invoices), toArray(touched.payments)];
  const transfers = toArray(touched.transfers);
  await book(tx, { invoices, payments, transfers, today: toCalendarDate(clock(), timeZone), timeZone });
}

const toArray = (ids: number[] = []) => `{${ids}}`;

const book = statement(
  ['invoices', 'payments', 'transfers', 'today', 'timeZone'],
  (_, { invoices, payments, transfers, today, timeZone }) =>
    sql`select book_entries(${invoices}::int[], ${payments}::int[], ${today}::date, ${timeZone}::text,
      transfer_ids => ${transfers}::int[])`,
);
