import { and, asc, desc, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { type Builder, type Database, type Statement, statement } from '@/db/database';
import { MAX_PER_PAGE, type Page, type PageRequest, pageBounds, toPage } from '../page';

/** Up to there rows are passed over one by one. */
const NEAR = 1000;

/** What each row of a page tells: how many there are on all pages. */
interface Counted {
  total_rows: number;
}

interface ListQueries<Filter extends string, Row extends Counted> {
  list: CountedList;
  /** What each filter asks of a row. */
  filters: Record<Filter, (value: SQL) => SQL>;
  /** Those of them whose values are counted, in the order in which a kind names them. */
  closed: readonly NoInfer<Filter>[];
  /** Those of them that are the first and the last day. */
  days?: readonly [from: NoInfer<Filter>, to: NoInfer<Filter>];
  /** One by which few rows are found, and then sorted by this: no index in the order of the list is searched for them. */
  sorted?: readonly [by: NoInfer<Filter>, order: SQL];
  /**
   * Reads the rows of a page.
   *
   * @param found the page's ids, a table named `found` with a column `id`
   */
  select(db: Database, found: SQL, total: SQL<number>): Builder<Row[]>;
}

type Values<Filter extends string> = { [name in Filter]?: unknown };

/** Reads a page in the order of the list, and how many rows there are on all of them. */
type ListReader<Filter extends string, Row extends Counted> = (
  db: Database,
  request: PageRequest,
  filters: Values<Filter>,
) => Promise<Page<Row>>;

/**
 * Makes the queries of a list: one for a page with its total, and one for the total of a page beyond the last.
 * Filters by counted columns have a constant cost. Any other filter needs an index of its own, by which its rows are
 * counted.
 */
export function listReader<Filter extends string, Row extends Counted>(
  queries: ListQueries<Filter, Row>,
): ListReader<Filter, Row> {
  const names = Object.keys(queries.filters) as Filter[];
  const built = new Map<string, Statements<Row>>();
  return async (db, request, filters) => {
    const used = names.filter((name) => filters[name] !== undefined);
    const { limit, offset } = pageBounds(request);
    const isFar = offset > NEAR;
    const key = `${used} ${isFar}`;
    const { readRows, readTotal } = built.get(key) ?? build(queries, used, isFar);
    built.set(key, { readRows, readTotal });
    const kind = queries.closed.map((name) => filters[name]).filter((value) => value !== undefined);
    const values = { ...filters, kind: kind.join(' '), limit, offset };
    const found = await readRows(db, values);
    const [counted] = found.length > 0 || offset === 0 ? found : await readTotal(db, values);
    return toPage(request, counted?.total_rows ?? 0, found);
  };
}

interface Statements<Row> {
  readRows: Statement<string, Row>;
  readTotal: Statement<string, Counted>;
}

function build<Filter extends string, Row extends Counted>(
  { list, filters, closed, days: [first, last] = [] as never, sorted, select }: ListQueries<Filter, Row>,
  used: Filter[],
  isFar: boolean,
): Statements<Row> {
  const names = [...used, 'kind', 'limit', 'offset'];
  const isCounted = used.every((name) => closed.includes(name) || name === first || name === last);
  const inOrder = list.order.map((column) => (list.newestFirst ? desc(column) : asc(column)));
  const order = sorted && used.includes(sorted[0]) ? sorted[1] : sql.join(inOrder, sql`, `);
  const parts = (values: Record<string, SQL>) => {
    const value = (name: string) => values[name] as SQL;
    const given = (name: Filter | undefined) => (name && used.includes(name) ? value(name) : undefined);
    const matching = (some: readonly Filter[]) => and(...some.map((name) => filters[name](value(name))));
    const ofKind = matching(used.filter((name) => closed.includes(name)));
    const days = { from: given(first), to: given(last) };
    return {
      where: matching(used),
      ofKind,
      days,
      kind: sql`${value('kind')}::text`,
      offset: value('offset'),
      limit: value('limit'),
    };
  };
  const totalOf = ({ where, ofKind, days, kind }: ReturnType<typeof parts>) => {
    if (!isCounted) return sql`(select count(*) from ${list.table} where ${where})`;
    return days.from || days.to ? countDays(list, kind, ofKind, days) : countKind(list, kind);
  };
  const idsOf = ({ where, ofKind, days, kind, offset, limit }: ReturnType<typeof parts>) => {
    const from = (condition: SQL | undefined, passed: SQL) =>
      // The planner learns that there are few, as it cannot from a bound limit.
      sql`select id from (select ${list.table.id} from ${list.table} where ${condition ?? sql`true`}
        order by ${order} offset ${passed} limit ${sql.raw(String(MAX_PER_PAGE))}) page_ids limit (select ${limit}::int)`;
    if (!isFar || !isCounted) return from(where, sql`(select ${offset}::int)`);
    const place = findPlace(list, kind, ofKind, days, offset);
    return sql`with place as (${place.query})
      ${from(and(where, place.isBeyond), sql`(select ${offset}::int - passed from place)`)}`;
  };
  return {
    readRows: statement(names, (db, values) => {
      const known = parts(values);
      return select(db, sql`(${idsOf(known)}) found`, sql<number>`${totalOf(known)}::int`);
    }),
    readTotal: statement(names, (db, values) =>
      db.select({ total_rows: sql<number>`${totalOf(parts(values))}::int` }).from(sql`(select) one`),
    ),
  };
}

/** A list whose rows are counted as they are written, see db/schema/counts.ts. */
interface CountedList {
  table: PgTable & { id: PgColumn };
  blocks: PgTable;
  deltas: PgTable;
  /** The columns of its order: a day and the id, newest first; or a number. */
  order: PgColumn[];
  newestFirst: boolean;
}

/** Of the rows of one kind: '' for all, else the values of the closed filters with a space between. */
const countKind = ({ blocks, deltas }: CountedList, kind: SQL): SQL =>
  sql`((select coalesce(sum(row_count), 0) from ${blocks} where kind = ${kind})
    + (select coalesce(sum(row_count), 0) from ${deltas} where ${kind} = any(kinds)))`;

/** Days from and to, both inclusive; undefined: without an end. */
interface Days {
  from: SQL | undefined;
  to: SQL | undefined;
}

/**
 * Of the rows of one kind on some days: by the blocks that lie within them, and by the rows of the two that
 * reach beyond.
 *
 * @param matching the condition that makes a row one of the kind
 */
function countDays(list: CountedList, kind: SQL, matching: SQL | undefined, days: Days): SQL {
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
const lastStart = ({ blocks }: CountedList, day: SQL): SQL =>
  sql`select day, row_id from ${blocks} where kind = '' and (day, row_id) <= (${day}, 0)
    order by day desc, row_id desc limit 1`;

const firstDay = ({ from }: Days) => (from ? sql`${from}::date` : sql`'-infinity'::date`);
const endDay = ({ to }: Days) => (to ? sql`(${to}::date + 1)` : sql`'infinity'::date`);

/** The columns of a list's order as a row, to be compared with another. */
const orderOf = ({ order }: CountedList): SQL => sql`(${sql.join(order, sql`, `)})`;

interface Place {
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
function findPlace(list: CountedList, kind: SQL, matching: SQL | undefined, days: Days, offset: SQL): Place {
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

/** What the filters that are given ask of a row. */
export function usedConditions(
  filters: Record<string, (value: SQL) => SQL>,
  given: Record<string, unknown>,
): SQL[] {
  return Object.entries(filters).flatMap(([name, matches]) =>
    given[name] === undefined ? [] : [matches(sql`${given[name]}`)],
  );
}
