import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { type Database, rows } from '@/db/database';
import { listSumDeltas, listSums } from '@/db/schema';
import { toJsonAmounts } from '../money';

type Values = Record<string, unknown>;

/** A list whose sums are kept in `list_sums`, so that a summary does not read all its rows. */
export interface KeptSums {
  table: PgTable;
  /** Name of the list in `list_sums`. */
  list: 'invoice' | 'sales_document' | 'service';
  /** The columns whose values form the kind of a sum, separated by spaces, in this order. */
  kinds: readonly PgColumn[];
  /** Name of the date column. The filters `<day>_from` and `<day>_to` select a range of days. */
  day: string;
  /** Returns the condition for the rows that match the filters. Returns null if no row can match. */
  where(values: Values): SQL | undefined | null;
}

/** A summary: the columns by which it groups, and the column of `list_sums` for each sum. */
export interface Summary<Sums extends z.ZodObject> {
  by: Record<string, PgColumn>;
  of: Record<string, PgColumn>;
  schema: Sums;
}

/**
 * Counts and sums the rows of a list that match the filters. If `list_sums` has a sum for each value of the filters,
 * the cost is constant. Otherwise the matching rows are read.
 *
 * @param given the filters by name, and the page of the request, which is ignored
 */
export async function summarize<Sums extends z.ZodObject>(
  db: Database,
  kept: KeptSums,
  { page: _, per_page: __, ...given }: Values,
  { by, of, schema }: Summary<Sums>,
): Promise<z.output<Sums>[]> {
  const where = kept.where(given);
  if (where === null) return [];
  const [from, to] = [`${kept.day}_from`, `${kept.day}_to`];
  const names = [from, to, 'statuses', ...kept.kinds.map(({ name }) => name)];
  const isKept = Object.keys(given).every((name) => given[name] === undefined || names.includes(name));
  const ofRows = sql`select s.* from ${kept.table}, lateral list_sum_of(${kept.table}, 1) s where ${where ?? sql`true`}`;
  const amounts = isKept ? sumsBetween(kept.list, { from: given[from], to: given[to] }) : ofRows;
  const found = await sumUp(db, kept.kinds, { by, of }, amounts, given);
  return z.array(schema).parse(found.map((row) => toJsonAmounts(row, ...Object.keys(of))));
}

type SumRow = Record<string, string | null>;

/** Adds up rows with the columns of `list_sums` in groups. */
function sumUp(
  db: Database,
  kinds: readonly PgColumn[],
  { by, of }: Pick<Summary<z.ZodObject>, 'by' | 'of'>,
  amounts: SQL,
  values: Values,
): Promise<SumRow[]> {
  const part = (column: PgColumn): SQL => {
    const at = kinds.findIndex(({ name }) => name === column.name) + 1;
    return at === 0 ? sql`currency` : sql`split_part(kind, ' ', ${sql.raw(`${at}`)})::${typeOf(column)}`;
  };
  const conditions = kinds.flatMap((column) => [
    ...(values[column.name] === undefined ? [] : [sql`${part(column)} = ${values[column.name]}`]),
    ...(column.name !== 'status' || values.statuses === undefined
      ? []
      : [sql`${part(column)} = any(${values.statuses}::${typeOf(column)}[])`]),
  ]);
  const groups = Object.entries(by).map(([name, column]) => sql`${part(column)} as ${sql.identifier(name)}`);
  const sums = Object.entries(of).map(
    ([name, column]) => sql`sum(${sql.identifier(column.name)})::text as ${sql.identifier(name)}`,
  );
  const places = sql.join(
    groups.map((_group, i) => sql.raw(`${i + 1}`)),
    sql`, `,
  );
  return rows<SumRow>(
    db,
    sql`select ${sql.join(groups, sql`, `)}, sum(row_count)::int as count, ${sql.join(sums, sql`, `)}
      from (${amounts}) amounts
      where ${sql.join([sql`true`, ...conditions], sql` and `)}
      group by ${places} having sum(row_count) > 0 order by ${places}`,
  );
}

const typeOf = (column: PgColumn): SQL => sql.raw(column.getSQLType());

const sumsOfDays = (list: string): SQL => sql`select * from ${listSums} where list = ${list}`;
const sumsOfMonths = (list: string): SQL => sumsOfDays(`${list} months`);
const deltasOf = (list: string): SQL => sql`select * from ${listSumDeltas} where list = ${list}`;

/** Returns SQL for all sums of a list, several for each kind and currency. */
export const allSums = (list: KeptSums['list']): SQL =>
  sql`${sumsOfMonths(list)} union all ${deltasOf(list)}`;

/** Default ends of a range of days. */
const [FIRST_DAY, LAST_DAY] = ['0001-01-01', '9999-12-31'];

/** Returns SQL for the sums of the days in a range. Uses the sums of months for whole months before the last one. */
function sumsBetween(list: KeptSums['list'], { from, to }: Values): SQL {
  if (from === undefined && to === undefined) return allSums(list);
  const [first, last] = [sql`${from ?? FIRST_DAY}::date`, sql`${to ?? LAST_DAY}::date`];
  // The first day of the first whole month, and of the month that contains the last day.
  const start = sql`date_trunc('month', ${first} + interval '1 month - 1 day')::date`;
  const end = sql`greatest(${start}, date_trunc('month', ${last}::timestamp)::date)`;
  return sql`
    ${sumsOfMonths(list)} and day >= ${start} and day < ${end}
    union all ${sumsOfDays(list)} and day >= ${first} and day < ${start} and day <= ${last}
    union all ${sumsOfDays(list)} and day >= ${end} and day <= ${last}
    union all ${deltasOf(list)} and day between ${first} and ${last}`;
}
