import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, rows } from '@/db/database';
import { numberSeries } from '@/db/schema';
import { transact } from '@/db/transaction';
import { auditNumber, recordAudit } from '../audit/audit-log';
import { toCalendarDate } from '../dates';
import { AppError, toFieldErrors } from '../errors';
import type { RecordWriter } from './record-kind';

/** Names of the number series whose format staff can change (db/schema/invoices.ts). */
type SeriesName = 'invoice' | 'credit_note' | 'offer' | 'order_confirmation' | 'service';

/**
 * Assigns the next number of a series. Other writers of the series wait until the transaction ends, so that no number
 * is skipped.
 *
 * @param date the date whose year becomes part of the number if the series uses years; defaults to today
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

const MAX_WIDTH = 12;

const settings = z
  .strictObject({
    prefix: z
      .string('must be a string')
      .trim()
      .max(20, 'must have at most 20 characters')
      .regex(/^[\w./-]*$/, 'must contain only letters, digits and - . / _'),
    with_year: z.boolean('must be true or false'),
    width: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(MAX_WIDTH, `must be at most ${MAX_WIDTH}`),
    first_count: z.int('must be a whole number').min(1, 'must be at least 1'),
  })
  .refine(({ width, first_count }) => String(first_count).length <= width, {
    path: ['first_count'],
    message: 'must not have more digits than the numbers',
  });

/** Lists all number series, sorted by name. */
export async function listNumberSeries(db: Database) {
  const { name, prefix, with_year, width, first_count } = numberSeries;
  return db.select({ name, prefix, with_year, width, first_count }).from(numberSeries).orderBy(name);
}

/**
 * Changes the format of future numbers of a series. Existing numbers do not change.
 *
 * @throws AppError validation_failed with the invalid fields; not_found
 */
export async function saveNumberSeries(
  db: Database,
  name: string,
  wanted: Record<keyof z.infer<typeof settings>, unknown>,
  { actor }: Pick<RecordWriter, 'actor'>,
): Promise<void> {
  const parsed = settings.safeParse(wanted);
  if (!parsed.success) {
    const fields = toFieldErrors(parsed.error.issues);
    throw new AppError('validation_failed', 'Numbers cannot have this format.', fields);
  }
  await transact(db, async (tx) => {
    const ofName = eq(numberSeries.name, name);
    const [before] = await tx.select().from(numberSeries).where(ofName).for('update');
    if (!before) throw new AppError('not_found', 'There is no such series.');
    const [after = null] = await tx.update(numberSeries).set(parsed.data).where(ofName).returning();
    const entity = { entity: 'number_series', entity_id: auditNumber(name) } as const;
    await recordAudit(tx, { actor, action: 'number_series.update', ...entity, before, after });
  });
}
