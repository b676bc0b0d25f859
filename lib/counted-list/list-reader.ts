import { and, asc, desc, eq, inArray, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { PgColumn, PgTable, SelectedFields } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import { type Builder, type Database, type Statement, statement } from '@/db/database';
import { customers } from '@/db/schema';
import { MAX_ID, MAX_PER_PAGE, type Page, type PageRequest, pageBounds, pageRequest, toPage } from '../page';

/** The largest offset, in rows, for which a page is read without the block counts. */
const NEAR = 1000;

/** A filter of a counted list. Its value is a bound parameter. */
export interface CountedFilter {
  matches(value: SQL): SQL;
  /** Whether the counts are kept separately for each value of this filter. */
  isClosed?: boolean;
  /** Name of an `isClosed` filter. This filter accepts several of its values, as text such as `{a,b}`. */
  severalOf?: string;
  /** Which end of a range of days the filter sets. Absent for other filters. */
  end?: 'from' | 'to';
}

/** The number of rows on all pages. The query returns it with each row of the page. */
interface Counted {
  total_rows: number;
}

interface CountedListOptions<Row> extends CountedTable {
  /** The filters of the staff page. `more` contains filters for other callers only, such as MCP tools. */
  filters?: Record<string, { counted?: Record<string, CountedFilter> }>;
  more?: Record<string, CountedFilter>;
  /** A second date column by which the list can be filtered and sorted. It may be null. */
  otherDay?: OtherDay;
  /** Name of a filter that few rows match, and an order without an index. PostgreSQL then filters before it sorts. */
  sorted?: readonly [by: string, order: SQL];
  /** The columns of a row. If `customer` is among them, the row's customer is joined. */
  columns: SelectedFields;
  /** Converts a record with these columns to a row. */
  toRow(record: never): Row;
  /** Schema of a page. It drops all other fields of the rows. */
  page?: z.ZodType<Page<Row>>;
}

/**
 * A second date column. With the filter `<name>_from` or `<name>_to`, the list is sorted by this date, latest first.
 */
interface OtherDay {
  name: string;
  column: PgColumn;
  blocks: PgTable;
  deltas: PgTable;
}

/** The SQL of a date column as the indexes and counts store it: null is replaced by `infinity`. */
export const dayOrInfinity = (column: PgColumn): SQL => sql`coalesce(${column}, 'infinity')`;
/** Default end of a range. It is before `infinity`, so rows without a day are in no range. */
const LAST_DAY = '9999-12-31';

type Values = Record<string, unknown>;
type Request = { page?: number | undefined; per_page?: number | undefined; customer_id?: number | undefined };

/**
 * Creates the queries of a counted list. One query reads a page with its total. The other reads only the total, for a
 * page beyond the last. Filters by counted columns have a constant cost. Any other filter needs its own index, because
 * both queries then count the matching rows.
 */
export function countedList<Row>(options: CountedListOptions<Row>) {
  const { table, columns } = options;
  const toRows = (records: unknown[]) => records.map((record) => options.toRow(record as never));
  const own = Object.values(options.filters ?? {}).map(({ counted }) => counted);
  const filters: Record<string, CountedFilter> = Object.assign({}, ...own, options.more);
  const byOtherDay = options.otherDay && listBy(options.otherDay, options, filters);
  if (options.otherDay) Object.assign(filters, rangeOf(options.otherDay));
  const built = new Map<string, Statements>();

  /**
   * Reads a page in the list's order, with the number of rows on all pages.
   *
   * @throws Error if a value belongs to no filter of the list
   */
  async function read(db: Database, request: PageRequest, values: Values): Promise<Page<Row>> {
    if (byOtherDay?.isUsed(values)) return byOtherDay.list.read(db, request, byOtherDay.complete(values));
    const used = Object.keys(filters).filter((name) => values[name] !== undefined);
    // An ignored filter would show rows that do not match.
    const unknown = Object.keys(values).find((name) => values[name] !== undefined && !filters[name]);
    if (unknown !== undefined) throw new Error(`the counted list has no filter ${unknown}`);
    const { limit, offset } = pageBounds(request);
    const isFar = offset > NEAR;
    const key = `${used} ${isFar}`;
    const { readRows, readTotal } = built.get(key) ?? build(options, filters, used, isFar);
    built.set(key, { readRows, readTotal });
    const bound = { ...values, kind: kindsOf(filters, values), limit, offset };
    const found = await readRows(db, bound);
    const [counted] = found.length > 0 || offset === 0 ? found : await readTotal(db, bound);
    const page = toPage(request, counted?.total_rows ?? 0, toRows(found));
    return options.page ? options.page.parse(page) : page;
  }

  /** Returns the condition that the given filters set for a row. */
  function where(given: Values): SQL | undefined {
    const values = byOtherDay?.isUsed(given) ? byOtherDay.complete(given) : given;
    return and(
      ...Object.entries(filters).map(([name, { matches }]) =>
        values[name] === undefined ? undefined : matches(sql`${values[name]}`),
      ),
    );
  }

  return {
    read,
    /** Reads a page for a request in which each field is optional. */
    async list(db: Database, { page, per_page, ...values }: Request): Promise<Page<Row>> {
      const request = pageRequest({ page, per_page });
      if (isImpossible(values)) return toPage(request, 0, []);
      return read(db, request, values);
    },
    /** Reads the rows with these ids, in any order. */
    async rows(db: Database, ids: number[]): Promise<Row[]> {
      const found = await withCustomer(db.select(columns).from(table).$dynamic(), options).where(
        inArray(table.id, ids),
      );
      return toRows(found);
    },
    /** Returns the condition for the rows that match the filters. Returns null if an id is too large for any row. */
    where: (values: Values) => (isImpossible(values) ? null : where(values)),
  };
}

/** Returns true if an id is larger than any that a row can have. */
const isImpossible = (values: Values) =>
  Object.values(values).some((value) => typeof value === 'number' && value > MAX_ID);

/** Returns the kinds of rows that the values of the `isClosed` filters select, as the text of a PostgreSQL array. */
function kindsOf(filters: Record<string, CountedFilter>, values: Values): string {
  const closed = Object.keys(filters).filter((name) => filters[name]?.isClosed && !filters[name]?.severalOf);
  const several = (name: string) => Object.keys(filters).find((other) => filters[other]?.severalOf === name);
  let kinds = [''];
  for (const name of closed) {
    const list = values[name] === undefined ? values[several(name) ?? ''] : `{${values[name]}}`;
    if (list === undefined) continue;
    const words = String(list).slice(1, -1).split(',');
    kinds = kinds.flatMap((kind) => words.map((word) => `${kind} ${word}`.trimStart()));
  }
  return `{${kinds.map((kind) => `"${kind}"`)}}`;
}

/** Makes the filters for the first and last day of a range of the second date column. */
function rangeOf({ name, column }: OtherDay): Record<string, CountedFilter> {
  const day = dayOrInfinity(column);
  return {
    [`${name}_from`]: { matches: (from) => sql`${day} >= ${from}::date`, end: 'from' },
    [`${name}_to`]: { matches: (to) => sql`${day} <= ${to}::date`, end: 'to' },
  };
}

/** Makes the same list, filtered and sorted by the second date column. */
function listBy<Row>(
  other: OtherDay,
  { filters: _, otherDay: __, ...options }: CountedListOptions<Row>,
  filters: Record<string, CountedFilter>,
) {
  const { name, column, blocks, deltas } = other;
  const day = dayOrInfinity(column);
  const { sorted, table } = options;
  const [from, to] = [`${name}_from`, `${name}_to`];
  // The counts of this list are by its second date, so the filters by the first date are ordinary conditions.
  const ordinary = Object.entries(filters).map(([key, { end: _, ...filter }]) => [key, filter]);
  return {
    isUsed: (values: Values) => values[from] !== undefined || values[to] !== undefined,
    complete: (values: Values): Values => ({ ...values, [to]: values[to] ?? LAST_DAY }),
    list: countedList({
      ...options,
      ...{ blocks, deltas, order: [day, table.id], newestFirst: true },
      // The sum is no index's expression, so that this order, too, is a sort.
      ...(sorted && { sorted: [sorted[0], sql`${day} + 0 desc, ${table.id} desc`] }),
      more: { ...Object.fromEntries(ordinary), ...rangeOf(other) },
    }),
  };
}

interface Statements {
  readRows: Statement<string, Counted>;
  readTotal: Statement<string, Counted>;
}

function build<Row>(
  list: CountedListOptions<Row>,
  filters: Record<string, CountedFilter>,
  used: string[],
  isFar: boolean,
): Statements {
  const names = [...used, 'kind', 'limit', 'offset'];
  const { sorted, columns } = list;
  const isCounted = used.every((name) => filters[name]?.isClosed || filters[name]?.end);
  const inOrder = list.order.map((column) => (list.newestFirst ? desc(column) : asc(column)));
  const order = sorted && used.includes(sorted[0]) ? sorted[1] : sql.join(inOrder, sql`, `);
  const parts = (values: Record<string, SQL>) => {
    const value = (name: string) => values[name] as SQL;
    const matching = (some: string[]) => and(...some.map((name) => filters[name]?.matches(value(name))));
    const dayOf = (end: 'from' | 'to') => used.filter((name) => filters[name]?.end === end).map(value)[0];
    return {
      where: matching(used),
      ofKind: matching(used.filter((name) => filters[name]?.isClosed)),
      days: { from: dayOf('from'), to: dayOf('to') },
      kinds: sql`${value('kind')}::text[]`,
      offset: value('offset'),
      limit: value('limit'),
    };
  };
  const totalOf = ({ where, ofKind, days, kinds }: ReturnType<typeof parts>) => {
    if (!isCounted) return sql`(select count(*) from ${list.table} where ${where})`;
    return days.from || days.to ? countDays(list, kinds, ofKind, days) : countKinds(list, kinds);
  };
  const idsOf = ({ where, ofKind, days, kinds, offset, limit }: ReturnType<typeof parts>) => {
    // A literal limit shows the planner that there are few rows. With a bound offset, it would expect a tenth of all
    // rows.
    const from = (condition: SQL | undefined, inner: SQL, outer = sql``) =>
      sql`select id from (select ${list.table.id} from ${list.table} where ${condition ?? sql`true`}
        order by ${order} ${inner}) page_ids ${outer} limit (select ${limit}::int)`;
    const beyond = (passed: SQL) => sql`offset (${passed}) limit ${sql.raw(String(MAX_PER_PAGE))}`;
    if (!isFar)
      return from(
        where,
        sql`limit ${sql.raw(String(NEAR + MAX_PER_PAGE))}`,
        sql`offset (select ${offset}::int)`,
      );
    if (!isCounted) return from(where, beyond(sql`select ${offset}::int`));
    const place = list.newestFirst
      ? findByDay(list, kinds, ofKind, days, offset)
      : findByNumber(list, kinds, offset);
    return sql`with place as (${place.query})
      ${from(and(where, place.isBeyond), beyond(sql`select ${offset}::int - passed from place`))}`;
  };
  return {
    readRows: statement(names, (db, values) => {
      const known = parts(values);
      const found = db
        .select({ ...columns, total_rows: sql<number>`${totalOf(known)}::int` })
        .from(sql`(${idsOf(known)}) found`)
        .innerJoin(list.table, eq(list.table.id, sql`found.id`));
      return withCustomer(found.$dynamic(), list).orderBy(...inOrder) as Builder<Counted[]>;
    }),
    readTotal: statement(names, (db, values) =>
      db.select({ total_rows: sql<number>`${totalOf(parts(values))}::int` }).from(sql`(select) one`),
    ),
  };
}

/** Joins the customer of each row if the list's columns include it. */
function withCustomer<Query extends { innerJoin(table: typeof customers, on: SQL): unknown }>(
  query: Query,
  { table, columns }: CountedListOptions<unknown>,
): Query {
  if ('customer' in columns && table.customer_id)
    query.innerJoin(customers, eq(customers.id, table.customer_id));
  return query;
}

/** A table whose counts are updated with each write, see db/schema/counts.ts. */
interface CountedTable {
  table: PgTable & { id: PgColumn; customer_id?: PgColumn };
  blocks: PgTable;
  deltas: PgTable;
  /** The columns by which the list is sorted: either a day and the id, newest first, or a number. */
  order: SQLWrapper[];
  newestFirst: boolean;
}

/**
 * Counts the rows of the given kinds. The kind '' means all rows. Any other kind consists of the values of `isClosed`
 * filters, separated by spaces.
 */
const countKinds = ({ blocks, deltas }: CountedTable, kinds: SQL): SQL =>
  sql`((select coalesce(sum(row_count), 0) from ${blocks} where kind = any(${kinds}))
    + (select coalesce(sum(row_count), 0) from ${deltas} where kinds && ${kinds}))`;

/** A range of days, including both ends. An end is undefined if the range is open there. */
interface Days {
  from: SQL | undefined;
  to: SQL | undefined;
}

/**
 * Counts the rows of the given kinds in a range of days. Adds up the counts of the blocks inside the range, and counts
 * the rows of the two blocks at its ends.
 *
 * @param matching condition that selects exactly the rows of `kinds`; undefined if these are all rows
 */
function countDays(list: CountedTable, kinds: SQL, matching: SQL | undefined, days: Days): SQL {
  const { blocks, deltas } = list;
  const rowsOf = (from: Edge, to: Edge) => countBetween(list, matching, from, to);
  const sumOf = (counts: PgTable, ofKind: SQL) =>
    sql`(select coalesce(sum(row_count), 0) from ${counts} where ${ofKind}
      and (day, row_id) >= (inner_day, inner_id) and (day, row_id) < (outer_day, outer_id))`;
  return sql`(
    select ${rowsOf(edge('first_day', '0'), edge('inner_day', 'inner_id'))}
      + ${rowsOf(edge('outer_day', 'outer_id'), edge('end_day', '0'))}
      + ${sumOf(blocks, sql`kind = any(${kinds})`)} + ${sumOf(deltas, sql`kinds && ${kinds}`)}
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

/** The position, as day and id, at which a range of rows starts or ends. */
type Edge = [day: SQL, id: SQL];

const edge = (day: string, id: string): Edge => [sql.raw(day), sql.raw(id)];

/**
 * Counts the rows of the given kinds between two edges. The planner does not see that the two row comparisons form a
 * range, and so would expect a ninth of the table to match. It would then choose another index or JIT-compile the
 * statement. A separate condition on the day makes it expect few rows.
 */
function countBetween(list: CountedTable, matching: SQL | undefined, from: Edge, to: Edge): SQL {
  const [column] = list.order;
  const row = orderOf(list);
  return sql`(select count(*) from ${list.table} where ${matching ?? sql`true`} and ${column} between ${from[0]} and ${to[0]}
    and ${row} >= (${from[0]}, ${from[1]}) and ${row} < (${to[0]}, ${to[1]}))`;
}

/** Finds the start of the last block that begins before a day. */
const lastStart = ({ blocks }: CountedTable, day: SQL): SQL =>
  sql`select day, row_id from ${blocks} where kind = '' and (day, row_id) <= (${day}, 0)
    order by day desc, row_id desc limit 1`;

const firstDay = ({ from }: Days) => (from ? sql`${from}::date` : sql`'-infinity'::date`);
const endDay = ({ to }: Days) => (to ? sql`(${to}::date + 1)` : sql`'infinity'::date`);

/** Returns the columns of a list's order as a row, for comparisons. */
const orderOf = ({ order }: CountedTable): SQL => sql`(${sql.join(order, sql`, `)})`;

interface Place {
  /** Selects one row: the position at which the block begins, and the number of rows before it as `passed`. */
  query: SQL;
  /** The condition for the rows from that position on. */
  isBeyond: SQL;
}

/**
 * Returns SQL that finds the block in which a page begins, by adding up the counts of the blocks before it.
 *
 * @param matching condition that selects exactly the rows of `kinds`; undefined if these are all rows
 */
function findByDay(
  list: CountedTable,
  kinds: SQL,
  matching: SQL | undefined,
  days: Days,
  offset: SQL,
): Place {
  const { blocks, deltas } = list;
  const isBefore = days.to ? sql`and (day, row_id) < (select day, row_id from last_block)` : sql``;
  // In the block that contains the end of the range, only the rows before that end count.
  const last = days.to
    ? sql`union all select day, row_id, ${countBetween(list, matching, edge('day', 'row_id'), [endDay(days), sql`0`])}::int, true
        from last_block`
    : sql``;
  const query = sql`
    with last_block as (${lastStart(list, endDay(days))}),
    points as (
      select day, row_id, row_count, true as is_block from ${blocks} where kind = any(${kinds}) ${isBefore}
      union all
      select day, row_id, row_count, false from ${deltas} where kinds && ${kinds} ${isBefore}
      union all
      select ${endDay(days)}, 0, 0, true ${last}
    ),
    summed as (
      select day, row_id, is_block, sum(row_count) over (order by day desc, row_id desc) as passed from points
    )
    select day, row_id, passed from summed where is_block and passed <= ${offset}::int
    order by passed desc, day, row_id limit 1`;
  return { query, isBeyond: sql`${orderOf(list)} < (select day, row_id from place)` };
}

function findByNumber(list: CountedTable, kinds: SQL, offset: SQL): Place {
  const { blocks, deltas } = list;
  const query = sql`
    with points as (
      select number, row_count, true as is_block from ${blocks} where kind = any(${kinds})
      union all
      select number, row_count, false from ${deltas} where kinds && ${kinds}
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
