import { and, asc, desc, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { type Builder, type Statement, statement } from '@/db/statement';
import { MAX_PER_PAGE, type Page, type PageRequest, pageBounds, toPage } from '../page';
import { type CountedList, countDays, countKind } from './counted-list';
import { findPlace } from './find-place';

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
export type ListReader<Filter extends string, Row extends Counted> = (
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
