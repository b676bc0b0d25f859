import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { toCalendarDate } from '../dates';
import type { RecordWriter } from './record-kind';

/** The kinds of numbers whose look is a setting (db/schema/numbers.ts). */
export type SeriesName = 'invoice' | 'offer' | 'order_confirmation' | 'service';

/**
 * The next number of a series; nobody else takes one of it before the transaction ends, so that none is left out.
 *
 * @param date whose year counts, where years do; today where it is left out
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
