import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { toCalendarDate } from '../dates';
import type { RecordWriter } from './record-kind';

/** The kinds of numbers whose look is a setting (db/schema/invoices.ts). */
export type SeriesName = 'invoice' | 'offer' | 'order_confirmation' | 'service';

/**
 * Takes the next number of a series. Other writers of the series wait until the transaction ends, so that no number is
 * skipped.
 *
 * @param date its year counts in series with years; default: today
 */
export async function takeNumber(
  tx: Database,
  series: SeriesName,
  { now, timeZone }: Pick<RecordWriter, 'now' | 'timeZone'>,
  date: string = toCalendarDate(now, timeZone),
): Promise<string> {
  const [taken] = await rows<{ number: string }>(
    tx,
    sql`select take_number(${series}::text, ${Number(date.slice(0, 4))}::int) as number`,
  );
  return String(taken?.number);
}
