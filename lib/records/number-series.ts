import { eq, inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pgErrorCode, rows } from '@/db/database';
import { creditNotes, invoices, numberSeries } from '@/db/schema';
import { transact } from '@/db/transaction';
import { auditNumber, recordAudit } from '../audit/audit-log';
import { toCalendarDate } from '../dates';
import { AppError, invalidField, toFieldErrors } from '../errors';
import type { RecordWriter, SettingsWriter } from './record-kind';
import { outdated } from './save-records';

/** Names of the number series whose format staff can change (db/schema/invoices.ts). */
type SeriesName = 'invoice' | 'credit_note' | 'offer' | 'order_confirmation' | 'service';

/** The two series that must never give the same number, because both number invoices in the sense of § 14 UStG. */
const OTHER_SERIES = {
  invoice: { name: 'credit_note', title: 'a credit note', table: creditNotes },
  credit_note: { name: 'invoice', title: 'an invoice', table: invoices },
} as const;

const otherOf = (name: string) => Object.entries(OTHER_SERIES).find(([one]) => one === name)?.[1];

/**
 * Assigns the next number of a series. Other writers of the series wait until the transaction ends, so that no number
 * is skipped.
 *
 * @param date the date whose year becomes part of the number if the series uses years; defaults to today
 * @throws AppError validation_failed if all numbers of the series are taken, or if a credit note already has the number
 *   of the new invoice, or the other way round. The formats exclude the latter, unless the other series had the format
 *   before, or the number was imported.
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
  ).catch((error) => {
    if (pgErrorCode(error) !== NO_NUMBERS_LEFT) throw error;
    throw unusable('The series has no numbers left.');
  });
  const number = String(taken?.number);
  const other = otherOf(series);
  if (other && (await tx.$count(other.table, eq(other.table.number, number))) > 0) {
    throw unusable(`The next number, ${number}, already belongs to ${other.title}.`);
  }
  return number;
}

/** The SQLSTATE of the only exception that take_number raises (db/functions/numbers.sql). */
const NO_NUMBERS_LEFT = 'P0001';

const unusable = (problem: string) =>
  new AppError('validation_failed', `${problem} Change the format under Settings, Numbers.`);

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
 * @returns the series as `listNumberSeries` lists it
 * @throws AppError validation_failed with the invalid fields; not_found; precondition_failed
 */
export async function saveNumberSeries(
  db: Database,
  name: string,
  wanted: Record<keyof z.infer<typeof settings>, unknown>,
  { actor, precondition = () => true }: SettingsWriter<Series>,
): Promise<Series> {
  const parsed = settings.safeParse(wanted);
  if (!parsed.success) {
    const fields = toFieldErrors(parsed.error.issues);
    throw new AppError('validation_failed', 'Numbers cannot have this format.', fields);
  }
  return transact(db, async (tx) => {
    const ofName = eq(numberSeries.name, name);
    const other = otherOf(name)?.name;
    const locked = await tx
      .select()
      .from(numberSeries)
      .where(inArray(numberSeries.name, other ? [name, other] : [name]))
      .orderBy(numberSeries.name)
      .for('update');
    const before = locked.find((series) => series.name === name);
    if (!before) throw new AppError('not_found', 'There is no such series.');
    const listed = await listNumberSeries(tx);
    if (!listed.some((series) => series.name === name && precondition(series))) throw outdated();
    if (locked.some((series) => series.name === other && canBeEqual(series, parsed.data))) {
      throw invalidField(
        'prefix',
        'can give an invoice and a credit note the same number: use another prefix',
      );
    }
    const [after = null] = await tx.update(numberSeries).set(parsed.data).where(ofName).returning();
    const entity = { entity: 'number_series', entity_id: auditNumber(name) } as const;
    await recordAudit(tx, { actor, action: 'number_series.update', ...entity, before, after });
    return { name: before.name, ...parsed.data };
  });
}

type Series = Awaited<ReturnType<typeof listNumberSeries>>[number];

type Format = Pick<z.infer<typeof settings>, 'prefix' | 'with_year' | 'width'>;

/** Returns whether two series can give the same number. Letter case makes no difference, because people ignore it. */
function canBeEqual(one: Format, other: Format): boolean {
  const [a, b] = [toPattern(one), toPattern(other)];
  const fits = (char = '', against = '') => char === against || (char === '#' && /\d/.test(against));
  return a.length === b.length && [...a].every((char, at) => fits(char, b[at]) || fits(b[at], char));
}

/** Returns the form of a number, with `#` for each digit that the series counts. */
const toPattern = ({ prefix, with_year, width }: Format) =>
  `${prefix.toLowerCase()}${with_year ? '####-' : ''}${'#'.repeat(width)}`;
