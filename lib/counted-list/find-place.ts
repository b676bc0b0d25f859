import { type SQL, sql } from 'drizzle-orm';
import { type CountedList, type Days, endDay, lastStart, orderOf } from './counted-list';

export interface Place {
  /** Answers one row: the key of the block, and how many rows are `passed` before it. */
  query: SQL;
  /** Of the rows from that block on. */
  isBeyond: SQL;
}

/**
 * Finds the block in which a page begins, by adding up the blocks before it.
 *
 * @param matching the condition that makes a row one of the kind
 */
export function findPlace(
  list: CountedList,
  kind: SQL,
  matching: SQL | undefined,
  days: Days,
  offset: SQL,
): Place {
  return list.newestFirst ? findByDay(list, kind, matching, days, offset) : findByNumber(list, kind, offset);
}

function findByDay(list: CountedList, kind: SQL, matching: SQL | undefined, days: Days, offset: SQL): Place {
  const { table, blocks, deltas } = list;
  const row = orderOf(list);
  const isBefore = days.to ? sql`and (day, row_id) < (select day, row_id from last_block)` : sql``;
  // Of the block in which the days end, the rows before their end.
  const last = days.to
    ? sql`union all select day, row_id, (
        select count(*)::int from ${table} where ${matching ?? sql`true`}
          and ${row} >= (day, row_id) and ${row} < (${endDay(days)}, 0)), true from last_block`
    : sql``;
  const query = sql`
    with last_block as (${lastStart(list, endDay(days))}),
    points as (
      select day, row_id, row_count, true as is_block from ${blocks} where kind = ${kind} ${isBefore}
      union all
      select day, row_id, row_count, false from ${deltas} where ${kind} = any(kinds) ${isBefore}
      union all
      select ${endDay(days)}, 0, 0, true ${last}
    ),
    summed as (
      select day, row_id, is_block, sum(row_count) over (order by day desc, row_id desc) as passed from points
    )
    select day, row_id, passed from summed where is_block and passed <= ${offset}::int
    order by passed desc, day, row_id limit 1`;
  return { query, isBeyond: sql`${row} < (select day, row_id from place)` };
}

function findByNumber(list: CountedList, kind: SQL, offset: SQL): Place {
  const { blocks, deltas } = list;
  const query = sql`
    with points as (
      select number, row_count, true as is_block from ${blocks} where kind = ${kind}
      union all
      select number, row_count, false from ${deltas} where ${kind} = any(kinds)
      union all
      select '', 0, true
    ),
    summed as (
      select number, is_block,
        sum(row_count) over (order by number) - sum(row_count) over (partition by number) as passed
      from points
    )
    select number, passed from summed where is_block and passed <= ${offset}::int
    order by passed desc, number desc limit 1`;
  return { query, isBeyond: sql`${orderOf(list)} >= (select number from place)` };
}
