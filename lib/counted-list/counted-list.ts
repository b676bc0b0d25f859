import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';

/** A list whose rows are counted as they are written, see db/schema/counts.ts. */
export interface CountedList {
  table: PgTable & { id: PgColumn };
  blocks: PgTable;
  deltas: PgTable;
  /** The columns of its order: a day and the id, newest first; or a number. */
  order: PgColumn[];
  newestFirst: boolean;
}

/** Of the rows of one kind: '' for all, else the values of the closed filters with a space between. */
export const countKind = ({ blocks, deltas }: CountedList, kind: SQL): SQL =>
  sql`((select coalesce(sum(row_count), 0) from ${blocks} where kind = ${kind})
    + (select coalesce(sum(row_count), 0) from ${deltas} where ${kind} = any(kinds)))`;

/** Days from and to, both inclusive; undefined: without an end. */
export interface Days {
  from: SQL | undefined;
  to: SQL | undefined;
}

/**
 * Of the rows of one kind on some days: by the blocks that lie within them, and by the rows of the two that
 * reach beyond.
 *
 * @param matching the condition that makes a row one of the kind
 */
export function countDays(list: CountedList, kind: SQL, matching: SQL | undefined, days: Days): SQL {
  const { table, blocks, deltas } = list;
  const row = orderOf(list);
  const rowsOf = (from: SQL, to: SQL) =>
    sql`(select count(*) from ${table} where ${matching ?? sql`true`} and ${row} >= (${from}) and ${row} < (${to}))`;
  const sumOf = (counts: PgTable, ofKind: SQL) =>
    sql`(select coalesce(sum(row_count), 0) from ${counts} where ${ofKind}
      and (day, row_id) >= (inner_day, inner_id) and (day, row_id) < (outer_day, outer_id))`;
  return sql`(
    select ${rowsOf(sql`first_day, 0`, sql`inner_day, inner_id`)} + ${rowsOf(sql`outer_day, outer_id`, sql`end_day, 0`)}
      + ${sumOf(blocks, sql`kind = ${kind}`)} + ${sumOf(deltas, sql`${kind} = any(kinds)`)}
    from (
      select first_day, end_day,
        case when is_apart then a.day else end_day end as inner_day, case when is_apart then a.row_id else 0 end as inner_id,
        case when is_apart then b.day else end_day end as outer_day, case when is_apart then b.row_id else 0 end as outer_id
      from (select ${firstDay(days)} as first_day, ${endDay(days)} as end_day) d
      left join lateral (
        select day, row_id from ${blocks} where kind = '' and (day, row_id) >= (first_day, 0)
        order by day, row_id limit 1
      ) a on true
      left join lateral (${lastStart(list, sql`end_day`)}) b on true
      cross join lateral (select coalesce((a.day, a.row_id) <= (b.day, b.row_id), false) as is_apart) c
    ) ends)`;
}

/** Where the last block begins that begins before a day. */
export const lastStart = ({ blocks }: CountedList, day: SQL): SQL =>
  sql`select day, row_id from ${blocks} where kind = '' and (day, row_id) <= (${day}, 0)
    order by day desc, row_id desc limit 1`;

const firstDay = ({ from }: Days) => (from ? sql`${from}::date` : sql`'-infinity'::date`);
export const endDay = ({ to }: Days) => (to ? sql`(${to}::date + 1)` : sql`'infinity'::date`);

/** The columns of a list's order as a row, to be compared with another. */
export const orderOf = ({ order }: CountedList): SQL => sql`(${sql.join(order, sql`, `)})`;
